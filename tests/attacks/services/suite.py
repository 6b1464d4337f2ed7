"""Twenty services: twelve with one thing wrong each, eight that are right; and some variants."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from dpassay.attacks.services.records import PLAIN
from dpassay.attacks.services.streams import CANCELS, REPLAYED, REUSED
from dpassay.data import Labelled
from tests.attacks.services import broken_services as broken
from tests.attacks.services.broken_services import Array, Honest, Session, odds

LIMIT = 48


class Plain(Honest):
    limit = LIMIT


def digest(*what: object) -> bytes:
    return hashlib.sha256(repr(what).encode()).digest()


def seeded(name: str, by: Callable[[int, str], Any]) -> type[Plain]:
    """Return a service whose coins depend on this alone of the deployment's seed and the user."""
    return type(
        name, (Plain,), {"coins": lambda _, seed, user: np.random.default_rng(by(seed, user))}
    )


Clock = seeded("Clock", lambda seed, user: int(time.time()))
DeploymentClock = seeded("DeploymentClock", lambda seed, user: [seed, int(time.time())])
Groups = seeded("Groups", lambda seed, user: [seed, int(user[-1])])
"""Users whose names end alike have the same coins."""
SixteenBits = seeded("SixteenBits", lambda seed, user: int.from_bytes(digest(seed, user)[:2]))
SixteenBitsOfUsers = seeded("SixteenBitsOfUsers", lambda seed, user: [seed, *digest(user)[:2]])
SixteenBitsOfDeployments = seeded(
    "SixteenBitsOfDeployments", lambda seed, user: [seed % 2**16, *digest(user)]
)


class Replay(Plain):
    """The coins begin anew whenever a session is opened."""

    def stream(self, seed: int, user: str) -> np.random.Generator:
        return self.coins(seed, user)


class FirstAnswerClock(Plain):
    """Seeded by the millisecond of the first answer."""

    def stream(self, seed: int, user: str) -> Any:
        coins: list[np.random.Generator] = []

        class Late:
            def random(self) -> float:
                if not coins:
                    coins.append(np.random.default_rng(int(time.time() * 1000)))
                return coins[0].random()

        return Late()


class EveryAnswerClock(Plain):
    """Every answer is seeded by the second: low numbers in one, high ones in the next."""

    def answer(self, session: Session, x: Array) -> int:
        session.rng = np.random.default_rng((3, 5)[int(time.time()) % 2])
        return super().answer(session, x)


class OneSeed(Plain):
    """Every session of every deployment begins with the same seed."""

    def stream(self, seed: int, user: str) -> np.random.Generator:
        return np.random.default_rng(42)


class Part(Plain):
    """Every tenth user has the coins of the deployment."""

    def coins(self, seed: int, user: str) -> np.random.Generator:
        if digest(user)[0] % 10 == 0:
            return np.random.default_rng(seed)
        return super().coins(seed, user)


class Restarted(Plain):
    """What users have spent is in memory only."""

    def restart(self) -> None:
        self.ledger.clear()


class Linear(Plain):
    """Scores of records, each between -1 and 1: epsilon / 2 for another record at most."""

    clipped = True

    def answer(self, session: Session, x: Array) -> int:
        with np.errstate(over="ignore"):
            scores = session.data.X @ x * (2 * session.data.y - 1)
        if self.clipped:
            scores = np.clip(scores, -1, 1)
        lean = np.clip(self.epsilon / 4 * scores.sum(), -30, 30)
        return int(session.rng.random() < 1 / (1 + np.exp(-lean)))


class Unclipped(Linear):
    clipped = False


def to_a_digit(x: Array) -> Array:
    return np.round(x, 1)


def caching(
    name: str, whose: Callable[[Session], object], key: Callable[[Array], Array] = to_a_digit
) -> type[Plain]:
    """Return a service that keeps its answers to queries of one key, for those who are the same."""

    def answer(self: Plain, session: Session, x: Array) -> int:
        kept: dict[Any, int] = vars(self).setdefault("kept", {})
        place = whose(session), key(x).tobytes()
        if place not in kept:
            kept[place] = Honest.answer(self, session, x)
        return kept[place]

    return type(name, (Plain,), {"answer": answer})


Cached = caching("Cached", lambda session: session, lambda x: np.round(x, 12))
Rounded = caching("Rounded", lambda session: session)
RoundedForUsers = caching("RoundedForUsers", lambda session: session.key)
RoundedForAll = caching("RoundedForAll", lambda session: session.key[0])
CutOffForEverybody = caching(
    "CutOffForEverybody", lambda session: session.data.y.tobytes(), lambda x: np.floor(x * 10)
)
"""For all deployments on the same data, and digits are cut off."""


