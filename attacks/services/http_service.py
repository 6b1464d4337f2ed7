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
        self._can = {name for name in ABILITIES if found.get(name) is True}
        for name in self._can & {"restart", "delete"}:
            setattr(self, name, getattr(self, f"_{name}"))

    def __call__(self, data: Labelled, seed: int, user: str) -> HttpSession:
        """Open a session."""
        found = self.post("open", {"data": self._data(data), "seed": seed, "user": user})
        budget, key = found.get("budget"), _member(found, "session", "open")
        if budget is not None and not is_count(budget, 0):
            said = repr(budget)[:SHOWN]
            raise TargetError(f"open: budget = {said}: must be a whole number >= 0, or null")
        return HttpSession(self, key, budget, self._can)

    def _restart(self, seed: int) -> None:
        self.post("restart", {"seed": seed})

    def _delete(self, data: Labelled, seed: int, i: int) -> None:
        self.post("delete", {"data": self._data(data), "seed": seed, "i": i})

    def _data(self, data: Labelled) -> Any:
        live = getattr(self, "live", False)
        return None if live else {"X": data.X.tolist(), "y": data.y.tolist()}

    def post(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a message."""
        status, said = self._sent("POST", name, json.dumps(message).encode())
        if status in REFUSALS:
            words = " ".join(said[:300].decode(errors="replace").split())
            raise Refused(f"status {status}: {words}" if words else f"status {status}")
        return _object(said, name, status)

    def _sent(self, method: str, name: str, body: bytes = b"") -> tuple[int, bytes]:
        if not hasattr(self._local, "service"):
            self._local.service = ForeignService(self._address, SECONDS, 0, REPLY)
        service: ForeignService = self._local.service
        try:
            return service.request(method, f"{self._base}/{name}", body)
        except Dropped as error:
            raise LostMessage(f"{name}: {error}") from None
        except Broken as error:
            raise TargetError(f"{name}: {error}") from None


class HttpSession:
    """A session with a service over HTTP."""

    def __init__(self, factory: HttpFactory, key: Any, budget: Any, can: set[str]) -> None:
        def reply(name: str, member: str, values: dict[str, Any]) -> Any:
            return _member(factory.post(name, {"session": key, **values}), member, name)

        def one(name: str, x: Array) -> Any:
            return reply(name, "answer", {"x": np.asarray(x).tolist()})

        self.budget = budget
        self.ask = lambda x: one("ask", x)
        if "probabilities" in can:
            self.probabilities = lambda x: one("probabilities", x)
        if "batches" in can:
            self.ask_many = lambda points: reply(
                "ask_many", "answers", {"X": np.asarray(points).tolist()}
            )


def _member(reply: dict[str, Any], name: str, message: str) -> Any:
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
