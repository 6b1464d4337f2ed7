"""Rows against values that were derived from the papers alone, without the code that is tested.

Each entry is a row, a case, the number that the statement allows there, and the true one, both by
hand arithmetic: only elementary functions, never a function of the package.
"""

from __future__ import annotations

import itertools
import math
from math import e, exp, log, log1p, sqrt, tanh
from typing import Any, Final

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

from dpassay.theorems.registry import every_row

DF, DG, CV = "dwork-feldman-2018/", "dagan-feldman-2020/", "chaudhuri-vinterbo-2013/"
ROWS: Final = {row.key: row for row in every_row()}
Entry = tuple[str, dict[str, Any], float, float]


def sigma(z: float) -> float:
    """Logistic function."""
    return 1 / (1 + exp(-z))


def majority(epsilon: float, r: int) -> float:
    """All r of one mind, then one dissents: what the other label's chance grows by."""
    return log((1 + exp(epsilon * r / 2)) / (1 + exp(epsilon * (r - 2) / 2)))


def vote_error(alpha: float, epsilon: float) -> float:
    """Worst mix of 'all right' and 'w of r wrong' whose mean number wrong is alpha r/4."""
    r = math.ceil(6 * log(4 / alpha) / epsilon)
    right = sigma(-epsilon * r / 2)
    return max(
        right + min(1, alpha * r / (4 * w)) * (sigma(-epsilon * (r / 2 - w)) - right)
        for w in range(1, r + 1)
    )


def amplified(eta: float, epsilon: float) -> float:
    """T holds the changed record with probability eta; without it all is as if it were swapped."""
    return log1p(eta * (exp(epsilon) - 1))


def exceeding(k: int, delta0: float) -> float:
    """All others lie just below the allowed gap x, e^-x = delta0/k: one is above the best."""
    return 1 - (1 - (1 - delta0 / k) ** k) / delta0


def flipped(alpha: float, gamma: float) -> float:
    """Chances 0 and gamma before the flip; the rarer label of the two afterwards."""
    rare = min(alpha, 1 - alpha)
    return log1p(gamma * abs(1 - 2 * alpha) / rare)


def noisy_vote(r: int, epsilon: float) -> float:
    """No votes: E max(0, noise) less E max(0, noise - 1), scale b = 1/(r epsilon)."""
    b = 1 / (r * epsilon)
    return b / 2 * (1 - exp(-1 / b))


def split_loss(alpha: float) -> float:
    """The solution of alpha = k(e^a - 1)a + sqrt(2k log(1/delta))a, k = 10, delta = .01."""
    slope = sqrt(20 * log(100))
    return float(brentq(lambda a: 10 * a * (exp(a) - 1) + slope * a - alpha, 1e-9, 5, xtol=1e-14))


EIGHT: Final = {"x": [1] * 8, "T": 1, "k": 1, "epsilon": 10.0, "traversed": "up-to"}
E_BELOW: Final = {"T": 1, "k": 1, "epsilon": 10.0, "ties": "sum", "traversed": "below"}
PRINTED: Final = {"calibration": "section 3"}
UNSTABLE: Final = e * (exp(0.5) - 1) / ((e + 1) * (e + exp(0.5)))
SPLIT: Final = {"alpha": 0.3, "k": 10, "delta": 0.01}
PSGD_3: Final = {"n": 3, "order": "fixed"}

