"""Report noisy max: the largest of several answers, by its index or by its value.

Source: Ding, Wang, Wang, Zhang and Kifer (2018), Detecting Violations of Differential Privacy, CCS,
Algorithms 5 to 8. Sensitivity 1, noise of scale 2 / epsilon on each of five answers. The index
(Algorithms 5 and 6) is private. The noisy value of the largest (7 and 8) is not: where all noisy
answers lie below all true ones, one step up of all of them costs epsilon / 2 each; and exponential
noise is never negative, so that a largest answer below the true one cannot be.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

QUERIES = 5


def noisy_max_1(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.int64]:
    """Algorithm 5: the index, Laplace noise; private."""
    drawn: NDArray[np.int64] = _laplace(data, size, rng, epsilon).argmax(axis=1)
    return drawn


def noisy_max_2(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.int64]:
    """Algorithm 6: the index, exponential noise; private."""
    drawn: NDArray[np.int64] = _exponential(data, size, rng, epsilon).argmax(axis=1)
    return drawn


def noisy_max_3(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Algorithm 7: the value, Laplace noise; broken."""
    drawn: Numbers = _laplace(data, size, rng, epsilon).max(axis=1)
    return drawn


def noisy_max_4(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Algorithm 8: the value, exponential noise; broken."""
    drawn: Numbers = _exponential(data, size, rng, epsilon).max(axis=1)
    return drawn


def _laplace(data: Numbers, size: int, rng: np.random.Generator, epsilon: float) -> Numbers:
    noisy: Numbers = data + rng.laplace(scale=2 / epsilon, size=(size, len(data)))
    return noisy


def _exponential(data: Numbers, size: int, rng: np.random.Generator, epsilon: float) -> Numbers:
    noisy: Numbers = data + rng.exponential(scale=2 / epsilon, size=(size, len(data)))
    return noisy


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the broken variants; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    ahead = 20 / e
    made = partial(Specimen, data=Answers(QUERIES), claim=DP(epsilon=e))
    return (
        made(
            name="noisy-max-3",
            function=at(noisy_max_3, epsilon),
            twin=at(noisy_max_1, epsilon),
            true_loss=QUERIES * e / 2,
            twin_loss=e,
            known_pair=(numbers(1, 1, 1, 1, 1), numbers(2, 2, 2, 2, 2)),
            known_loss=QUERIES * e / 2,
            source="Ding et al. 2018, Algorithm 7; twin: Algorithm 5",
            wrong="it returns the noisy value of the largest answer, not its index",
        ),
        made(
            name="noisy-max-4",
            function=at(noisy_max_4, epsilon),
            twin=at(noisy_max_2, epsilon),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(ahead, 0, 0, 0, 0), numbers(ahead + 1, 0, 0, 0, 0)),
            known_loss=math.inf,
            source="Ding et al. 2018, Algorithm 8; twin: Algorithm 6",
            wrong="it returns the value, and exponential noise is never negative",
        ),
    )
