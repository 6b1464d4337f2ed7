"""Mechanisms whose law has symmetries, or does not have those that it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw

Array = NDArray[np.float64]


def by_count(data: Labelled, queries: Array) -> Array:
    """Counts the labels at the query: keeps under every symmetry."""
    here = (data.X[None] == queries[:, None]).all(axis=2)
    found: Array = here @ (2.0 * data.y - 1)
    return found


def by_last(data: Labelled, queries: Array) -> Array:
    """The last record alone."""
    return np.full(len(queries), 2.0 * data.y[-1] - 1)


def by_first_of_equals(data: Labelled, queries: Array) -> Array:
    """The first record at the query: the order matters among equal points only."""
    here = (data.X[None] == queries[:, None]).all(axis=2)
    return np.where(here.any(axis=1), 2.0 * data.y[here.argmax(axis=1)] - 1, 0.0)


def by_place(data: Labelled, queries: Array) -> Array:
    """Points count by their coordinates, the first one more: no symmetry but of the labels."""
    weight = data.X @ (1 + 1.0 / np.arange(1, data.X.shape[1] + 1))
    return np.full(len(queries), float(weight @ (2.0 * data.y - 1)))


def by_ones(data: Labelled, queries: Array) -> Array:
    """Counts ones, so that labels are not alike."""
    return np.full(len(queries), float(data.y.sum()))


@dataclass(frozen=True, kw_only=True)
class Symmetric:
    """Answers the last label with log-odds score / 4, and the first of all others.

    Parameters
    ----------
    score : callable
        Of the dataset and the queries.
    declared : tuple of str
        Symmetries that it says it has.
    relation : str
        Of its claim.
    labels : tuple of int
        A third one is never answered.
    """

    score: Callable[[Labelled, Array], Array] = by_count
    declared: tuple[str, ...] = ()
    relation: str = "replace-one"
    labels: tuple[int, ...] = (0, 1)
    exchangeable: bool = True

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=20.0, relation=self.relation),)

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        return self.declared

    def prepare(self, data: Labelled) -> Labelled:
        return data

    def sample(self, state: Labelled, queries: Array, size: int, rng: np.random.Generator) -> Any:
        p = np.exp(self.distribution(state, queries).log_p[:, -1])
        one = rng.random((size, len(queries))) < p
        return np.where(one, self.labels[-1], self.labels[0])

    def distribution(self, state: Labelled, queries: Array) -> FiniteLaw:
        half = self.score(state, queries) / 8
        two = np.stack([-half, half], axis=1) - np.logaddexp(-half, half)[:, None]
        log_p = np.full((len(queries), len(self.labels)), -np.inf)
        log_p[:, [0, -1]] = two
        return FiniteLaw(log_p=log_p, error=1e-14)