def larger(kind: type[Honest]) -> type[Honest]:
    """Return a service with the budget of these."""
    return type(kind.__name__, (kind,), {"limit": LIMIT})


Sticky, Reopened, Shared = map(larger, (broken.Sticky, broken.Reopened, broken.Shared))
Undeclared = larger(broken.Undeclared)
Trained = larger(broken.Model)
"""One noisy model of the deployment's seed, without coins of its own."""


class Unlearning(Plain):
    """Right: a deleted record is out, and the ledger and the coins survive a restart."""

    def __init__(self) -> None:
        super().__init__()
        self.deleted: dict[int, list[int]] = {}

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        kept = np.ones(len(data), dtype=bool)
        kept[self.deleted.get(seed, [])] = False
        return super().__call__(Labelled(data.X[kept], data.y[kept]), seed, user)

    def restart(self, seed: int = 0) -> None:
        pass

    def delete(self, data: Labelled, seed: int, i: int) -> None:
        self.deleted.setdefault(seed, []).append(i)


class ReusedCoins(Unlearning):
    """Trained again from the same seed, with the coins from before."""

    def delete(self, data: Labelled, seed: int, i: int) -> None:
        super().delete(data, seed, i)
        self.streams.clear()


class Scores(Unlearning):
    """One model of noisy weights, whose score is told; after a deletion with new noise."""

    again = True

    def answer(self, session: Session, x: Array) -> Any:
        seed, _ = session.key
        deleted = len(self.deleted.get(seed, [])) if self.again else 0
        noise = np.random.default_rng([seed, deleted]).laplace(scale=2 / self.epsilon, size=x.size)
        clipped = np.clip(session.data.X, -1, 1) * (2 * session.data.y - 1)[:, None]
        return float((clipped.sum(axis=0) + noise) @ x)


class SameNoise(Scores):
    """The noise of the weights is that of before."""

    again = False


class LeftIn(Unlearning):
    def delete(self, data: Labelled, seed: int, i: int) -> None:
        pass


class Weights(Plain):
    """Labels by one model of noisy weights, of which the boundary goes through the origin."""

    def answer(self, session: Session, x: Array) -> int:
        noise = np.random.default_rng(session.key[0]).laplace(scale=8, size=x.size)
        clipped = np.clip(session.data.X, -1, 1)
        return int((clipped.T @ (2 * session.data.y - 1) + noise) @ x > 0)


class DecimalTree(Plain):
    """A decision tree of data of one digit, without coins: all its thresholds end in 5."""

    def answer(self, session: Session, x: Array) -> int:
        tree = session.__dict__.get("tree")
        if tree is None:
            tree = DecisionTreeClassifier(random_state=0)
            tree.fit(np.round(session.data.X, 1), session.data.y)
            session.__dict__["tree"] = tree
        return int(tree.predict(x[None])[0])


class Memoised(Plain):
    """Each point's answer is drawn once for a deployment, and is the same for all."""

    def whose(self, session: Session) -> object:
        return session.key[0]

    def answer(self, session: Session, x: Array) -> int:
        drawn = digest(self.whose(session), x.tobytes())
        u = int.from_bytes(drawn[:6]) / 2**48
        return int(u < 1 / (1 + np.exp(-odds(session.data, x, self.epsilon))))


class MemoisedForUsers(Memoised):
    def whose(self, session: Session) -> object:
        return session.key


class MemoisedByItsWord(MemoisedForUsers):
    memoised = True


class RateLimited(Plain):
    """No budget, but 60 queries of a user in five milliseconds at most."""

    declared = False

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[tuple[tuple[int, str], int]] = Counter()

    def spend(self, session: Session, x: Array) -> None:
        window = session.key, int(time.time() * 200)
        self.asked[window] += 1
        if self.asked[window] > 60:
            raise RuntimeError("429 too many requests")


class OneLedger(Plain):
    """All users of a deployment have one budget."""

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        session = super().__call__(data, seed, user)
        session.key = (seed, "all")
        return session


class VectorSession(Session):
    def probabilities(self, x: Array) -> list[float]:
        self.service.spend(self, x)
        p = 1 / (1 + np.exp(-odds(self.data, x, 1.0)))
        noise = self.rng.laplace(scale=1 / self.service.epsilon)
        return [1 - p - noise, p + noise]

    def ask_many(self, points: Array) -> list[list[float]]:
        return [self.probabilities(x) for x in points]

    ask = None  # type: ignore[assignment]


class Vectors(Plain):
    """Answers noisy probabilities, alone or in batches; the budget is one."""

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        budget = self.limit if self.declared else None
        return VectorSession(self, data, self.stream(seed, user), (seed, user), budget)


