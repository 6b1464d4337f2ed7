"""Verdicts over many results: what Holm's procedure would win over an equal division of alpha."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from dpassay.stats.power import POWER, detectable
from dpassay.stats.scales import Ratio

Array = NDArray[np.float64]
PAGE = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
ALPHA, DRAWS = 1e-3, 20_000
RUNS, RESULTS, FALSE = 4_000, 20, 10


@pytest.mark.parametrize("results", [10, 40, 111])
def test_the_table_of_the_page(results: int) -> None:
    (row,) = re.findall(rf"\| {results} \|((?: [\d.]+ \|){{4}})", PAGE)
    refuted = (0, results // 4, results // 2, results - 1)
    found = [
        detectable(scale=Ratio(), promised=1.0, n=DRAWS, alpha=ALPHA / (results - k) / 2)
        for k in refuted
    ]
    assert [f"{loss:.4f}" for loss in found] == [cell.strip() for cell in row.split("|")[:-1]]


def p_values() -> Array:
    """Those of all runs; equal division refutes each of the `FALSE` claims with `POWER`."""
    shift = ndtri(POWER) - ndtri(ALPHA / RESULTS)
    scores = np.random.default_rng(5).standard_normal((RUNS, RESULTS))
    scores[:, :FALSE] += shift
    return np.asarray(ndtr(-scores))


def holm(p: Array) -> NDArray[np.bool_]:
    """Refute the smallest p-values, each at alpha over the number of those that are left."""
    order = np.argsort(p, axis=1)
    left = RESULTS - np.arange(RESULTS)
    reached = np.logical_and.accumulate(
        np.take_along_axis(p, order, axis=1) <= ALPHA / left, axis=1
    )
    refuted = np.zeros(p.shape, dtype=bool)
    np.put_along_axis(refuted, order, reached, axis=1)
    return refuted


def test_holm_is_that_of_statsmodels() -> None:
    p = p_values()[:10]
    theirs = [multipletests(each, alpha=ALPHA, method="holm")[0] for each in p]
    np.testing.assert_array_equal(holm(p), theirs)


def test_what_holm_wins_over_equal_division() -> None:
    p = p_values()
    equal = int((p <= ALPHA / RESULTS)[:, :FALSE].sum())
    stepped, trials = int(holm(p)[:, :FALSE].sum()), RUNS * FALSE
    assert binom.ppf(0.005, trials, POWER) <= equal <= binom.isf(0.005, trials, POWER)
    assert stepped > equal
    (said,) = re.findall(
        r"equal division refutes ([\d.]+) on average, Holm's procedure ([\d.]+)", PAGE
    )
    assert (f"{equal / RUNS:.2f}", f"{stepped / RUNS:.2f}") == said
