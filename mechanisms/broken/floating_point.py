"""Numbers that are no reals: noise in floating point, and noise that is rounded.

Source: Mironov (2012), On Significance of the Least Significant Bits for Differential Privacy, CCS.
A float holds 53 bits. x + noise with x = 1 and a result of at most 1/2 is a difference of two
numbers of at least 1/2, hence a whole multiple of 2^-53; with x = 0 the result is the noise itself,
and a small number has finer bits. So an answer of at most 1/2 in size and no multiple of 2^-53 says
that x was not 1: the loss is infinite, and the event was seen in 27 % of runs at epsilon 1.

The twin rounds the answer to a grid first, and draws from a table of whole numbers, without a
float.

`rounded_noise` is the mistake that 'rounding after noise' can be: to round the sum is harmless, as
nothing that is done to a private answer makes it less private; to round the noise keeps the
fraction of the answer.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

STEP = 0.25
"""Of the twin's grid."""
MOST = 8.0
"""Answers of the twin lie between -8 and 8."""
WHOLE = 2.0**52
"""What the twin's weights add up to, about."""
SPARE = 1e-6
"""Share of epsilon that pays for rounding the weights; enough for epsilon from 1e-3 to 1."""


def naive_laplace(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Laplace noise by the textbook formula, in floating point: broken."""
    noisy: Numbers = data[0] + rng.laplace(scale=1 / epsilon, size=size)
    return noisy


def grid_laplace(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Discrete Laplace noise on a grid, by whole numbers: private."""
    weights = np.cumsum(grid_weights(data[0], epsilon))
    drawn = rng.integers(0, weights[-1], size=size)
    places = np.searchsorted(weights, drawn, side="right").astype(np.float64)
    return places * STEP - MOST


def grid_weights(answer: float, epsilon: float) -> NDArray[np.int64]:
    """Weights of the points of the grid, the ends first and last: a truncated geometric law.

    Answers at most 1 apart are at most 1 / STEP steps apart on the grid.
    """
    steps = round(2 * MOST / STEP)
    place = int(np.clip(math.floor((answer + MOST) / STEP), 0, steps))
    decay = math.exp(-epsilon * STEP * (1 - SPARE))
    p = decay ** np.abs(np.arange(steps + 1) - place) * (1 - decay)
    p[0], p[-1] = (p[end] / (1 - decay) for end in (0, -1))  # what would fall outside
    return np.rint(WHOLE * p / (1 + decay)).astype(np.int64)


def rounded_noise(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Round the noise, then add it: broken."""
    noisy: Numbers = data[0] + np.rint(rng.laplace(scale=1 / epsilon, size=size))
    return noisy


def rounded_answer(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Add the noise, then round: private."""
    noisy: Numbers = np.rint(data[0] + rng.laplace(scale=1 / epsilon, size=size))
    return noisy


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return both; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    made = partial(Specimen, data=Answers(1), claim=DP(epsilon=e))
    return (
        made(
            name="naive-laplace",
            function=at(naive_laplace, epsilon),
            twin=at(grid_laplace, epsilon),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0), numbers(1)),
            known_loss=math.inf,
            bits=True,
            source="Mironov 2012",
            wrong="floats near 0 have finer bits than floats near 1: the last bits tell the answer",
        ),
        made(
            name="rounded-noise",
            function=at(rounded_noise, epsilon),
            twin=at(rounded_answer, epsilon),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(numbers(0), numbers(0.5)),
            known_loss=math.inf,
            source="made for the zoo",
            wrong="it rounds the noise, not the sum: the fraction of the answer stays as it is",
        ),
    )
