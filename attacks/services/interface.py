"""A prediction service in operation, as its users see it: sessions that answer, and refuse.

A service is a factory: `factory(data, seed, user)` opens a session of a user with the deployment
that was trained on `data` and draws its coins from `seed`. `session.ask(x)` returns a label, or
raises an exception that says by its name or its text that the budget is spent. `session.budget`, if
there is one, says how many answers there are.

`seed` is the secret randomness of one deployment, of its training and of its answers: the same
data, seed and user are the same deployment and the same user again; another seed is a deployment
that is independent of it. A deployment on other data has a seed of its own, since nobody can train
a second model with the noise of the first. Where the users of a service do share coins, so that an
attacker can open tenants on data of her choice with the victim's seed, the factory says so:
`shared_seed = True`.

What else a service may have is found by attribute; docs/services.md lists it: sessions with
`ask_many(X)` and `probabilities(x)`, factories with `restart()` and `delete(data, seed, i)`, and
the words `one_model`, `memoised` and `live`.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from threading import Barrier, Thread
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.http_service import LostMessage
from dpassay.data import Labelled
from dpassay.errors import MOST_TEXT, InvalidInput, TargetError, is_count, require
from dpassay.seeds import stream

REFUSES = re.compile(
    r"budget|spent|quota|exhaust|refus|limit.*(reached|exceeded)|too many", re.IGNORECASE
)
"""An exception whose name or text says one of these is a refusal."""
SPENT = re.compile(r"budget|spent|quota|exhaust", re.IGNORECASE)
SOON = r"rate.?limit|throttl|slow down|try again|retry|later|busy"
LATER = re.compile(rf"\b429\b|\b50[234]\b|too many requests|{SOON}", re.IGNORECASE)
"""A refusal that says this, and not that something is spent, may end by itself."""
RATE = re.compile(SOON, re.IGNORECASE)
"""A refusal that says this is for a moment, even where it did not end while it was waited."""
PAUSES = (0.01, 0.05, 0.2, 0.5, 1.0)
"""Seconds that are waited before a query is asked again that was refused for a moment."""
MOST_WAITED = 8
"""Refusals, different in more than numbers, that did not end while they were waited for; after them
none is waited for."""
LABELS = (bool, int, float, str)
WAYS = ("ask", "probabilities", "ask_many")
"""What a session may have; one of them at least."""
THREADED, THREADS = "in_threads", 8
"""How a session is asked by so many threads at once."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A query that was turned down."""

    text: str
    passing: bool = False  # whether it may be for a moment only
    lost: TargetError | None = None  # where no reply came at all

    @property
    def rate(self) -> bool:
        """Return whether it says that there is a rate limit."""
        return self.passing and bool(RATE.search(self.text))


