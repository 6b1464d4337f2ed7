"""A service that is asked over HTTP: a factory as `interface` wants one, by a few JSON messages.

`docs/services.md` has the messages. Every thread has a connection of its own, which is kept open as
long as the service likes.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError, is_count, require
from dpassay.targets.foreign.protocol import Broken, Dropped
from dpassay.targets.foreign.service import ForeignService, address_of

SECONDS = 30.0
"""Time for a reply."""
REPLY = 16.0
"""MiB of a reply at most."""
REFUSALS = (403, 429, 502, 503, 504)
NONE = (404, 405, 501)
"""Statuses of a service that says nothing of what it can."""
WORDS = ("shared_seed", "one_model", "memoised", "live")
ABILITIES = ("probabilities", "batches", "restart", "delete")
SHOWN = 80
"""Characters of a wrong value that a message shows."""


class Refused(RuntimeError):
    """A query that was turned down, with what was said."""


class LostMessage(TargetError):
    """A message without a reply; whether it was read is not known."""


class HttpFactory:
    """Opens sessions with a service over HTTP, which must listen at the address."""

    def __init__(self, url: str) -> None:
        self._address = address_of(url)
        self._local = threading.local()
        self._base = self._address.path.rstrip("/")
        try:
            status, said = self._sent("GET", "capabilities")
        except TargetError as error:
            raise InvalidInput(f"SERVICE = '{url}': {error}") from None
        found = {} if status in NONE else _object(said, "capabilities", status)
        for name in (*WORDS, *ABILITIES):
            value = found.get(name, False)
            require(isinstance(value, bool), f"capabilities: {name}", value, "true or false")
        for word in WORDS:
            setattr(self, word, found.get(word, False))
        self._can = {name for name in ("probabilities", "batches") if found.get(name) is True}
        for name in ("restart", "delete"):
            if found.get(name) is True:
                setattr(self, name, getattr(self, f"_{name}"))

    def __call__(self, data: Labelled, seed: int, user: str) -> HttpSession:
        """Open a session."""
        found = self.post("open", {"data": self._data(data), "seed": seed, "user": user})
        if "session" not in found:
            raise TargetError("open: the reply has no 'session'")
        budget = found.get("budget")
        if budget is not None and not is_count(budget, 0):
            said = repr(budget)[:SHOWN]
            raise TargetError(f"open: budget = {said}: must be a whole number >= 0, or null")
        return HttpSession(self, found["session"], budget, self._can)

    def _restart(self, seed: int) -> None:
        self.post("restart", {"seed": seed})

    def _delete(self, data: Labelled, seed: int, i: int) -> None:
        self.post("delete", {"data": self._data(data), "seed": seed, "i": i})

    def _data(self, data: Labelled) -> Any:
        live = getattr(self, "live", False)
        return None if live else {"X": data.X.tolist(), "y": data.y.tolist()}

    def post(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a message.

        `Refused` means that the service answers with 403, 429, 502, 503 or 504, `LostMessage` that
        no reply comes; any other failure is a `TargetError`.
        """
        status, said = self._sent("POST", name, json.dumps(message).encode())
        if status in REFUSALS:
            words = " ".join(said[:300].decode(errors="replace").split())
            raise Refused(f"status {status}: {words}" if words else f"status {status}")
        return _object(said, name, status)

    def _sent(self, method: str, name: str, body: bytes = b"") -> tuple[int, bytes]:
        if not hasattr(self._local, "service"):
            self._local.service = ForeignService(self._address, SECONDS, 0, REPLY)
        try:
            found: tuple[int, bytes] = self._local.service.request(
                method, f"{self._base}/{name}", body
            )
        except Dropped as error:
            raise LostMessage(f"{name}: {error}") from None
        except Broken as error:
            raise TargetError(f"{name}: {error}") from None
        return found


class HttpSession:
    """A session with a service over HTTP."""

    def __init__(self, factory: HttpFactory, key: Any, budget: Any, can: set[str]) -> None:
        self._factory, self._key, self.budget = factory, key, budget
        if "probabilities" in can:
            self.probabilities = lambda x: self._answer("probabilities", x)
        if "batches" in can:
            self.ask_many = lambda points: _held(
                factory.post("ask_many", {"session": key, "X": np.asarray(points).tolist()}),
                "answers",
                "ask_many",
            )

    def ask(self, x: Array) -> Any:
        """Return the answer at a point (d,)."""
        return self._answer("ask", x)

    def _answer(self, name: str, x: Array) -> Any:
        message = {"session": self._key, "x": np.asarray(x).tolist()}
        return _held(self._factory.post(name, message), "answer", name)


def _held(reply: dict[str, Any], name: str, message: str) -> Any:
    if name not in reply:
        raise TargetError(f"{message}: the reply has no '{name}'")
    return reply[name]


def _object(said: bytes, name: str, status: int) -> dict[str, Any]:
    if status != 200:
        raise TargetError(f"{name}: it answered with status {status}")
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    except RecursionError:
        raise TargetError(f"{name}: the reply is nested too deeply") from None
    if not isinstance(found, dict):
        raise TargetError(f"{name}: the reply is no JSON object")
    return found