EXACT: Final[list[Entry]] = [
    (DF + "definition-1.1/any-generator", {"m": 1, "r": 2, "epsilon": 1.0}, 1, log((1 + e) / 2)),
    (DF + "section-4.1-soft-majority/privacy", {"r": 2, "epsilon": 1.0}, 1, log((1 + e**2) / 2)),
    (DF + "theorem-4.1/privacy", {"r": 3, "epsilon": 1.0}, 1, majority(1, 3)),
    (DF + "theorem-4.1/utility", {"alpha": 0.01, "epsilon": 0.1}, 0.01, vote_error(0.01, 0.1)),
    (DF + "theorem-4.1/answer-coins", {"alpha": 0.5, "epsilon": 1.0, "beta": 0.001}, 0.001,
        sigma(-6.5)),
    (DF + "theorem-4.1-exponent/printed", {"alpha": 0.5}, 1 / 8, 8),
    (DF + "theorem-4.3/coin", {"d": 1, "alpha": 0.5, "epsilon": 1.0}, 1 / 16, 0),
    (DF + "theorem-4.3/constants", {"alpha": 0.01, "epsilon": 2.6}, 1 / 0.832, 1),
    (DF + "theorem-4.3/constants", {"alpha": 0.01, "epsilon": 1.0}, 1 / 0.32, 3),
    (DF + "theorem-4.3-tail/binomial", {"d": 8, "inverse_epsilon": 1}, 1 / 24, 1 / 8),
    (DF + "lemma-3.1/delta", {"k": 2, "epsilon": 1.0, "delta": 1e-5}, 2 * e * 1e-5, (1 + e) * 1e-5),
    (DF + "lemma-4.5/printed-scale", {"epsilon": 0.5, "gamma": 1.0}, 0.5, 2),
    (DF + "lemma-4.5-1/kink", {"epsilon": 0.5, "gamma": 1.0, "L": 3.0, "away": [0.0]}, 6, 6),
    (DF + "lemma-4.5-2/printed", {"sigma": 0.5, "gamma": 1.0, "epsilon": 1.0}, 1 / 4, 1 / 2),
    (DF + "lemma-4.5-2/proof", {"sigma": 0.5, "gamma": 3.0, "epsilon": 1.0}, 4.5, 4.5),
    (DF + "lemma-4.5-2/any-algorithm", {"sigma": 1 / 16, "epsilon": 1.0}, 1 / 256,
        e / (1 + e) ** 2 / 32),
    (DF + "lemma-4.6/stability", {"r": 2}, 1 / 2, 1 / 2),
    (DF + "lemma-4.6/failures", {"r": 2, "beta": 0.1}, 0.2, 0.19),
    (DF + "corollary-4.7/noise", {"alpha": 1.0, "epsilon": 1.0}, 0.5, noisy_vote(2, 1.0)),
    (DF + "corollary-4.7/one-point", {"alpha": 0.4, "epsilon": 1.0, "beta": 0.25}, 0.25,
        1 - 0.8**5 - 5 * 0.2 * 0.8**4),
    (DF + "theorem-4.9/sum", {"n": 5, "loss": "hinge", "lambda_": 1.0}, 4 / 5, 1),
    (DF + "corollary-4.11/privacy-sum", {"n": 5, "epsilon": 1.0}, 1, 5 / 4),
    (DF + "theorem-4.12/fixed-before", PSGD_3 | {"average": "before"}, 1 / sqrt(3),
        4 / 3 / sqrt(3)),
    (DF + "theorem-4.12/fixed-after", PSGD_3 | {"n": 1, "average": "after"}, 1, 2),
    (DF + "theorem-4.12/random-after", {"n": 1, "average": "after", "order": "random"}, 1, 2),
    (DF + "corollary-4.13/privacy-fixed", {"n": 1, "average": "after", "epsilon": 0.5}, 0.5, 1),
    (DF + "section-4.4-other-bounds/printed-step", {"C": 1, "epsilon": 1 / 16}, 4 * sqrt(17), 18),
    (DF + "section-4.4-other-bounds/printed-step", {"C": 10, "epsilon": 1 / 1600}, 40 * sqrt(1601),
        1602),
    (DF + "section-4.4-other-bounds/smooth", {"noise": 1.0}, 12, 8),
    (DF + "section-4.4-other-bounds/own-step", {"epsilon": 1.0}, 4 * sqrt(2), sqrt(5)),
    (DF + "lemma-5.1/privacy", {"T": 2, "epsilon": 1.0}, 1, log((1 + e) / 2)),
    (DF + "lemma-5.2/ties-in-order", EIGHT | {"y": [1] * 6 + [0] * 2, "ties": "index"},
        5 / 8 + exp(-5), (6 * sigma(5) + 2 * sigma(-5)) / 8),
    (DF + "lemma-5.2/smaller-points", E_BELOW | {"x": [1, 2, 2, 2], "y": [0, 1, 1, 1]},
        3 / 4 + exp(-5), (1 / 2 + 3 * sigma(5)) / 4),
    (DF + "theorem-5.3-agnostic-step/bound", {"alpha": 0.5, "best": 0.0}, 1 / 2, exp(0.25) / 2),
    (DF + "theorem-5.3-best/one-point", {"n": 3, "tenths": 5}, 1 / 2, 1 / 4),
    (DF + "lemma-6.4/membership", {"n": 1, "k": 2, "odds": [2, 1], "N": 10}, 16, 0.1 + 0.9 * 4),
    (DF + "lemma-6.4-group/printed", {"k": 2, "epsilon": 2.0, "delta": 1e-15}, 2 * e * 1e-15,
        (1 + e**2) * 1e-15),
    (DF + "lemma-6.5/membership", {"n": 1, "N": 2, "odds": 81, "beta": [1, 3]}, 1 / 3, 1 / 2),
    (DF + "lemma-6.5-markov/half", {"N": 2, "odds": 81, "t": 9}, 1 / 3, 1 / 2),
    (DG + "section-2-stable/tanh", {"epsilon": 1.0}, e - 1, tanh(1 / 2)),
    (DG + "lemma-5/random-order", {"eta": 0.5, "epsilon": 0.5}, 0.5, amplified(0.5, 0.5)),
    (DG + "section-1.1-flip/above", {"alpha": 0.75, "epsilon": 0.01, "calibration": "overview"},
        0.01, flipped(0.75, 0.0075)),
    (DG + "section-3-conversion/privacy-above", {"alpha": 0.84, "epsilon": 0.01} | PRINTED, 0.01,
        flipped(0.84, 0.0042)),
    (DG + "section-3-outline/rounded-down", {"gamma": 0.01, "n": 1001}, 0.01,
        5 / 1001 + 996 / 1001 * tanh(0.01 / 16)),
    (DG + "section-3-outline/exponential", {"percent": 100}, 1 / 2, exp(1 / 4) - 1),
    (DG + "theorem-4/functions", {"d": 2, "gamma": 1.0, "alpha": 0.25}, 1 / 2, 1),
    (DG + "lemma-7/stability", {"gamma": 0.01, "n": 1001}, 0.03,
        10 / 1001 + 991 / 1001 * tanh(0.01 / 4)),
    (DG + "remark-1/corner", {"C": 1, "alpha": 7 / 8}, 8 / 7, 2),
    (DG + "equation-13/half", {"n": 3, "n_prime": 2}, 3 / 2, 1),
    (DG + "equation-13/below", {"n": 4, "n_prime": 1}, 2 * exp(6), 4 * exp(6) / 3),
    (CV + "theorem-1/good", {"k": 2, "alpha2": 1.0, "most": 4}, 1, 1),
    (CV + "theorem-1/bad", {"k": 2, "delta": 0.5}, 1 / 2, 7 / 16),
    (CV + "joint-release/literal", {"alpha1": 1.0, "alpha2": 0.5, "delta": 0.0}, 0.5, 1),
    (CV + "theorem-3/worst", {"k": 2, "delta0": 0.5}, 1 / 2, 1 / 8),
    (CV + "theorem-3/worst", {"k": 10, "delta0": 0.1}, 0.1, exceeding(10, 0.1)),
    (CV + "theorem-4-norm/released", {"algorithm": 4, "lambda_": 16.0, "n": 1, "R": 1.0}, 1 / 8,
        3 / 16),
    (CV + "section-5-split/solved", SPLIT, -0.0003, 0.03 - split_loss(0.3)),
    (CV + "section-5-split/solved", SPLIT | {"alpha": 5.0}, 0, 0.5 - split_loss(5.0)),
    (CV + "section-6.1-unstable/formula", {"n": 8, "alpha": 1.0}, UNSTABLE, UNSTABLE),
    (CV + "section-6.1-privacy/standard-deviation", {"n": 1, "l": 3, "alpha": 1.0}, 1,
        1 / 4 + log((1 + 2 * exp(1 / 4)) / (2 + exp(1 / 4))) + 1 / sqrt(2)),
    (CV + "theorem-6/beta2", {"bins": [2], "delta": 0.5, "alpha": 1.0}, 4, 4),
    (CV + "theorem-6-cases/first", {"most": 2}, 4, 4 - 2 / 3),
    (CV + "lemma-1-ratio/as-printed", {"alpha2": 0.1, "beta": 1.0, "gamma": 0.0}, 0.1, 0.2),
    (CV + "lemma-3/factor", {"s": 2, "t": 0.0}, 4, 4),
    (CV + "lemma-4/by-content", {"n": 1, "k": 2, "alpha": 1.0}, 1, 2),
]  # fmt: skip


