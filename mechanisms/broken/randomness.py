"""Noise that is not fresh: one draw for several answers, and a seed made from the data.

Made for the zoo. Both are laws of one run: `size` runs are independent, and a new process draws the
same law. So both can be refuted; of noise seeded by the data an auditor may also say `error`, since
runs that all answer the same look like a generator that is not drawn from.
"""

from __future__ import annotations

import hashlib
import math
from functools import partial

import numpy as np

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

QUERIES = 3


def cached_noise(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """All the answers with one and the same noise, kept after the first: broken.

    Their differences are exact.
    """
    noisy: Numbers = data + rng.laplace(scale=len(data) / epsilon, size=(size, 1))
    return noisy


def fresh_noise(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """All k answers, each with noise of its own and of scale k / epsilon: private."""
    noisy: Numbers = data + rng.laplace(scale=len(data) / epsilon, size=(size, len(data)))
    return noisy


def seed_from_data(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Laplace noise from a generator seeded by a digest of the data, 'to reproduce it': broken.

    The answer is a function of the data.
    """
    del rng
    seed = hashlib.sha256(data.astype("<f8").tobytes()).digest()
    noise = np.random.default_rng(int.from_bytes(seed)).laplace(scale=1 / epsilon)
    return np.full(size, float(data[0]) + noise)


def seed_from_outside(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Laplace noise from the generator that is passed in: private."""
    noisy: Numbers = data[0] + rng.laplace(scale=1 / epsilon, size=size)
    return noisy


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return both; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    made = partial(Specimen, claim=DP(epsilon=e), source="made for the zoo")
    return (
        made(
            name="cached-noise",
            function=at(cached_noise, epsilon),
            twin=at(fresh_noise, epsilon),
            data=Answers(QUERIES),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0), numbers(1, 0, 0)),
            known_loss=math.inf,
            wrong="one noise for all answers of a run: their differences carry none",
        ),
        made(
            name="seed-from-data",
            function=at(seed_from_data, epsilon),
            twin=at(seed_from_outside, epsilon),
            data=Answers(1),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0), numbers(1)),
            known_loss=math.inf,
            wrong="the seed is a digest of the data: who guesses the data knows the noise",
        ),
    )
