"""A service whose factory is the user's: its sessions live in a process of their own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.http_service import HttpFactory
from dpassay.attacks.services.interface import WAYS, Refusal, Service, Session
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.targets.importing import load_object
from dpassay.trials.isolation.limits import UNLIMITED, Limits
from dpassay.trials.isolation.objects import Handle
from dpassay.trials.isolation.remote import Kept, Remote, checked

WORDS = ("shared_seed", "one_model", "memoised", "live")
BATCH = 1.0
"""Seconds of a transcript after which what there is of it is handed over."""

Value = bool | int | float | str
_Answer = Value | list[Value] | dict[str, Value]
"""A label, a tuple of numbers, or a refusal."""


class _Facts(msgspec.Struct, frozen=True):
    """What a service says of itself and can do."""

    says: dict[str, bool]
    can: list[str]


class _Opened(msgspec.Struct, frozen=True):
    """What a session says of itself and can be asked."""

    budget: int | None
    has: list[str]


class _Reply(msgspec.Struct, frozen=True):
    """Answers, whether there are no more, and what they took."""

    answers: list[_Answer]
    ended: bool
    queries: int
    repeated: int


class _There:
    """The service in its process."""

    def __init__(self, address: str) -> None:
        self._service = Service(load_object(address, "--service"), address)

    def facts(self) -> dict[str, Any]:
        """Say what it says of itself, and what it can do."""
        return {
            "says": {word: self._service.says(word) for word in WORDS},
            "can": [name for name in ("restart", "delete") if self._service.can(name)],
        }

    def open(self, key: int, data: Labelled, seed: int, user: str) -> Kept:
        """Open a session."""
        session = self._service.open(data, seed, user)
        return Kept(
            key, session, {"budget": session.budget, "has": list(filter(session.has, WAYS))}
        )

    def do(self, name: str, *values: Any) -> None:
        """Restart it, or delete a record."""
        getattr(self._service, name)(*values)

    def ask(self, session: Session, way: str, X: Array) -> dict[str, Any]:
        """Ask a session at some points, and stop at a refusal or after a second."""
        self._service.queries = self._service.repeated = 0
        ended, found = True, list[Any]()
        if way == "ask_many":
            found = session.ask_many(X)
        elif way == "in_threads":
            found = [session.in_threads(list(X))]
        else:
            until, last = time.monotonic() + BATCH, len(X) - 1
            for place, x in enumerate(X):
                found.append(getattr(session, way)(x))
                ended = place == last or isinstance(found[-1], Refusal)
                if ended or time.monotonic() > until:
                    break
        answers = [
            {"text": each.text, "passing": each.passing} if isinstance(each, Refusal) else each
            for each in found
        ]
        spent = {"queries": self._service.queries, "repeated": self._service.repeated}
        return {"answers": answers, "ended": ended} | spent


class HostedService(Service):
    """A service of `module:factory`, asked in its process."""

    def __init__(self, address: str, limits: Limits, *, seed: int) -> None:
        super().__init__(self._nothing, address, seed=seed)
        self.remote = Remote(address, lambda: _There(address), limits)
        try:
            self._facts = self.remote.facts(f"importing {address}", "facts", _Facts)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End its process."""
        self.remote.hosts.close()

    @staticmethod
    def _nothing(*_: Any) -> Any:
        """Stand where the factory is."""
        raise NotImplementedError

    def says(self, word: str) -> bool:
        """Whether it says a word of itself."""
        return self._facts.says.get(word, False)

    def can(self, name: str) -> bool:
        """Whether it has `restart` or `delete`."""
        return name in self._facts.can

    def restart(self, seed: int) -> None:
        """See `Service.restart`."""
        self.remote.ask(f"restart of {self.name}", "do", "restart", seed)

    def delete(self, data: Labelled, seed: int, i: int) -> None:
        """See `Service.delete`."""
        self.remote.ask(f"delete of {self.name}", "do", "delete", data, seed, i, known=(data,))

    def open(self, data: Labelled, seed: int, user: str) -> Session:
        """Open a session there."""
        self.openings += 1
        handle = self.remote.handle()
        said = self.remote.ask(self.name, "open", handle.key, data, seed, user, known=(data,))
        return _HostedSession(self, handle, checked(said, _Opened, self.name))


class _HostedSession(Session):
    """A session in the process of its service."""

    __slots__ = ("_facts", "_handle", "_hosted")

    def __init__(self, service: HostedService, handle: Handle, facts: _Opened) -> None:
        super().__init__(None, "", f"a session of {service.name}", service)
        self._hosted, self._handle, self._facts = service, handle, facts

    @property
    def budget(self) -> int | None:
        """Answers that there are by its own word; None where it says nothing."""
        return self._facts.budget

    def has(self, name: str) -> bool:
        """Whether it can be asked in this way."""
        return name in self._facts.has

    def ask(self, x: Array) -> Any:
        """See `Session.ask`."""
        return self._asked("ask", x[None])[0]

    def probabilities(self, x: Array) -> Any:
        """See `Session.probabilities`."""
        return self._asked("probabilities", x[None])[0]

    def ask_many(self, points: Array) -> list[Any]:
        """See `Session.ask_many`."""
        return self._asked("ask_many", points)

    def in_threads(self, points: Sequence[Array]) -> int:
        """See `Session.in_threads`."""
        found = self._asked("in_threads", np.stack(points))[0]
        return checked(found, int, f"several threads on {self._where}")

    def transcript(self, points: Iterable[Array]) -> tuple[Any, ...]:
        """See `Session.transcript`."""
        X = list(points)
        found = self._asked("ask", np.stack(X)) if X else []
        return tuple(each for each in found if not isinstance(each, Refusal))

    def _asked(self, way: str, X: Array) -> list[Any]:
        found, ended = list[Any](), False
        while not ended:
            what = f"{way} on {self._where}"
            said = self._hosted.remote.ask(what, "ask", self._handle, way, X[len(found) :])
            reply = checked(said, _Reply, what)
            self._service.queries += reply.queries
            self._service.repeated += reply.repeated
            found += map(_value, reply.answers)
            ended = reply.ended or way == "ask_many"
            if way != "ask_many" and not 0 < len(found) <= len(X):
                raise TargetError(f"{what}: its process sent {len(found)} answers to {len(X)}")
        return found


def _value(answer: _Answer) -> Any:
    if isinstance(answer, dict):
        return Refusal(str(answer["text"]), bool(answer["passing"]))
    return tuple(answer) if isinstance(answer, list) else answer


def service_of(address: str, *, seed: int, limits: Limits = UNLIMITED) -> Service:
    """Reach a service by `http://host:port`, or start `module:factory` in a process of its own.

    The working directory is looked in too.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    if address.startswith(("http://", "https://")):
        return Service(HttpFactory(address), address, seed=seed)
    return HostedService(address, limits, seed=seed)
