"""Sums and means of numbers, with noise for the wrong sensitivity.

Made for the zoo. Neighbours replace one number, so a sum of numbers in [a, b] moves by b - a at
most. Laplace noise of scale s on a value that moves by D loses D / s, whichever half-line is asked
for. Rounding of floats is left aside (see `floating_point`).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Scalars

FEW = 4
"""Numbers of a mean."""
SIZE = 5
"""Numbers of a sum."""
OUTLIER = 3.0
"""Largest number that comes to a sum which should have been clipped to [0, 1]."""


def half_the_scale(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum of numbers in [-1, 1] with noise of scale 1 / epsilon: broken, 2 / epsilon is right."""
    noisy: Numbers = data.sum() + rng.laplace(scale=1 / epsilon, size=size)
    return noisy


def whole_scale(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum of numbers in [-1, 1] with noise of scale 2 / epsilon: private."""
    noisy: Numbers = data.sum() + rng.laplace(scale=2 / epsilon, size=size)
    return noisy


def mean_of_known(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Mean of the numbers above 0, noise of scale 1 / (n epsilon): broken.

    0 stands for 'not known'. n is the size of the whole sample, but where a single number is known
    it is the mean.
    """
    noisy: Numbers = _mean(data) + rng.laplace(scale=1 / (len(data) * epsilon), size=size)
    return noisy


def mean_of_known_safely(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Mean of the numbers above 0, noise of scale 1 / epsilon: private."""
    noisy: Numbers = _mean(data) + rng.laplace(scale=1 / epsilon, size=size)
    return noisy


def _mean(data: Numbers) -> float:
    known = data[data > 0]
    return float(known.mean()) if len(known) else 0.0


def clipped_last(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum of the numbers as they come, noise of scale 1 / epsilon, then clipped: broken."""
    noisy = data.sum() + rng.laplace(scale=1 / epsilon, size=size)
    clipped: Numbers = np.clip(noisy, 0.0, len(data))
    return clipped


def clipped_first(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum of the numbers clipped to [0, 1], noise of scale 1 / epsilon, then clipped: private."""
    return clipped_last(np.clip(data, 0.0, 1.0), size, rng, epsilon=epsilon)


def scale_from_data(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum with noise of scale (largest - smallest number) / epsilon: broken.

    Where all numbers are equal there is no noise.
    """
    noisy: Numbers = data.sum() + rng.laplace(scale=np.ptp(data) / epsilon, size=size)
    return noisy


def scale_from_range(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sum of numbers in [0, 1] with noise of scale 1 / epsilon: private."""
    noisy: Numbers = data.sum() + rng.laplace(scale=1 / epsilon, size=size)
    return noisy


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the four; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    source, claim = "made for the zoo", DP(epsilon=e)
    made = partial(Specimen, claim=claim, source=source)
    return (
        made(
            name="half-the-scale",
            function=at(half_the_scale, epsilon),
            twin=at(whole_scale, epsilon),
            data=Scalars(-1.0, 1.0, size=SIZE),
            true_loss=2 * e,
            twin_loss=e,
            known_pair=(numbers(-1, 0, 0, 0, 0), numbers(1, 0, 0, 0, 0)),
            known_loss=2 * e,
            wrong="sensitivity of a sum taken as the largest number, 1; a number moves by 2",
        ),
        made(
            name="mean-of-known",
            function=at(mean_of_known, epsilon),
            twin=at(mean_of_known_safely, epsilon),
            data=Scalars(0.0, 1.0, size=FEW),
            true_loss=FEW * e,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0, 0), numbers(1, 0, 0, 0)),
            known_loss=FEW * e,
            wrong="sensitivity of a mean taken from the sample size; fewer numbers are averaged",
        ),
        made(
            name="clipped-last",
            function=at(clipped_last, epsilon),
            twin=at(clipped_first, epsilon),
            data=Scalars(0.0, OUTLIER, size=SIZE),
            true_loss=OUTLIER * e,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0, 0, 0), numbers(OUTLIER, 0, 0, 0, 0)),
            known_loss=OUTLIER * e,
            wrong="noise is added before clipping, so that an outlier counts in full",
        ),
        made(
            name="scale-from-data",
            function=at(scale_from_data, epsilon),
            twin=at(scale_from_range, epsilon),
            data=Scalars(0.0, 1.0, size=SIZE),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0, 0, 0, 0, 0), numbers(1, 0, 0, 0, 0)),
            known_loss=math.inf,
            wrong="the scale of the noise comes from the data; it is 0 where all are equal",
        ),
    )
