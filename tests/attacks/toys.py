"""A subject that tells of each record what is wanted, learners whose memory is known, and data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.models import ExperimentData, build_data
from dpassay.attacks.experiment.subjects import AskedPoints, ModelView, Subject, asked
from dpassay.attacks.observed import Array
from dpassay.data import Labelled

E = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy(Subject):
    """Answers 1 for a member and 0 for others where it tells, always the same; else fair coins."""

    tells: float
    budgets: tuple[int, ...] = (1, 8)
    name: str = "toy"

    @property
    def views(self) -> tuple[ModelView, ...]:
        return tuple(asked(m) for m in self.budgets)

    @property
    def key(self) -> Any:
        return ["toy", self.name]

    @property
    def code(self) -> list[str]:
        return []

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        inside = np.isin(points.X[:, 0], data.X[:, 0])
        right = rng.binomial(max(self.budgets), 0.5, size=len(inside)) / max(self.budgets)
        one = np.where(rng.random(len(inside)) < self.tells, inside, right)
        return np.stack([np.stack([1 - one, one], axis=1) for _ in self.budgets])


def floor(seed: int = 0) -> ExperimentData:
    places = np.arange(2.0 * E)[:, None]
    ones = np.ones(E, dtype=np.int64)
    return build_data(
        Labelled(places[:E], ones), Labelled(places[E:], ones), copies=0, noise=0.0, seed=seed
    )


class Memory:
    """Gives a record that it was trained on its label, and everything else even odds."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Memory:
        """Keep the records."""
        labels, codes = np.unique(y, return_inverse=True)
        self.labels = len(labels)
        self.known = {tuple(x): code for x, code in zip(X.tolist(), codes.tolist(), strict=True)}
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Look them up."""
        shares = np.full((len(X), self.labels), 1 / self.labels)
        for i, x in enumerate(X.tolist()):
            if tuple(x) in self.known:
                shares[i] = np.eye(self.labels)[self.known[tuple(x)]]
        return shares


class Nothing(Memory):
    """Learns nothing: even odds everywhere."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Nothing:
        """Count the labels."""
        super().fit(X[:0], y[:0])
        self.labels = len(np.unique(y))
        return self
