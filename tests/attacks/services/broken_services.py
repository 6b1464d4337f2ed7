"""Randomised response on the label of the nearest record: right services, and broken ones."""

from __future__ import annotations

import hashlib
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        return int(session.rng.random() < 1 / (1 + np.exp(-odds(session.data, x, self.epsilon))))


class Undeclared(Honest):
    declared = False


class Endless(Honest):
    declared, limit = False, 10**9


class Counting(Honest):
    """Refusals that name the user and count the attempts: they tell nothing."""

    def refusal(self, session: Session, x: Array) -> str:
        tries = session.__dict__["tries"] = session.__dict__.get("tries", 0) + 1
        return f"quota of {session.key[1]} exhausted, attempt {tries}"


class Certain(Honest):
    """No coins at all."""

    def answer(self, session: Session, x: Array) -> int:
        return int(odds(session.data, x, 1.0) > 0)


class Majority(Honest):
    """No coins, and no record alone matters: nothing that is asked shows what it does elsewhere."""

    def answer(self, session: Session, x: Array) -> int:
        return int(2 * session.data.y.sum() >= len(session.data))


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
        return int(u < 1 / (1 + np.exp(-odds(session.data, x, self.epsilon))))


class OneModel(Sticky):
    """The coin is the deployment's: one for all users."""

    def coins(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng(seed)


class Trained(Honest):
    """Training has coins of the deployment; the answers have their own, for every user."""

    def answer(self, session: Session, x: Array) -> int:
        lean = 1 if np.random.default_rng(session.key[0]).random() < 0.5 else -1
        return int(session.rng.random() < 1 / (1 + np.exp(-2 * lean)))


class Shared(Honest):
    """Every user's coins are the deployment's; it does not say so."""

    def coins(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng(seed)


class Declared(Shared):
    """Says that the coins are shared, also by deployments on other data."""

    shared_seed = True


class Model(Honest):
    """Correct: one noisy model of the deployment's seed, and answers without coins of their own."""

    def answer(self, session: Session, x: Array) -> int:
        noise = np.random.default_rng(session.key[0]).laplace(scale=2 / self.epsilon)
        return int(np.sign(odds(session.data, x, 2.0)) + noise > 0)


class Deaf(Honest):
    """Ignores its data."""

    def answer(self, session: Session, x: Array) -> int:
        return int(session.rng.random() < 0.5)


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


class TellsQuery(Honest):
    def refusal(self, session: Session, x: Array) -> str:
        return f"budget spent: no answer at {x[0]:.6f}"


class TellsData(Honest):
    def refusal(self, session: Session, x: Array) -> str:
        return f"budget spent; the model was trained on {int(session.data.y.sum())} positives"


class TellsByTime(Honest):
    """The budget depends on the data."""

    declared = False

    def more(self, session: Session) -> int:
        return int(session.data.y[0])


class Failing(Honest):
    def answer(self, session: Session, x: Array) -> int:
        raise ZeroDivisionError("no model")


def failing_factory(data: Labelled, seed: int, user: str) -> Session:
    raise OSError("no such deployment")


def askless(data: Labelled, seed: int, user: str) -> object:
    return object()


honest, declared, model, deaf, majority = Honest(), Declared(), Model(), Deaf(), Majority()
cached, shared, tells_query, failing = Cached(), Shared(), TellsQuery(), Failing()
