"""Sparse vector: which of many answers lie above a threshold, six published variants.

Source: Lyu, Su and Li (2017), Understanding the Sparse Vector Technique for Differential Privacy,
VLDB 10(6), Figure 1. The threshold T gets noise rho once, the answer q_i of query i noise nu_i; the
output says of each query whether q_i + nu_i >= T + rho (1, 'above') or not (0, 'below'), and most
variants stop after c times 'above' (-1 from there on). Sensitivity 1. Here c = 1 and T = 1.

| variant | share 1 | rho | nu | stops | answers with | private |
|---|---|---|---|---|---|---|
| 1 (Lyu et al.) | 1/2 | Lap(1 / e1) | Lap(2c / e2) | yes | 0, 1 | epsilon |
| 2 (Dwork and Roth 2014) | 1/2 | Lap(c / e1), anew after 1 | Lap(2c / e2) | yes | 0, 1 | epsilon |
| 3 (Roth 2011) | 1/2 | Lap(1 / e1) | Lap(c / e2) | yes | q + nu for 1 | no |
| 4 (Lee and Clifton 2014) | 1/4 | Lap(1 / e1) | Lap(1 / e2) | yes | 0, 1 | (1 + 6c) epsilon / 4 |
| 5 (Stoddard et al. 2014) | 1/2 | Lap(1 / e1) | none | no | 0, 1 | no |
| 6 (Chen et al. 2015) | 1/2 | Lap(1 / e1) | Lap(1 / e2) | no | 0, 1 | no |

e1 is share 1 of epsilon, e2 the rest. Variants 3 and 6 lose more with every query, so for ten of
them the loss is finite: a query moves the law of its own noise by e2 / c or less, whatever rho, so
10 e2 is a bound. Variant 3 attains it: all answers one higher, nine times 'below' and then a value
below the smallest answer. Variant 6 approaches it.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.mechanisms.broken.specimen import Numbers, Specimen, at, numbers
from dpassay.search.spaces import Answers

QUERIES = 10
THRESHOLD = 1.0
CUT_OFF = 1
"""c: after so many answers above the threshold the mechanism stops."""

Transcripts = NDArray[np.int8]


def _stopped(above: NDArray[np.bool_]) -> Transcripts:
    """Transcripts that end after the c-th 'above', shape (size, queries)."""
    before = np.cumsum(above, axis=1, dtype=np.int8) - above
    return np.where(before >= CUT_OFF, np.int8(-1), above)


def svt_1(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Transcripts:
    """Algorithm 1: private."""
    e1 = e2 = epsilon / 2
    rho = rng.laplace(scale=1 / e1, size=(size, 1))
    nu = rng.laplace(scale=2 * CUT_OFF / e2, size=(size, len(data)))
    return _stopped(data + nu >= THRESHOLD + rho)


def svt_2(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Transcripts:
    """Algorithm 2: private; a new threshold after each 'above'."""
    e1 = e2 = epsilon / 2
    rho = rng.laplace(scale=CUT_OFF / e1, size=size)
    above = np.empty((size, len(data)), dtype=bool)
    for i, answer in enumerate(data):
        nu = rng.laplace(scale=2 * CUT_OFF / e2, size=size)
        above[:, i] = answer + nu >= THRESHOLD + rho
        rho = np.where(above[:, i], rng.laplace(scale=CUT_OFF / e1, size=size), rho)
    return _stopped(above)


def svt_3(data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0) -> Numbers:
    """Algorithm 3: broken.

    It answers with the noisy value that it compared: -inf stands for 'below', nan for a query that
    came after the end.
    """
    e1 = e2 = epsilon / 2
    rho = rng.laplace(scale=1 / e1, size=(size, 1))
    noisy = data + rng.laplace(scale=CUT_OFF / e2, size=(size, len(data)))
    return _with_values(_stopped(noisy >= THRESHOLD + rho), noisy)


def svt_numbers(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Numbers:
    """Sparse vector that answers with a value of fresh noise: private.

    A third of epsilon each for the threshold, the comparisons and the values (Wang et al. 2019,
    PLDI, 'numerical sparse vector').
    """
    third = epsilon / 3
    rho = rng.laplace(scale=1 / third, size=(size, 1))
    nu = rng.laplace(scale=2 * CUT_OFF / third, size=(size, len(data)))
    fresh = data + rng.laplace(scale=CUT_OFF / third, size=(size, len(data)))
    return _with_values(_stopped(data + nu >= THRESHOLD + rho), fresh)


def _with_values(transcripts: Transcripts, values: Numbers) -> Numbers:
    return np.where(transcripts == 1, values, np.where(transcripts == 0, -np.inf, np.nan))


def svt_4(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Transcripts:
    """Algorithm 4: broken; its noise forgets c, and that an answer 'above' costs twice."""
    e1 = epsilon / 4
    e2 = epsilon - e1
    rho = rng.laplace(scale=1 / e1, size=(size, 1))
    nu = rng.laplace(scale=1 / e2, size=(size, len(data)))
    return _stopped(data + nu >= THRESHOLD + rho)


def svt_5(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Transcripts:
    """Algorithm 5: broken; no noise on the answers, and no end."""
    rho = rng.laplace(scale=2 / epsilon, size=(size, 1))
    return (data >= THRESHOLD + rho).astype(np.int8)


def svt_6(
    data: Numbers, size: int, rng: np.random.Generator, *, epsilon: float = 1.0
) -> Transcripts:
    """Algorithm 6: broken; no end."""
    e1 = e2 = epsilon / 2
    rho = rng.laplace(scale=1 / e1, size=(size, 1))
    nu = rng.laplace(scale=1 / e2, size=(size, len(data)))
    return (data + nu >= THRESHOLD + rho).astype(np.int8)


EQUAL = numbers(*[1.0] * QUERIES)
HALVES = numbers(*[2.0] * 5, *[0.0] * 5)
"""Half of the answers one up, the others one down."""
FOURTH = numbers(2, 2, 2, 0, *[2.0] * 6)
"""The fourth answer one down, the others one up: three times 'below', then 'above'."""


def _fourth(epsilon: float) -> float:
    """Loss of variant 4 between `EQUAL` and `FOURTH`: of the transcript 0, 0, 0, 1.

    The integral over rho, in scales of nu, of its density times F(z)^3 (1 - F(z)), and the same for
    F(z - s)^3 (1 - F(z + s)), piece by piece between the kinks; s = 3 epsilon / 4, and rho has a
    scale of 3.
    """
    s = 3 * epsilon / 4
    equal = 3 / 80 - 3 / 208 + 3 / 8 - 9 / 28 + 9 / 80 - 3 / 208
    shifted = (
        math.exp(-19 * s / 3) / 8 * (3 / 10 - 3 / 26)
        - math.exp(-4 * s) / 16 * 3 / 7 * math.expm1(-7 * s / 3)
        + math.exp(-4 * s) / 16 * 3 / 5 * math.expm1(5 * s / 3)
        + math.exp(-7 * s / 3) / 2 * (3 / 4 - 9 / 14 + 9 / 40 - 3 / 104)
    )
    return math.log(equal / shifted)


def _fourth_with_value(epsilon: float) -> float:
    """Loss of variant 3 between `EQUAL` and `FOURTH`: of nine times 'below', then the value 1.

    All noise has one scale; with u = F(rho), s = epsilon / 2 and u0 = e^-s / 2 the integrals are
    that of u^9 up to 1/2, and e^-9s times that of u^9 e^s up to u0 and of u^8 (1 - e^-s / (4 u))
    from there to 1/2.
    """
    s = epsilon / 2
    u0 = math.exp(-s) / 2
    equal = 2.0**-10 / 10
    shifted = (
        math.exp(s) * u0**10 / 10 + (2.0**-9 - u0**9) / 9 - math.exp(-s) / 4 * (2.0**-8 - u0**8) / 8
    )
    return 9 * s + math.log(equal / shifted)


def _halves(epsilon: float) -> float:
    """Loss of variant 6 between `EQUAL` and `HALVES`: of five times 'below', five times 'above'.

    With u the distribution function of rho the integral is B(6, 6) = 1 / 2772 on equal answers, and
    e^(-10 s) ((1 - e^-s) / 4^5 + e^-s / 2772) on the others, s = epsilon / 2.
    """
    s = epsilon / 2
    return 10 * s - math.log(2772 / 1024 * -math.expm1(-s) + math.exp(-s))


def members(epsilon: float | None = None) -> tuple[Specimen, ...]:
    """Return the broken variants; epsilon 1 unless another is asked for."""
    e = 1.0 if epsilon is None else epsilon
    source = "Lyu, Su and Li 2017, Algorithm {}; twin: {}"
    data, claim = Answers(QUERIES), DP(epsilon=e)
    made = partial(Specimen, data=data, claim=claim)
    return (
        made(
            name="svt-3",
            function=at(svt_3, epsilon),
            twin=at(svt_numbers, epsilon),
            true_loss=5 * e,
            twin_loss=e,
            known_pair=(EQUAL, FOURTH),
            known_loss=_fourth_with_value(e),
            source=source.format("3 (Roth 2011)", "numerical sparse vector, Wang et al. 2019"),
            wrong="it releases the value it compared, so that each 'below' costs",
        ),
        made(
            name="svt-4",
            function=at(svt_4, epsilon),
            twin=at(svt_1, epsilon),
            true_loss=1.75 * e,
            twin_loss=e,
            known_pair=(EQUAL, FOURTH),
            known_loss=_fourth(e),
            source=source.format("4 (Lee and Clifton 2014)", "Algorithm 1"),
            wrong="an answer 'above' costs 2 e2, as the threshold moves too; it counts e2",
        ),
        made(
            name="svt-5",
            function=at(svt_5, epsilon),
            twin=at(svt_2, epsilon),
            true_loss=math.inf,
            twin_loss=e,
            known_pair=(EQUAL, HALVES),
            known_loss=math.inf,
            source=source.format("5 (Stoddard et al. 2014)", "Algorithm 2"),
            wrong="the answers get no noise, so that it tells for sure which of two is larger",
        ),
        made(
            name="svt-6",
            function=at(svt_6, epsilon),
            twin=at(svt_1, epsilon),
            true_loss=5 * e,
            twin_loss=e,
            known_pair=(EQUAL, HALVES),
            known_loss=_halves(e),
            source=source.format("6 (Chen et al. 2015)", "Algorithm 1"),
            wrong="it never stops: each answer costs, and it pays for one 'above'",
        ),
    )
