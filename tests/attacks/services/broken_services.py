"""Randomised response on the label of the nearest record: right services, and broken ones."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.data import Labelled

Array = NDArray[np.float64]


class BudgetSpent(RuntimeError):
    pass


def odds(data: Labelled, x: Array, epsilon: float) -> float:
    """Log-odds of label 1: those of the nearest record's label, which is epsilon-private."""
    nearest = int(np.argmin(((data.X - x) ** 2).sum(axis=1)))
    return epsilon / 2 * (2 * int(data.y[nearest]) - 1)


class Session:
    def __init__(self, service: Honest, data: Labelled, rng: Any, key: Any, budget: Any) -> None:
        self.service, self.data, self.rng, self.key, self.budget = service, data, rng, key, budget

    def ask(self, x: Array) -> int:
        self.service.spend(self, x)
        return self.service.answer(self, x)


class Honest:
    """Fresh coins for each answer, and a ledger of what each user has spent, behind a lock."""

    epsilon = 1.0
    limit = 16
    declared = True

    def __init__(self) -> None:
        self.ledger: dict[tuple[int, str], int] = {}
        self.lock = threading.Lock()
        self.streams: dict[tuple[int, str], np.random.Generator] = {}

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        budget = self.limit if self.declared else None
        return Session(self, data, self.stream(seed, user), (seed, user), budget)

    def stream(self, seed: int, user: str) -> np.random.Generator:
        """Coins that go on where they were when the user comes back."""
        if (seed, user) not in self.streams:
            self.streams[seed, user] = self.coins(seed, user)
        return self.streams[seed, user]

    def coins(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng([seed, *hashlib.sha256(user.encode()).digest()])

    def spend(self, session: Session, x: Array) -> None:
        with self.lock:
            spent = self.ledger.get(session.key, 0)
            if spent >= self.limit + self.more(session):
                raise BudgetSpent(self.refusal(session, x))
            self.ledger[session.key] = spent + 1

    def more(self, session: Session) -> int:
        """Answers beyond the budget."""
        return 0

    def refusal(self, session: Session, x: Array) -> str:
        return f"the budget of {self.limit} is spent"

    def answer(self, session: Session, x: Array) -> int:
        return int(session.rng.random() < expit(odds(session.data, x, self.epsilon)))


def changed(name: str, **fields: Any) -> type[Honest]:
    return type(name, (Honest,), fields)


def answering(name: str, chance: Callable[[Session, Array], float]) -> type[Honest]:
    """Return a service that answers 1 with this chance."""
    return changed(
        name, answer=lambda _, session, x: int(session.rng.random() < chance(session, x))
    )


def refusing(name: str, words: Callable[[Session, Array], str]) -> type[Honest]:
    """Return a service that refuses in these words."""
    return changed(name, refusal=lambda _, session, x: words(session, x))


def tries(session: Session) -> int:
    session.__dict__["tries"] = found = session.__dict__.get("tries", 0) + 1
    return int(found)


def trained(session: Session) -> float:
    """Training has coins of the deployment; the answers have their own, for every user."""
    return float(expit(2 if np.random.default_rng(session.key[0]).random() < 0.5 else -2))


def noisy(session: Session, x: Array) -> bool:
    """One noisy model of the deployment's seed, without coins of its own."""
    noise = np.random.default_rng(session.key[0]).laplace(scale=2 / session.service.epsilon)
    return bool(np.sign(odds(session.data, x, 2.0)) + noise > 0)


Undeclared = changed("Undeclared", declared=False)
Endless = changed("Endless", declared=False, limit=10**9)
Counting = refusing(
    "Counting", lambda session, x: f"quota of {session.key[1]} exhausted, attempt {tries(session)}"
)
"""Refusals that name the user and count the attempts: they tell nothing."""
Certain = answering("Certain", lambda session, x: float(odds(session.data, x, 1.0) > 0))
"""No coins at all."""
Majority = answering(
    "Majority", lambda session, x: float(2 * session.data.y.sum() >= len(session.data))
)
"""No coins, and no record alone matters: nothing that is asked shows what it does elsewhere."""
Deaf = answering("Deaf", lambda session, x: 0.5)
"""Ignores its data."""
Trained = answering("Trained", lambda session, x: trained(session))
Model = answering("Model", noisy)
TellsQuery = refusing("TellsQuery", lambda session, x: f"budget spent: no answer at {x[0]:.6f}")
TellsData = refusing(
    "TellsData", lambda session, x: f"the model was trained on {session.data.y.sum()} positives"
)


class Cached(Honest):
    def answer(self, session: Session, x: Array) -> int:
        cache = session.__dict__.setdefault("cache", {})
        if x.tobytes() not in cache:
            cache[x.tobytes()] = super().answer(session, x)
        return int(cache[x.tobytes()])


class Eternal(Honest):
    """The coins are a hash of the query."""

    def answer(self, session: Session, x: Array) -> int:
        session.rng = np.random.default_rng(list(hashlib.sha256(x.tobytes()).digest()))
        return super().answer(session, x)


class Sticky(Honest):
    """One coin a session, whatever it is asked."""

    def answer(self, session: Session, x: Array) -> int:
        u = session.__dict__.setdefault("u", session.rng.random())
        return int(u < expit(odds(session.data, x, self.epsilon)))


class OneModel(Sticky):
    """The coin is the deployment's: one for all users."""

    def coins(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng(seed)


class Shared(Honest):
    """Every user's coins are the deployment's; it does not say so."""

    def coins(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng(seed)


class Declared(Shared):
    """Says that the coins are shared, also by deployments on other data."""

    shared_seed = True


class OffByOne(Honest):
    def more(self, session: Session) -> int:
        return 1


class AskOn(Honest):
    """Refuses once and starts again."""

    def spend(self, session: Session, x: Array) -> None:
        try:
            super().spend(session, x)
        except BudgetSpent:
            self.ledger[session.key] = 0
            raise


class Reopened(Honest):
    """The budget is the session's, not the user's."""

    def spend(self, session: Session, x: Array) -> None:
        with self.lock:
            spent = session.__dict__["spent"] = session.__dict__.get("spent", 0) + 1
            if spent > self.limit:
                raise BudgetSpent(self.refusal(session, x))


class Racing(Honest):
    """Looks, and counts later, without a lock."""

    def spend(self, session: Session, x: Array) -> None:
        spent = self.ledger.get(session.key, 0)
        if spent >= self.limit:
            raise BudgetSpent(self.refusal(session, x))
        time.sleep(1e-4)
        self.ledger[session.key] = self.ledger.get(session.key, 0) + 1


class NeverRefuses(Honest):
    def spend(self, session: Session, x: Array) -> None:
        pass


class TellsByTime(Honest):
    """The budget depends on the data."""

    declared = False

    def more(self, session: Session) -> int:
        return int(session.data.y[0])


def failed(session: Session, x: Array) -> float:
    raise ZeroDivisionError("no model")


def failing_factory(data: Labelled, seed: int, user: str) -> Session:
    raise OSError("no such deployment")


def askless(data: Labelled, seed: int, user: str) -> object:
    return object()


honest, declared, model, deaf, majority = Honest(), Declared(), Model(), Deaf(), Majority()
cached, shared, tells_query = Cached(), Shared(), TellsQuery()
failing = answering("Failing", failed)()
