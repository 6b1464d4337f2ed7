"""What is released together with the index: the proofs of Lemmas 1 and 2, and Theorem 2."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.chaudhuri_vinterbo_2013._audited import loss_of
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

PAPER = "chaudhuri-vinterbo-2013"
Array = NDArray[np.float64]
TITLE = "Lemmas 1 and 2 where h is released too"


def single_cases(_: Effort) -> Iterator[Case]:
    """One parameter: the index says nothing, and what is trained says alpha1."""
    for alpha1, alpha2, delta in itertools.product((1.0, 2.0), (0.5, 0.1), (0.0, 0.01)):
        yield {"alpha1": alpha1, "alpha2": alpha2, "delta": delta}


def single(alpha1: float, alpha2: float, delta: float) -> Measured:
    """Loss at delta of (i*, h), h = mean + Z/(alpha1 n), the procedure of section 2.

    Half-lines are the worst events of Laplace noise: e^(eps - alpha1) (1 - delta)^-2 = 1. With q =
    -h the score is (1, 0, 0)-stable.
    """
    value = max(0.0, alpha1 + 2 * math.log1p(-delta))
    return computed(alpha2, value, 8 * UNIT_ROUNDOFF * (1 + alpha1))


def strings_cases(effort: Effort) -> Iterator[Case]:
    """Losses of training and of the choice, and what moves."""
    for alpha1, alpha2, moved in itertools.product(
        (0.5, 1.0, effort.of(2.0, 3.0)), (0.1, 0.5, 1.0, 2.0, 4.0), ("T", "V")
    ):
        yield {"alpha1": alpha1, "alpha2": alpha2, "moved": moved, "reach": effort.of(60, 200)}


def same_strings(alpha1: float, alpha2: float, moved: str, reach: int) -> Measured:
    """Loss of (i*, h) where h is what i* was chosen by; derived: max(alpha1 + alpha2/2, alpha2).

    T is a bit, h_i = T + R_i for i = 1, 2 with R_i two-sided geometric, e^-alpha1; the scores are
    h_1 and -h_2 in units of beta, and V = 1 adds 1 to the first and takes 1 from the second. Looked
    at are all (i, h), |h| <= reach.
    """
    h = np.arange(-reach, reach + 1)
    t, v = (1, 0) if moved == "T" else (0, 1)
    before, error = joint_log_p(h, 0, 0, alpha1, alpha2)
    after, _ = joint_log_p(h, t, v, alpha1, alpha2)
    worst = float(np.abs(before - after).max())
    return computed(max(alpha1 + alpha2 / 2, alpha2), worst, 2 * error)


def joint_log_p(
    h: NDArray[np.int64], t: int, v: int, alpha1: float, alpha2: float
) -> tuple[Array, float]:
    """Return ln P[i* = i, h_i = h], shape (2, len(h)), and the error of each.

    Sums over the other string; what is left away is at most e^-300 of each sum.
    """
    far = math.ceil((400 + alpha2 * np.abs(h).max()) / alpha1)
    r = np.arange(-far, far + 1)
    log_g = math.log(math.tanh(alpha1 / 2)) - alpha1 * np.abs(r)
    own = math.log(math.tanh(alpha1 / 2)) - alpha1 * np.abs(h - t)
    lead = alpha2 / 2 * np.add.outer(h + v, t + r + v)  # (h_1 + v) - (-h_2 - v), either being h
    logs = [own + logsumexp(log_g + wins(each), axis=1) for each in (lead, -lead)]
    return np.array(logs), 1e-9 * (1 + alpha2)


def wins(x: Array) -> Array:
    """Logarithm of the chance that a score x means ahead wins: 1 - e^-x/2, or e^x/2."""
    chance = np.exp(-np.abs(x)) / 2
    behind: Array = np.where(x < 0, -np.abs(x) - math.log(2), np.log1p(-chance))
    return behind


def algorithm_2_cases(effort: Effort) -> Iterator[Case]:
    """Own pairs, and all datasets of a few records."""
    for alpha1, alpha2 in itertools.product((0.5, 2.0), (0.5, 2.0)):
        yield {"alpha1": alpha1, "alpha2": alpha2, "n": None}
    for alpha1 in effort.of((1.0,), (1.0, 2.0)):
        yield {"alpha1": alpha1, "alpha2": 1.0, "n": effort.of(4, 5)}


def algorithm_2(alpha1: float, alpha2: float, n: int | None) -> Measured:
    """Loss of a label of Algorithm 2 over output perturbation, at delta = .01."""
    base = "output-perturbation,lambdas=0.1;1"
    given = {"alpha1": alpha1, "alpha2": alpha2, "base": base, "m": 2, "delta": 0.01}
    domain = None if n is None else (n, 1)
    return loss_of(alpha1 + alpha2, "validate-train", given, delta=0.01, domain=domain)


def over_algorithm_3_cases(_: Effort) -> Iterator[Case]:
    """The example of the findings."""
    yield {"alpha2": 0.5, "delta": 1e-9}


def over_algorithm_3(alpha2: float, delta: float) -> Measured:
    """Loss of a bin of the weight of Algorithm 2 over Algorithm 3 with alpha1 = 1."""
    given = {"alpha2": alpha2, "delta": delta}
    return loss_of(1 + alpha2, "algorithm-2-over-algorithm-3", given, delta=delta)


ROWS = (
    Row(
        key=f"{PAPER}/theorem-2/output-perturbation",
        checks="Algorithm 2 over Algorithm 4 loses at most alpha1 + alpha2 but for delta",
        quantity="loss of a label at delta = .01, in nats",
        method="exact",
        domain="own worst pairs, alpha1, alpha2 in {.5, 2}; all datasets of 4 records at 1 point",
        cases=algorithm_2_cases,
        measure=algorithm_2,
    ),
    Row(
        key=f"{PAPER}/theorem-2/algorithm-3",
        checks="the same over Algorithm 3 run with alpha1, as line 3 has it",
        quantity="loss of a bin of the weight at delta, in nats",
        method="exact",
        domain="Huber loss, h = 1/2, n = 2, both lambda = 1/2, alpha1 = 1, alpha2 = 1/2",
        cases=over_algorithm_3_cases,
        measure=over_algorithm_3,
        verdict="refuted",
        derivation="Algorithm 2 over Algorithm 3",
    ),
    Row(
        key=f"{PAPER}/joint-release/literal",
        checks="S = (I, C) taken at its word: (i*, h) loses at most alpha2 but for delta",
        quantity="loss at delta, in nats",
        method="exact",
        domain="k = 1, the noisy mean; alpha1 in {1, 2}, alpha2 in {.5, .1}, delta in {0, .01}",
        cases=single_cases,
        measure=single,
        verdict="refuted",
        derivation=TITLE,
    ),
    Row(
        key=f"{PAPER}/joint-release/same-strings",
        checks="(i*, h_i*) without training afresh loses max(alpha1 + alpha2/2, alpha2) at most",
        quantity="loss in nats",
        method="exact",
        domain="two geometric mechanisms whose scores part; alpha1 and alpha2 from .1 to 4",
        cases=strings_cases,
        measure=same_strings,
    ),
)
