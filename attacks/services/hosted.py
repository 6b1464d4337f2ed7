"""A service whose factory is the user's: its sessions live in a process of their own."""

from __future__ import annotations

from typing import Any

from dpassay.attacks.observed import Array
from dpassay.attacks.services.http_service import WORDS, HttpFactory
from dpassay.attacks.services.interface import THREADED, WAYS, Refusal, Service, Session
from dpassay.data import Labelled
from dpassay.errors import TargetError, printable
from dpassay.targets.importing import load_object
from dpassay.trials.isolation.host import Handle, Hosts
from dpassay.trials.isolation.limits import UNLIMITED, Limits
from dpassay.trials.isolation.target import KeptObject, Server
from dpassay.trials.wire import Line, Message

BATCH = 1.0
"""Seconds of a transcript after which what there is of it is handed over."""
Value = bool | int | float | str
_Answer = Value | list[Value] | dict[str, Line | bool]
"""A label, a tuple of numbers, or a refusal."""


class _ServiceFacts(Message):
    """What a service says of itself and can do."""

    says: dict[str, bool]
    can: list[str]


class _Opened(Message):
    """What a session says of itself and can be asked."""

    budget: int | None
    has: list[str]


class _Reply(Message):
    """Answers, and what they took."""

    answers: list[_Answer]
    queries: int
    repeated: int


class _ServiceThere:
    """The service in its process."""

    def __init__(self, address: str) -> None:
        self._service = Service(load_object(address, "SERVICE"), address)

    def facts(self) -> dict[str, Any]:
        says = {word: self._service.says(word) for word in WORDS}
        return {"says": says, "can": list(filter(self._service.can, ("restart", "delete")))}

    def open(self, key: int, data: Labelled, seed: int, user: str) -> KeptObject:
        session = self._service.open(data, seed, user)
        facts = {"budget": session.budget, "has": list(filter(session.has, WAYS))}
        return KeptObject(key, session, facts)

    def do(self, name: str, *values: Any) -> None:
        """Restart it, or delete a record."""
        getattr(self._service, name)(*values)

    def ask(self, session: Session, way: str, X: Array) -> dict[str, Any]:
        service = self._service
        service.queries = service.repeated = 0
        answers = [
            {"text": printable(each.text), "passing": each.passing}
            if isinstance(each, Refusal)
            else each
            for each in session.asked(way, X, BATCH)
        ]
        return {"answers": answers, "queries": service.queries, "repeated": service.repeated}


class HostedService(Service):
    """A service of `module:factory`, asked in its process."""

    def __init__(self, address: str, limits: Limits, *, seed: int) -> None:
        super().__init__(_ServiceThere, address, seed=seed)
        self.remote = Hosts(address, Server(lambda: _ServiceThere(address)), limits, bare=True)
        try:
            self._facts: _ServiceFacts = self.remote.ask(
                _ServiceFacts, f"importing {address}", "facts"
            )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End its process."""
        self.remote.close()

    def says(self, word: str) -> bool:
        """Return whether it says a word of itself."""
        return bool(self._facts.says.get(word, False))

    def can(self, name: str) -> bool:
        """Return whether it has `restart` or `delete`."""
        return name in self._facts.can

    def restart(self, seed: int) -> None:
        """See `Service.restart`."""
        self.remote.ask(type(None), f"restart of {self.name}", "do", "restart", seed)

    def delete(self, data: Labelled, seed: int, i: int) -> None:
        """See `Service.delete`."""
        what = f"delete of {self.name}"
        self.remote.ask(type(None), what, "do", "delete", data, seed, i, known=(data,))

    def open(self, data: Labelled, seed: int, user: str) -> Session:
        """Open a session there."""
        self.openings += 1
        handle = self.remote.handle()
        said: _Opened = self.remote.ask(
            _Opened, self.name, "open", handle.key, data, seed, user, known=(data,)
        )
        return _HostedSession(self, handle, said)


class _HostedSession(Session):
    """A session in the process of its service."""

    __slots__ = ("_facts", "_handle", "_remote")

    def __init__(self, service: HostedService, handle: Handle, facts: _Opened) -> None:
        super().__init__(None, "", f"a session of {service.name}", service)
        self._remote, self._handle, self._facts = service.remote, handle, facts

    @property
    def budget(self) -> int | None:
        return self._facts.budget

    def has(self, name: str) -> bool:
        return name in self._facts.has

    def asked(self, way: str, X: Array, seconds: float = BATCH) -> list[Any]:  # noqa: ARG002
        """See `Session.asked`; a transcript comes in parts, each as long as `BATCH` seconds."""
        found, ended, what = list[Any](), False, f"{way} on {self._where}"
        while not ended:
            rest = X[len(found) :]
            reply: _Reply = self._remote.ask(_Reply, what, "ask", self._handle, way, rest)
            self._service.queries += reply.queries
            self._service.repeated += reply.repeated
            for each in reply.answers:
                if isinstance(each, dict):
                    found.append(Refusal(str(each["text"]), bool(each["passing"])))
                else:
                    found.append(tuple(each) if isinstance(each, list) else each)
            whole = way in ("ask_many", THREADED)
            numbers = way != THREADED or all(type(each) is int for each in found)
            some = bool(reply.answers) and len(found) <= len(X)
            if not numbers or not (whole or some):
                raise TargetError(f"{what}: its process sent no answers to what was asked")
            ended = whole or len(found) == len(X) or isinstance(found[-1], Refusal)
        return found


def service_of(address: str, *, seed: int, limits: Limits = UNLIMITED) -> Service:
    """Reach a service by `http://host:port`, or start `module:factory`, also of this folder."""
    if address.startswith(("http://", "https://")):
        return Service(HttpFactory(address), address, seed=seed)
    return HostedService(address, limits, seed=seed)
