"""Section 6.1: the formula as printed, shares of bad strings, and the hand-sized witness."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential import quantile
from dpassay.theorems.chaudhuri_vinterbo_2013.example_6_1 import (
    bad_share,
    index_differs,
    most_outside,
    stable_end,
    stable_step,
)


def test_the_index_by_the_weights_of_the_mechanism() -> None:
    n, alpha = 6, 1.0
    before = np.exp(n * alpha / 4 * np.array([1, 0.5]))
    after = np.exp(n * alpha / 4 * np.array([1 - 1 / n, 0.5 + 1 / n]))
    value = before[0] / before.sum() - after[0] / after.sum()
    assert index_differs(n, alpha).lower == pytest.approx(value)


@pytest.mark.parametrize(
    ("lead", "beta1", "share"),
    [(10, 20 / 3, "2.900e-02"), (2, 20 / 3, "4.301e-02"), (2, 1.0, "1.077e-01")],
)
def test_shares_of_the_findings(lead: int, beta1: float, share: str) -> None:
    assert f"{bad_share(lead, 1.0, beta1):.3e}" == share


def test_shares_by_drawing_strings() -> None:
    """A with l = 2, string by string, n = 12 and the pair of the text."""
    rng, alpha, beta1 = np.random.default_rng(5), 1.0, 2.0
    R0, X = rng.random(400_000), rng.laplace(size=(2, 400_000))
    score = []
    for c in ((12, 6), (11, 7)):
        first = 1 / (1 + math.exp(alpha * (c[1] - c[0]) / 4)) >= R0
        t = [c[i] + 4 / alpha * X[i] for i in range(2)]
        score.append(np.where(first, t[0], t[1]))
    seen = float((np.abs(score[0] - score[1]) > beta1).mean())
    assert bad_share(6, alpha, beta1) == pytest.approx(seen, abs=0.0015)


@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_the_share_beyond_the_quantile(delta: float) -> None:
    """`quantile` is at most 1e-3 above the smallest."""
    assert most_outside(quantile(delta)) <= delta * (1 + 1e-3)
    assert most_outside(quantile(delta) - 3e-3) > delta


def test_the_witness_of_the_findings() -> None:
    """Values (0, 1) become (1/2, 1), n = 2, R_1 = 0.9: t from (0.9, 1) to (1.4, 1)."""
    assert stable_step([0, 2], [1, 2], 9).lower == 2
    assert stable_end([0, 2], [1, 2], 9).lower == pytest.approx(2 * 0.4)


def test_the_end_of_the_proof_on_a_finer_grid_of_strings() -> None:
    for R1 in np.linspace(-4, 4, 161).tolist():
        for before, after in (((0, 2), (1, 1)), ((3, 1), (2, 2)), ((1, 1), (2, 2))):
            one, other = (max(c[0] + 2 * R1, float(c[1])) for c in (before, after))
            assert abs(one - other) <= 1 + 1e-12
