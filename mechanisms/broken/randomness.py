"""Noise that is not fresh: one draw for several answers, and a seed made from the data.

Made for the zoo. Both are laws of one run: `size` runs are independent, and a new process draws the
same law. So both can be refuted; of noise seeded by the data an auditor may also say `error`, since
runs that all answer the same look like a generator that is not drawn from.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Specimen, at, numbers
from dpassay.search.spaces import Answers

QUERIES = 3
Data = NDArray[np.float64]


def cached_noise(
    data: Data, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.float64]:
    """All the answers with one and the same noise, kept after the first: broken.

    Their differences are exact.
    """
    return data + rng.laplace(scale=len(data) / epsilon, size=(size, 1))


def fresh_noise(
    data: Data, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.float64]:
    """All k answers, each with noise of its own and of scale k / epsilon: private."""
    return data + rng.laplace(scale=len(data) / epsilon, size=(size, len(data)))


def seed_from_data(
    data: Data, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.float64]:
    """Laplace noise from a generator seeded by a digest of the data, 'to reproduce it': broken.

    The answer is a function of the data.
    """
    del rng
    seed = int.from_bytes(hashlib.sha256(np.ascontiguousarray(data, dtype="<f8")).digest()[:8])
    noise = np.random.default_rng(seed).laplace(scale=1 / epsilon)
    return np.full(size, data[0] + noise)


def seed_from_outside(
    data: Data, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> NDArray[np.float64]:
    """Laplace noise from the generator that is passed in: private."""
    return data[0] + rng.laplace(scale=1 / epsilon, size=size)


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return both; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    return (
        Specimen(
            name="cached-noise",
            function=at(cached_noise, epsilon),
            twin=at(fresh_noise, epsilon),
            data=Answers(QUERIES),
            claim=DP(epsilon=e),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0), numbers(1, 0, 0)),
            known_loss=math.inf,
            source="made for the zoo",
            wrong="one noise for all answers of a run: their differences carry none",
        ),
        Specimen(
            name="seed-from-data",
            function=at(seed_from_data, epsilon),
            twin=at(seed_from_outside, epsilon),
            data=Answers(1),
            claim=DP(epsilon=e),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0), numbers(1)),
            known_loss=math.inf,
            source="made for the zoo",
            wrong="the seed is a digest of the data: who guesses the data knows the noise",
        ),
    )