class Live(Plain):
    """Answers from data of its own, whatever it is given."""

    live = True

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        rng = np.random.default_rng(0)
        return super().__call__(
            Labelled(rng.normal(size=(60, 2)), rng.integers(0, 2, 60)), seed, user
        )


class BatchSession(Session):
    def ask_many(self, points: Array) -> list[Any]:
        for x in points:
            self.service.spend(self, x)
        scores = np.array([odds(self.data, x, self.service.epsilon) for x in points])
        return list(self.service.batch(self, scores).tolist())  # type: ignore[attr-defined]


class Batches(Plain):
    """Right: the answers of a batch are drawn in an order of its own."""

    session = BatchSession

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        return self.session(self, data, self.stream(seed, user), (seed, user), self.limit)

    def batch(self, session: Session, scores: Array) -> NDArray[Any]:
        order = session.rng.permutation(len(scores))
        found = np.empty(len(scores), dtype=int)
        found[order] = labels(session.rng.random(len(scores)), scores[order])
        return found


def labels(u: Any, scores: Array) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (u < 1 / (1 + np.exp(-scores))).astype(np.int64)
    return found


def batching(name: str, answers: Callable[[Session, Array], NDArray[Any]]) -> type[Batches]:
    """Return a service whose answers in a batch depend on each other, or on what came before."""
    return type(name, (Batches,), {"batch": lambda _, session, scores: answers(session, scores)})


def noise(session: Session, scores: Array) -> Array:
    found: Array = session.rng.laplace(scale=4, size=len(scores))
    return found


def replayed(session: Session, scores: Array) -> Array:
    seed, user = session.key
    return np.random.default_rng([seed, *user.encode()]).random(len(scores))


OneCoin = batching("OneCoin", lambda session, scores: labels(session.rng.random(), scores))
OneNoise = batching("OneNoise", lambda session, scores: scores + session.rng.laplace(scale=4))
SameBatch = batching("SameBatch", lambda session, scores: labels(replayed(session, scores), scores))
NoisyNumbers = batching("NoisyNumbers", lambda session, scores: scores + noise(session, scores))
"""Right."""


class ZeroSum(Batches):
    def batch(self, session: Session, scores: Array) -> NDArray[Any]:
        drawn = noise(session, scores)
        return np.asarray(scores + drawn - drawn.mean())


class ScoreSession(Session):
    def probabilities(self, x: Array) -> list[float]:
        self.service.spend(self, x)
        score = odds(self.data, x, self.service.epsilon)
        p = float(1 / (1 + np.exp(-score - self.service.noise(self))))  # type: ignore[attr-defined]
        return [1 - round(p, 2), round(p, 2)]


class PlainScores(Batches):
    """Labels have coins, probabilities are only rounded."""

    session = ScoreSession  # type: ignore[assignment]

    def noise(self, session: Session) -> float:
        return 0.0


class TrainedScores(PlainScores):
    """Right: probabilities of a model that is trained with noise."""

    def noise(self, session: Session) -> float:
        return float(np.random.default_rng(session.key[0]).laplace(scale=2))


BROKEN: dict[type[Honest], str] = {
    Replay: "answers replayed when a session is reopened",
    Clock: "noise seeded by the clock",
    SixteenBits: "seeds of few bits",
    Part: "seed shared between part of the users",
    Restarted: "budget lost at restart",
    Unclipped: "missing clipping",
    Rounded: "answers cached by rounded query",
    ReusedCoins: "deletion reuses the coins",
    Cached: "cached answers",
    Sticky: "sticky noise",
    Shared: "seed shared between users",
    Reopened: "budget can be passed: another session",
}
VARIANTS: dict[type[Honest], str] = {
    SixteenBitsOfUsers: "seeds of few bits",
    SixteenBitsOfDeployments: "seeds of few bits",
    RoundedForUsers: "answers cached by rounded query",
    RoundedForAll: "answers cached by rounded query",
    CutOffForEverybody: "answers cached by rounded query",
    FirstAnswerClock: "noise seeded by the clock",
    EveryAnswerClock: "noise seeded by the clock",
    DeploymentClock: "noise seeded by the clock",
    OneSeed: "seed shared between users",
    Groups: "seed shared between part of the users",
    SameNoise: "deletion reuses the coins",
    LeftIn: "deletion leaves the record in",
    OneCoin: REUSED,
    OneNoise: REUSED,
    ZeroSum: CANCELS,
    SameBatch: REPLAYED,
    PlainScores: PLAIN,
}
RIGHT = (Plain, Undeclared, Trained, Memoised, RateLimited, Vectors, Live, Unlearning)
RIGHT_VARIANTS = (
    *(Linear, MemoisedForUsers, MemoisedByItsWord, OneLedger),
    *(Weights, DecimalTree, Scores, Batches, NoisyNumbers, TrainedScores),
)
