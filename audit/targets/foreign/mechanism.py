"""Programs and services as mechanisms.

Their answers may be of any kind; they are asked for by the protocol of docs/process.md.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.errors import Failed, InvalidInput, TargetError, as_real, is_count, printable, require
from dpassay.mechanism import Mechanism
from dpassay.rows.rows import Form, Rows
from dpassay.targets.foreign.program import Child, ProcessLimits
from dpassay.targets.foreign.protocol import (
    VERSION,
    Broken,
    Hello,
    Late,
    Malformed,
    answers_of,
    error_of,
    hello_of,
    plain,
    reply_of,
    short,
    text_of,
)
from dpassay.targets.foreign.service import ForeignService, address_of
from dpassay.workers.namespaces import lineage

SEEDS = 2**53
"""Seeds lie below it: every JSON reader has these integers exactly."""
TIMEOUT = 30.0
"""Seconds for a reply."""
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


class Foreign(Mechanism):
    """A mechanism that runs outside of Python; `Process` and `Http` say where."""

    foreign = True
    free = True
    run_seconds: float | None
    _session: ForeignSession
    _known: list[Hello | TargetError]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_session", self._opener())
        object.__setattr__(self, "_known", [])

    def _opener(self) -> ForeignSession:
        raise NotImplementedError

    @property
    def without_query(self) -> bool:
        """Return whether it is asked at no query points, as it says."""
        return not self._hello().queries

    @property
    def seeded(self) -> bool:
        """Return whether it takes all its coins from the seeds that it is given, as it says."""
        return self._hello().seeded

    def _hello(self) -> Hello:
        """Return what it says of itself; a failure comes out in `prepare`."""
        if not self._known:
            try:
                self._known.append(self._session.hello())
            except TargetError as error:
                self._known.append(error)
            finally:
                self._session.close()
        known = self._known[0]
        return Hello(seeded=True) if isinstance(known, TargetError) else known

    def prepare(self, data: Any) -> Dataset:
        """Send a data set, as JSON."""
        if self._known and isinstance(self._known[0], TargetError):
            raise self._known[0]
        found = Dataset.of(data)
        self._session.prepare(found)
        return found

    def sample(
        self, state: Dataset, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Any:
        """Ask for some trials, in as few lines as it takes; each line has a seed of its own."""
        said = self._session.hello()
        asked = state.asked(queries) if said.queries else None
        answers: list[Any] = []
        while len(answers) < size:
            some = min(said.batch, size - len(answers))
            seed = int(rng.integers(SEEDS))
            if self.run_seconds is None:
                answers += self._session.sample(state, asked, some, seed)
            else:
                answers += self._session.one(state, asked, seed, self.run_seconds)
        return _shaped(answers, len(queries) if said.queries else 0)

    def close(self) -> None:
        """End the connection and, of a process, everything that it has started."""
        self._session.close()


@dataclass(frozen=True, eq=False)
class Process(Foreign):
    """A program that speaks JSON lines; see `process`, which makes it."""

    command: str  # as in a shell, but no shell reads it
    timeout: float = TIMEOUT
    start: float = 30.0
    memory: float = 4.0
    processes: int = 64
    cpu: float = 86_400.0
    file: float = 1.0
    reply: float = 64.0
    run_seconds: float | None = None
    claims: tuple[Claim, ...] = field(init=False, default=())

    def _opener(self) -> ForeignSession:
        require(as_real(self.timeout) > 0, "timeout", self.timeout, "a number > 0")
        _check_run(self.run_seconds)
        limits = ProcessLimits(**{name: getattr(self, name) for name in ProcessLimits().as_dict()})
        return ForeignSession(
            partial(Child, _words(self.command), self.timeout, limits), "its process"
        )


@dataclass(frozen=True, eq=False)
class Http(Foreign):
    """A service that takes JSON by POST; see `http`, which makes it."""

    url: str
    timeout: float = TIMEOUT
    retries: int = 3
    reset: bool = False
    reply: float = 64.0
    run_seconds: float | None = None
    claims: tuple[Claim, ...] = field(init=False, default=())

    def _opener(self) -> ForeignSession:
        require(as_real(self.timeout) > 0, "timeout", self.timeout, "a number > 0")
        _check_run(self.run_seconds)
        require(is_count(self.retries, 0), "retries", self.retries, "an integer >= 0")
        require(as_real(self.reply) > 0, "reply", self.reply, "a number > 0")
        service = partial(
            ForeignService, address_of(self.url), self.timeout, self.retries, self.reply
        )
        return ForeignSession(service, "its service", reset=self.reset)


def process(
    command: str | Sequence[str],
    *,
    timeout: float = TIMEOUT,
    limits: ProcessLimits | None = None,
    run_seconds: float | None = None,
) -> Process:
    """Return a program as a mechanism: it reads JSON lines on stdin and answers on stdout.

    The program stays up and answers many trials. It is started when it is first asked, once in each
    process that runs trials, and started anew where trials have to come from a process that has
    done nothing else. A crash, a hang, garbage or endless output end the result of an audit as
    `error`, with the last lines of stderr; nothing that it has started is left running. This guards
    against accidents: it is no sandbox. Its answers may be of any kind.

    A `command` in one text is split as in a shell, but no shell reads it. `timeout` is the seconds
    for a reply. One run that takes longer than `run_seconds` is ended, with the program, and that
    is its answer, on both sides alike: a program that is slow on one of two neighbours tells them
    apart. Runs are then asked for one at a time. By default a reply that does not come within
    `timeout` ends the audit as `error`.

    Raise InvalidInput if there is no such program, or a number is out of its range.

    Examples
    --------
    >>> from dpassay import DP, Scalars, audit
    >>> from dpassay.targets.foreign import process
    >>> result = audit(process("node server.js"), claim=DP(epsilon=1.0),
    ...                data=Scalars(0, 1))  # doctest: +SKIP
    """
    words = command if isinstance(command, str) else shlex.join(command)
    known: dict[str, Any] = (limits or ProcessLimits()).as_dict()
    return Process(words, timeout, **known, run_seconds=run_seconds)


def http(
    url: str,
    *,
    timeout: float = TIMEOUT,
    retries: int = 3,
    reset: bool = False,
    reply: float = 64.0,
    run_seconds: float | None = None,
) -> Http:
    """Return a service as a mechanism: each message of the protocol is the body of a POST.

    What was asked is asked again, `retries` times, after a lost connection and after the statuses
    429 and 5xx, with pauses of .1, .2, .4 s and so on; after too long a silence it is not. No
    redirection is followed. Its answers may be of any kind.

    `url` is `http://` or `https://`, without user and password: the address is recorded.
    `timeout` is the seconds for a reply, from the connection to its last byte; what is asked again
    and the pauses are included. With `reset`, `{"op": "reset"}` is sent before each line of trials;
    where the service declares `"batch": 1`, or nothing, that is before each trial. `reply` is the
    MiB of one reply. For `run_seconds` see `process`; the connection is closed, the service is left
    to itself.

    Raise InvalidInput if the address is none, or a number is out of its range.
    """
    return Http(url, timeout, retries, reset, reply, run_seconds)


def _check_run(seconds: float | None) -> None:
    known = seconds is None or as_real(seconds) > 0
    require(known, "run_seconds", seconds, "a number > 0, or left out")


def _words(command: str) -> list[str]:
    """Split a command, and raise `InvalidInput` if there is no such program."""
    require(isinstance(command, str), "command", command, "a text")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"command = {command!r:.80}: cannot be read ({error})") from None
    require(bool(words) and "\0" not in command, "command", command, "a program and its arguments")
    if shutil.which(words[0]) is None:
        raise InvalidInput(f"command = {command!r:.80}: there is no program '{words[0]:.80}'")
    return words


def _shaped(answers: list[Any], queries: int) -> Any:
    """Return answers as arrays where they are numbers; a failed trial has failed at every query."""
    if queries:
        answers = [(each,) * queries if isinstance(each, Failed) else each for each in answers]
    if set(map(type, answers)) != {tuple} or len(set(map(len, answers))) != 1 or not answers[0]:
        return answers
    if {type(part) for each in answers for part in each} <= {int, float}:
        try:
            found = np.array(answers)
        except (OverflowError, ValueError):
            return answers
        return found if found.dtype.kind in "if" else answers
    return answers
