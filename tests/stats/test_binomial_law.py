"""Our binomial laws are those of scipy.stats, which takes longer to import than a small audit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.stats.binomial_law import (
    at_most,
    log_mass,
    masses,
    more_than,
    quantile,
    upper_quantile,
)
from dpassay.stats.power import counts_near

NEAR = np.random.default_rng(5).random(60)
SHARES = np.concatenate([NEAR, 10.0 ** (-7 * NEAR), 1 - 10.0 ** (-7 * NEAR), [0.0, 1.0]])
"""Probabilities, also next to 0 and 1 and these two."""


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 10**6])
def test_tails(n: int) -> None:
    k = np.unique(np.linspace(-1, n + 1, 50).round().astype(np.int64))[:, None]
    np.testing.assert_allclose(at_most(k, n, SHARES), binom.cdf(k, n, SHARES), 1e-9, 1e-14)
    np.testing.assert_array_equal(more_than(k, n, SHARES), binom.sf(k, n, SHARES))
    np.testing.assert_allclose(at_most(k, n, SHARES) + more_than(k, n, SHARES), 1.0, 1e-12)


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 10**6])
@pytest.mark.parametrize("p", [0.0, 1e-6, 0.03, 0.5, 0.9, 1.0])
def test_masses(n: int, p: float) -> None:
    k = counts_near(p, n)
    np.testing.assert_allclose(masses(k, n, p), binom.pmf(k, n, p), 0, 2e-12)
    np.testing.assert_array_equal(log_mass(k, n, p), binom.logpmf(k, n, p))


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 10**6, 10**8])
@pytest.mark.parametrize("share", [5e-13, 1e-3, 0.5, 0.9])
def test_quantiles(n: int, share: float) -> None:
    inner = SHARES[(SHARES > 0) & (SHARES < 1)]
    np.testing.assert_array_equal(quantile(share, n, inner), binom.ppf(share, n, inner))
    np.testing.assert_array_equal(upper_quantile(share, n, inner), binom.isf(share, n, inner))
    assert quantile(share, n, np.array([0.0, 1e-30, 1.0])).tolist() == [0, 0, n]
    assert upper_quantile(share, n, np.array([0.0, 1.0])).tolist() == [0, n]