@pytest.mark.parametrize(("key", "case", "claimed", "true"), EXACT, ids=lambda each: str(each)[:60])
def test_a_value_of_the_oracle(key: str, case: dict[str, Any], claimed: float, true: float) -> None:
    found = ROWS[key].measure(**case)
    assert found.claimed == pytest.approx(claimed, rel=1e-9, abs=1e-15)
    assert found.lower == pytest.approx(true, rel=1e-7, abs=1e-15)
    assert found.upper == pytest.approx(true, rel=1e-7, abs=1e-15)


def test_the_sign_in_the_update_needs_three_records() -> None:
    """The lone record moves w_2, ..., w_n to eta or -eta, whichever the sign: 2 (n - 1)/n eta."""
    climb = ROWS[DF + "theorem-4.12/plus-sign"].measure
    for n, refuted in ((2, False), (3, True)):
        found = climb(n=n, loss="smooth-hinge", which=0)
        assert found.lower == pytest.approx(2 * (n - 1) / n / sqrt(n))
        assert (found.lower > found.claimed + 1e-9) is refuted


def test_the_hinge_loss_has_no_epsilon() -> None:
    """w = 1 has a chance of its own on D only: the loss grows without bound as ln(10.7/t)."""
    hinge = ROWS[CV + "section-4.1-algorithms/hinge"].measure
    for t in (1e-3, 1e-6):
        found = hinge(lambda_=0.1, alpha=1.0, length=t)
        by_hand = log((exp(-0.1) - exp(-0.6)) / (0.1 * t * exp(-1.1)))
        assert found.lower == pytest.approx(by_hand, abs=2e-3)
        assert found.upper == math.inf


