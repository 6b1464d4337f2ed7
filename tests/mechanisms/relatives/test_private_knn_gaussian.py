"""Private nearest neighbours of a sample: law, draws and claim, held against enumeration."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.mechanisms.relatives.pate_gaussian import PateGaussian
from dpassay.mechanisms.relatives.private_knn_gaussian import PrivateKNNGaussian
from tests.docs.findings_pages import FINDINGS

Array = NDArray[np.float64]


def claim_of(mechanism: PrivateKNNGaussian) -> DP:
    (claim,) = mechanism.claims
    assert isinstance(claim, DP)
    return claim


def enumerated(mechanism: PrivateKNNGaussian, data: Labelled, query: Array) -> Array:
    """Law of the answer: every sample, its nearest records one by one, their votes."""
    n, found = len(data), np.zeros(mechanism.K)
    order = sorted(range(n), key=lambda i: (((data.X[i] - query) ** 2).sum(), i))
    for taken in itertools.product((False, True), repeat=n):
        chance = math.prod(mechanism.q if each else 1 - mechanism.q for each in taken)
        votes = [data.y[i] for i in order if taken[i]][: mechanism.k]
        counts = np.bincount(votes, minlength=mechanism.K)[None]
        found += chance * np.exp(mechanism.noisy_max.law(counts).log_p[0])
    return found


def some_data(n: int, K: int, seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 1)).astype(float)  # with ties
    return Labelled(X, rng.integers(0, K, n))


@pytest.mark.parametrize("q", [0.3, 1.0])
@pytest.mark.parametrize(("k", "K"), [(1, 2), (3, 2), (9, 2), (2, 3)])
def test_the_law_is_that_of_all_samples(k: int, K: int, q: float) -> None:
    mechanism = PrivateKNNGaussian(sigma=0.8, q=q, k=k, K=K)
    data, queries = some_data(7, K, seed=k), np.array([[0.0], [1.6]])
    law = mechanism.distribution(mechanism.prepare(data), queries)
    assert law is not None
    for row, query in zip(law.log_p, queries, strict=True):
        twin = enumerated(mechanism, data, query)
        np.testing.assert_allclose(np.exp(row), twin, rtol=1e-12)


@pytest.mark.parametrize(("k", "K", "q"), [(3, 2, 0.4), (4, 3, 0.7)])
def test_draws_are_those_of_the_law(k: int, K: int, q: float) -> None:
    """Every count lies in its exact region of 1e-6 for all of them together."""
    mechanism = PrivateKNNGaussian(sigma=1.0, q=q, k=k, K=K)
    data, queries, size = some_data(40, K, seed=3), np.array([[0.0], [1.4], [9.0]]), 20_000
    law = mechanism.distribution(data, queries)
    drawn = mechanism.sample(data, queries, size, np.random.default_rng(11))
    assert law is not None
    assert drawn.shape == (size, 3)
    for j, row in enumerate(np.exp(law.log_p)):
        for label, p in enumerate(row):
            seen, edge = (drawn[:, j] == label).sum(), 5e-7 / 9
            assert binom.ppf(edge, size, p) <= seen <= binom.ppf(1 - edge, size, p)


def slack(one: Array, other: Array, epsilon: float) -> float:
    """delta(epsilon) of two laws, the larger of both directions."""
    return max(
        float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        for p, q in ((one, other), (other, one))
    )


@pytest.mark.parametrize("q", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(("k", "K"), [(1, 2), (3, 2)])
def test_no_pair_of_small_datasets_exceeds_the_claim(k: int, K: int, q: float) -> None:
    """All labels of four records at two places, and every replacement of the first."""
    mechanism = PrivateKNNGaussian(sigma=3.0, q=q, k=k, K=K, delta=0.02 * q)
    claim, n, query = claim_of(mechanism), 4, np.zeros((1, 1))
    laws: dict[tuple[Any, ...], Array] = {}
    for x in itertools.product((0.0, 1.0), repeat=n):
        for y in itertools.product(range(K), repeat=n):
            law = mechanism.distribution(Labelled(np.array(x)[:, None], np.array(y)), query)
            assert law is not None
            laws[x, y] = np.exp(law.log_p[0])
    most = max(
        slack(one, laws[(x[0], *a[1:]), (y[0], *b[1:])], claim.epsilon)
        for (a, b), one in laws.items()
        for x, y in itertools.product(((0.0,), (1.0,)), ((label,) for label in range(K)))
    )
    assert most <= claim.delta
    # with a tenth of the noise one of these pairs exceeds it
    weaker = PrivateKNNGaussian(sigma=0.3, q=q, k=k, K=K, delta=claim.delta)
    alone = [Labelled(np.zeros((1, 1)), np.array([label])) for label in (0, 1)]
    one, other = (weaker.distribution(each, query) for each in alone)
    assert one is not None
    assert other is not None
    assert slack(np.exp(one.log_p[0]), np.exp(other.log_p[0]), claim.epsilon) > claim.delta


def test_the_claim_is_that_of_its_page_and_of_pate_without_sampling() -> None:
    whole, pate = claim_of(PrivateKNNGaussian(q=1.0)), PateGaussian().claims[1]
    assert isinstance(pate, DP)
    assert whole.epsilon == pytest.approx(pate.epsilon, abs=1e-9)
    none = claim_of(PrivateKNNGaussian(q=1e-6, delta=1e-5))
    assert 0 < none.epsilon < 1e-11
    row = r"^\| private-knn-gaussian" + r" \| ([\d.e-]+)" * 5 + r" \|$"
    rows = re.findall(row, FINDINGS, re.MULTILINE)
    assert len(rows) >= 4
    for sigma, q, delta, claimed, true in rows:
        mechanism = PrivateKNNGaussian(sigma=float(sigma), q=float(q), delta=float(delta))
        claim = claim_of(mechanism)
        assert f"{claim.epsilon:.6f}" == claimed
        assert f"{audit(mechanism, mode='exact').exact:.6f}" == true


def test_too_many_counts_have_no_law_and_are_drawn() -> None:
    mechanism = PrivateKNNGaussian(k=60, K=3)
    data, queries = some_data(80, 3, seed=0), np.zeros((2, 1))
    assert mechanism.distribution(data, queries) is None
    assert mechanism.sample(data, queries, 5, np.random.default_rng(0)).shape == (5, 2)