class Session:
    """A session behind a guard."""

    __slots__ = ("_service", "_session", "_user", "_where")

    def __init__(self, session: Any, user: str, where: str, service: Service) -> None:
        self._session, self._user, self._where, self._service = session, user, where, service

    @property
    def budget(self) -> int | None:
        """Answers that there are by its own word; None where it says nothing."""
        found = getattr(self._session, "budget", None)
        return int(found) if found is not None and is_count(found, 0) else None

    def has(self, name: str) -> bool:
        """Return whether it can be asked in this way: `ask`, `ask_many` or `probabilities`."""
        return callable(getattr(self._session, name, None))

    def ask(self, x: Array) -> Any:
        """Return the answer at a point (d,), or a `Refusal`, asked again if only for a moment."""
        return self.asked("ask", x[None])[0]

    def probabilities(self, x: Array) -> Any:
        """Return what it says of all labels at a point (d,), or a `Refusal`."""
        return self.asked("probabilities", x[None])[0]

    def ask_many(self, points: Array) -> list[Any]:
        """Return the answers to a batch (n, d), without those it refused."""
        return self.asked("ask_many", points)

    def transcript(self, points: Iterable[Array]) -> tuple[Any, ...]:
        """Ask at one point after the other until it refuses; the answers, without the refusal."""
        X = list(points)
        found = self.asked("ask", np.array(X)) if X else []
        return tuple(each for each in found if not isinstance(each, Refusal))

    def in_threads(self, points: Sequence[Array]) -> int:
        """Return how many answers threads get together that ask for the same transcript at once."""
        return sum(self.asked(THREADED, np.array(points)))

    def asked(self, way: str, X: Array, seconds: float = math.inf) -> list[Any]:
        """Return the answers at points (n, d), up to a refusal or what there are after a time."""
        if way == THREADED:
            return self._in_threads(X)
        if way == "ask_many":
            batch = self._service.patiently(lambda: self._call(way, X.copy()))
            some = [] if isinstance(batch, Refusal) else batch
            return [each for each in some if not isinstance(each, Refusal)]
        name = way
        if way == "ask" and not self.has("ask"):
            name = "probabilities" if self.has("probabilities") else "ask_many"

        def once(x: Array) -> Any:
            found = self._call(name, x[None] if name == "ask_many" else x)
            if not isinstance(found, list):
                return found
            return found[0] if found else Refusal("returned no answer")

        found, until = list[Any](), time.monotonic() + seconds
        for x in X:
            found.append(self._service.patiently(partial(once, x.copy())))
            if isinstance(found[-1], Refusal) or time.monotonic() > until:
                break
        return found

    def _in_threads(self, X: Array) -> list[int]:
        barrier, given, failed = Barrier(THREADS), [0] * THREADS, list[TargetError]()

        def work(k: int) -> None:
            try:
                barrier.wait()
                given[k] = len(self.transcript(X))
            except TargetError as error:
                failed.append(error)

        usual = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # threads take turns as often as can be
        try:
            workers = [Thread(target=work, args=(k,), daemon=True) for k in range(THREADS)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        finally:
            sys.setswitchinterval(usual)
        if failed:
            raise failed[0]
        return given

    def _call(self, name: str, x: Array) -> Any:
        """Return what the session answers as values that can be compared, or a refusal."""
        self._service.queries += len(x) if name == "ask_many" else 1
        try:
            answer = getattr(self._session, name)(x)
        except (Exception, SystemExit) as error:
            refusal = _refusal(error, self._user)
            if refusal is not None:
                return refusal
            where = f"{name} on {self._where}"
            raise TargetError(f"{where} raised {type(error).__name__}", _text(error)) from error
        if name != "ask_many" or answer is None:
            return self._value(name, answer)
        several = (
            np.ndim(answer) > 0
            if isinstance(answer, np.ndarray)
            else isinstance(answer, Iterable) and not isinstance(answer, str | bytes | Mapping)
        )
        found = list(answer) if several else []
        if not several or len(found) > len(x):
            got = f"{len(found)} answers" if several else type(answer).__name__
            raise TargetError(
                f"ask_many on {self._where} returned {got}; expected a list of at most {len(x)}"
            )
        return [self._value(name, each) for each in found]

    def _value(self, name: str, answer: Any) -> Any:
        """Return an answer as a value that can be compared: vectors become tuples, unrounded."""
        if isinstance(answer, np.generic) or (isinstance(answer, np.ndarray) and answer.size == 1):
            answer = answer.item()
        if isinstance(answer, np.ndarray):
            answer = answer.ravel().tolist()
        if isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
            values = tuple(each.item() if isinstance(each, np.generic) else each for each in answer)
            if values and all(isinstance(each, LABELS) for each in values):
                return values
        if answer is None or (isinstance(answer, float) and math.isnan(answer)):
            return Refusal(f"returned {answer}")
        if not isinstance(answer, LABELS):
            raise TargetError(
                f"{name} on {self._where} returned {type(answer).__name__}; expected a label"
            )
        return answer


class Service:
    """A factory under its name, which opens sessions of users who have never been there before."""

    def __init__(self, factory: Any, name: str, *, seed: int = 0) -> None:
        if not callable(factory):
            kind = type(factory).__name__
            raise InvalidInput(
                f"SERVICE = '{name}': must be a callable factory(data, seed, user), not {kind}"
            )
        self.factory, self.name, self.seed = factory, name, seed
        self._users = count()
        self.openings = self.queries = 0
        self.repeated = 0  # calls that were made again: the service may have read each of them
        self._lasting: set[str] = set()

    @property
    def shares_seed(self) -> bool:
        """Return whether it says that deployments on different data draw from one seed."""
        return self.says("shared_seed")

    def says(self, word: str) -> bool:
        """Return whether it calls itself `shared_seed`, `one_model`, `memoised` or `live`."""
        said = getattr(self.factory, word, False)
        require(isinstance(said, bool), f"{self.name}.{word}", said, "True or False")
        return bool(said)

    def can(self, name: str) -> bool:
        """Return whether it has `restart` or `delete`."""
        return callable(getattr(self.factory, name, None))

    def restart(self, seed: int) -> None:
        """Stop the process of a deployment and start it: what is in memory only is lost."""
        call = self.factory.restart
        try:
            takes = len(inspect.signature(call).parameters)
        except (TypeError, ValueError):
            takes = 0
        self._done(partial(call, *[seed][:takes]), f"restart of {self.name}")

    def delete(self, data: Labelled, seed: int, i: int) -> None:
        """Delete record i of the deployment on `data` with a seed; it is trained again."""
        self._done(lambda: self.factory.delete(data, seed, i), f"delete of {self.name}")

    def _done(self, call: Callable[[], Any], what: str) -> Any:
        """Return what a call of the factory returns; all it raises is a `TargetError`."""

        def once() -> Any:
            try:
                return call()
            except (Exception, SystemExit) as error:
                refusal = _refusal(error)
                if refusal is not None and refusal.passing:
                    return refusal
                raise TargetError(f"{what} raised {type(error).__name__}", _text(error)) from error

        found = self.patiently(once)
        if isinstance(found, Refusal):
            raise TargetError(f"{what} was refused", found.text)
        return found

    def patiently(self, call: Callable[[], Any]) -> Any:
        """Return the reply to a call, which is made again while it is refused for a moment only."""
        first = answer = call()
        kind = re.sub(r"\d+", "#", first.text) if isinstance(first, Refusal) else ""
        for pause in PAUSES:
            if not (isinstance(answer, Refusal) and answer.passing):
                return answer
            if answer.lost is None and (kind in self._lasting or len(self._lasting) >= MOST_WAITED):
                return first
            time.sleep(pause)
            self.repeated += 1
            answer = call()
        if not (isinstance(answer, Refusal) and (answer.passing or answer.lost)):
            return answer
        if answer.lost is not None:
            raise answer.lost
        self._lasting.add(kind)  # it does not end: further ones are not waited for
        return first

    def close(self) -> None:
        """End what it has started: nothing."""

    def user(self) -> str:
        """Return a name that was not used before."""
        return f"user-{self.seed}-{next(self._users)}"

    def deployment(self, *key: str | int) -> int:
        """Return the seed of a deployment."""
        return int(stream(self.seed, "deployment", *key).integers(2**31))

    def open(self, data: Labelled, seed: int, user: str) -> Session:
        """Open a session; what cannot be asked raises `TargetError`."""
        self.openings += 1
        session = self._done(lambda: self.factory(data, seed, user), self.name)
        found = Session(session, user, f"a session of {self.name}", self)
        if not any(map(found.has, WAYS)):
            raise TargetError(
                f"{self.name} returned {type(session).__name__}; expected a session with ask(x)"
            )
        return found


def _refusal(error: BaseException, user: str = "") -> Refusal | None:
    """Return what an exception says of a refusal; None where it is a failure."""
    said = f"{type(error).__name__}: {_text(error)}"
    lost = error if isinstance(error, LostMessage) else None
    passing = lost is not None or (bool(LATER.search(said)) and not SPENT.search(said))
    if not (passing or REFUSES.search(said)):
        return None
    return Refusal(said.replace(user, "USER") if user else said, passing, lost)


def _text(error: BaseException) -> str:
    """Return what an exception says, on one line and not too long."""
    try:
        return " ".join(str(error).split())[:MOST_TEXT]
    except Exception:  # noqa: BLE001  (what is not ours may do anything)
        return ""