def test_a_single_bin_never_moves() -> None:
    found = ROWS[CV + "theorem-6/beta1"].measure(bins=[1], delta=0.5, alpha=1.0)
    assert (found.lower, found.upper) == (0.0, 0.0)


def test_no_algorithm_beats_the_bound_of_lemma_4_5() -> None:
    """A linear programme over all laws on a grid of answers that holds the two that attain it."""
    epsilon, sigma_ = 1.0, 1 / 16
    o = np.union1d(np.linspace(-1, 2, 61), [1 / (1 + e), e / (1 + e)])
    m, zero, one = len(o), np.zeros(len(o)), np.ones(len(o))
    costs = np.array([[*o**2, *zero, -1], [*zero, *(1 - o) ** 2, -1]])
    near = np.hstack([np.eye(m), -exp(epsilon) * np.eye(m), np.zeros((m, 1))])
    far = np.hstack([-exp(epsilon) * np.eye(m), np.eye(m), np.zeros((m, 1))])
    total = np.array([[*one, *zero, 0], [*zero, *one, 0]])
    rows = np.vstack([costs, near, far])
    least = linprog([*zero, *zero, 1], rows, np.zeros(len(rows)), total, [1, 1])
    found = ROWS[DF + "lemma-4.5-2/any-algorithm"].measure(sigma=sigma_, epsilon=epsilon)
    assert least.fun is not None
    assert sigma_ / 2 * least.fun == pytest.approx(found.lower, rel=1e-6)
    assert found.lower > found.claimed


def excess(groups: list[tuple[int, ...]], T: int) -> float:
    """n (Err - Opt) of the walk through x_i <= x in the order given, epsilon to infinity, k = 1."""
    v, wrong = 0, 0.0
    for group in groups:
        for y in group:
            v = max(-T, min(T, v + 2 * y - 1))
        wrong += sum(0.5 if v == 0 else float((v > 0) != y) for y in group)
    ones, sizes = [sum(group) for group in groups], [len(group) for group in groups]
    cuts = range(len(groups) + 1)
    return wrong - min(sum(ones[:c]) + sum(sizes[c:]) - sum(ones[c:]) for c in cuts)


def test_fewer_than_eight_tied_examples_are_no_witness() -> None:
    """A finite epsilon adds sigma(-epsilon T/2) at most, less than the e^(-epsilon T/2) allowed."""
    worst: dict[tuple[int, int], float] = {}
    for n, T in itertools.product(range(1, 9), (1, 2)):
        for cut in itertools.product((0, 1), repeat=n - 1):
            ends = [0, *(i + 1 for i, each in enumerate(cut) if each), n]
            for y in itertools.product((0, 1), repeat=n):
                groups = [y[a:b] for a, b in itertools.pairwise(ends)]
                worst[n, T] = max(worst.get((n, T), 0.0), excess(groups, T))
    assert [worst[n, 1] for n in range(1, 9)] == [0, 0.5, 0.5, 1, 1.5, 2, 3, 4]
    assert max(worst[n, 2] for n in range(1, 9)) <= 6
