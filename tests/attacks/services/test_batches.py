"""Noise of batches, and probabilities that have none; what looks like it and is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay.attacks.services.defects import probe
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.records import PLAIN
from dpassay.attacks.services.streams import CANCELS, REPLAYED, REUSED
from dpassay.claims import DP
from dpassay.data import Labelled
from tests.attacks.services.broken_services import Array, Honest, Session, odds
from tests.attacks.services.suite import Plain


class BatchSession(Session):
    def ask_many(self, points: Array) -> list[Any]:
        for x in points:
            self.service.spend(self, x)
        scores = np.array([odds(self.data, x, self.service.epsilon) for x in points])
        return self.service.batch(self, scores)  # type: ignore[attr-defined, no-any-return]


class Batches(Plain):
    """Right: the answers of a batch are drawn in an order of its own."""

    session = BatchSession

    def __call__(self, data: Labelled, seed: int, user: str) -> Session:
        return self.session(self, data, self.stream(seed, user), (seed, user), self.limit)

    def batch(self, session: Session, scores: Array) -> list[Any]:
        found = np.empty(len(scores), dtype=int)
        for i in session.rng.permutation(len(scores)):
            found[i] = session.rng.random() < 1 / (1 + np.exp(-scores[i]))
        return list(found.tolist())


class OneCoin(Batches):
    def batch(self, session: Session, scores: Array) -> list[Any]:
        return list((session.rng.random() < 1 / (1 + np.exp(-scores))).astype(int).tolist())


class OneNoise(Batches):
    def batch(self, session: Session, scores: Array) -> list[Any]:
        return list((scores + session.rng.laplace(scale=4)).tolist())


class ZeroSum(Batches):
    def batch(self, session: Session, scores: Array) -> list[Any]:
        noise = session.rng.laplace(scale=4, size=len(scores))
        return list((scores + noise - noise.mean()).tolist())


class SameBatch(Batches):
    def batch(self, session: Session, scores: Array) -> list[Any]:
        u = np.random.default_rng([session.key[0], *session.key[1].encode()]).random(len(scores))
        return list((u < 1 / (1 + np.exp(-scores))).astype(int).tolist())


class NoisyNumbers(Batches):
    """Right."""

    def batch(self, session: Session, scores: Array) -> list[Any]:
        return list((scores + session.rng.laplace(scale=4, size=len(scores))).tolist())


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


FOUND: dict[type[Honest], tuple[str, ...]] = {
    OneCoin: (REUSED,),
    OneNoise: (REUSED,),
    ZeroSum: (CANCELS,),
    SameBatch: (REPLAYED,),
    PlainScores: (PLAIN,),
    Batches: (),
    NoisyNumbers: (),
    TrainedScores: (),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)
def test_batches_and_probabilities(kind: type[Honest]) -> None:
    rng = np.random.default_rng(0)
    data = Labelled(rng.normal(size=(40, 2)), rng.integers(0, 2, 40))
    found = probe(Service(kind(), kind.__name__), data, claim=DP(epsilon=1.0), openings=2)
    assert tuple(defect.name for defect in found.defects) == FOUND[kind]
    assert found.openings <= sum(part.openings for part in found.plan)
    assert found.queries <= sum(part.queries for part in found.plan)
