"""A subject that tells of each record alone how much is wanted, and data for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
