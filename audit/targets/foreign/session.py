"""Sessions: a connection that is opened when it is needed, and what the other side has prepared."""

from __future__ import annotations

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dpassay.errors import Failed, TargetError, printable
from dpassay.rows.rows import Form, Rows
from dpassay.targets.foreign.child import Child
from dpassay.targets.foreign.connection import Broken, Late
from dpassay.targets.foreign.protocol import (
    VERSION,
    Hello,
    Malformed,
    answers_of,
    error_of,
    hello_of,
    plain,
    reply_of,
    short,
    text_of,
)
from dpassay.targets.foreign.service import ForeignService
from dpassay.workers.namespaces import lineage

LATE = Failed("Timeout")
"""What stands for the answer of a run that took too long."""
KEPT = 8
"""So many data sets the other side has to keep; it is told to forget the one used longest ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set as it is sent."""

    id: str
    text: str
    form: Form | None = field(default=None, compare=False)

    @classmethod
    def of(cls, data: Any) -> Dataset:
        """Return data as they are sent; raise `InvalidInput` if they have no JSON form."""
        text = text_of(data)
        form = data.form if isinstance(data, Rows) else None
        return cls(id=hashlib.sha256(text.encode()).hexdigest()[:16], text=text, form=form)

    def asked(self, queries: Any) -> Any:
        """Return queries as they are sent, in the form of the data."""
        if self.form is None:
            return queries.tolist()
        return plain(self.form.of_queries.records(queries))


class _LateError(TargetError):
    """No whole reply came in time."""


class ForeignSession:
    """A conversation with a server.

    It is opened when something is asked, again after it broke, and anew in a process that was
    forked meanwhile: two processes never share a connection. A copy has none.
    """

    def __init__(
        self, connect: Callable[[], Child | ForeignService], what: str, *, reset: bool = False
    ) -> None:
        self._connect, self._what, self._reset = connect, what, reset
        self._connection: Child | ForeignService | None = None
        self._owner = 0
        self._hello = Hello()
        self._prepared: OrderedDict[str, None] = OrderedDict()
        self._finalizer: weakref.finalize[..., ForeignSession] | None = None

    def __reduce__(self) -> Any:
        return partial(ForeignSession, self._connect, self._what, reset=self._reset), ()

    def hello(self) -> Hello:
        """Return what the server says of itself."""
        self._opened()
        return self._hello

    def prepare(self, data: Dataset) -> None:
        """Have a data set prepared, unless it is."""
        self._opened()
        if data.id in self._prepared:
            self._prepared.move_to_end(data.id)
            return
        if len(self._prepared) >= KEPT:
            self._ask({"op": "forget", "id": self._prepared.popitem(last=False)[0]})
        line = f'{{"op":"prepare","id":"{data.id}","data":{data.text}}}\n'
        self._agreed("prepare", self._exchange("prepare", line))
        self._prepared[data.id] = None

    def one(self, data: Dataset, queries: Any, seed: int, seconds: float) -> list[Any]:
        """Return the answer of one trial, `LATE` if it takes longer than so many seconds."""
        self.prepare(data)
        try:
            return self.sample(data, queries, 1, seed, seconds)
        except _LateError:
            return [LATE]

    def sample(
        self, data: Dataset, queries: Any, size: int, seed: int, seconds: float | None = None
    ) -> list[Any]:
        """Return the answers of some trials, all in one line."""
        self.prepare(data)
        if self._reset:
            self._agreed("reset", self._ask({"op": "reset"}))
        message = {"op": "sample", "id": data.id, "size": size, "seed": seed}
        message = message if queries is None else message | {"queries": queries}
        reply = self._ask(message, seconds)
        self._accepted("sample", reply)
        try:
            return answers_of(reply, size)
        except Malformed as error:
            raise self._broken("sample", error) from None

    def close(self) -> None:
        """End the connection, if there is one; it is opened again when it is needed."""
        connection, self._connection = self._connection, None
        if self._finalizer is not None:
            self._finalizer.detach()
        if connection is not None:
            connection.leave()

    def _opened(self) -> None:
        """Open the connection unless this process has one."""
        if self._connection is not None and self._owner == lineage():
            return
        self.close()
        self._prepared.clear()
        try:
            self._connection, self._owner = self._connect(), lineage()
        except Broken as error:
            raise TargetError(f"{self._what}: {error}") from None
        self._finalizer = weakref.finalize(self, self._connection.leave)
        reply = self._ask({"op": "hello", "version": VERSION})
        try:
            self._hello = hello_of(reply)
        except Malformed as error:
            raise self._broken("hello", error) from None

    def _ask(self, message: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        return self._exchange(message["op"], f"{text_of(message)}\n", seconds)

    def _exchange(self, op: str, line: str, seconds: float | None = None) -> dict[str, Any]:
        assert self._connection is not None
        try:
            return reply_of(self._connection.ask(line.encode(), seconds))
        except (Broken, Malformed) as error:
            raise self._broken(op, error) from None

    def _broken(self, op: str, error: Exception) -> TargetError:
        """End the connection, and return what is raised."""
        connection = self._connection
        self.close()
        told = "" if connection is None else connection.told()
        kind = _LateError if isinstance(error, Late) else TargetError
        return kind(printable(f"{op}: {self._what}: {error}"), printable(told, line=False))

    def _accepted(self, op: str, reply: dict[str, Any]) -> None:
        """Raise if a reply is an error; the connection goes on."""
        if "error" in reply:
            raise TargetError(f"{op}: {self._what} answered with an error", error_of(reply))

    def _agreed(self, op: str, reply: dict[str, Any]) -> None:
        """Raise unless a reply is an ok."""
        self._accepted(op, reply)
        if reply.get("ok") is not True:
            wrong = Malformed(f'it answered {short(reply)}; must be {{"ok": true}}')
            raise self._broken(op, wrong)
