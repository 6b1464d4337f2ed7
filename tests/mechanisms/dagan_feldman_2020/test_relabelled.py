"""Relabelling: its law, its quadrature, the constants of Theorem 5, its lemmas and their proofs."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, gamma, logit

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.engine.exact import two_sided
from dpassay.mechanisms.dagan_feldman_2020 import relabelled_bounds as bounds
from dpassay.mechanisms.dagan_feldman_2020.random_sums import (
    STEP,
    chances_by_value,
    quadrature_error,
)
from dpassay.mechanisms.dagan_feldman_2020.relabelled import Relabelled
from dpassay.mechanisms.dagan_feldman_2020.relabelling import Line, chances_of
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import Rule
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from tests.mechanisms.dagan_feldman_2020 import twin_exponential as twin
from tests.mechanisms.dagan_feldman_2020.lemmas_10_11 import worst
from tests.mechanisms.test_exhaustive_twins import compare, exhaust

SHAPES: list[tuple[str, Rule, int, dict[str, Any]]] = [
    ("thresholds", "least", 3, {"n": 3}),
    ("thresholds", "greatest", 2, {"n": 4, "n_prime": 3, "eta": 0.2, "r": 3, "alpha": 0.01}),
    ("intervals", "least", 3, {"n": 3, "n_prime": 2, "eta": 0.3, "r": 2}),
    ("functions", "greatest", 2, {"n": 3, "n_prime": 1, "eta": 0.3, "r": 3}),
]


@pytest.mark.parametrize(("name", "rule", "N", "parameters"), SHAPES)
def test_law_and_worst_case_are_the_twins(
    name: str, rule: Rule, N: int, parameters: dict[str, Any]
) -> None:
    """Every claim is verified on the domain."""
    given: dict[str, Any] = {"H": name, "points": N, "representative": rule, **parameters}
    mechanism, H = Relabelled(**given), twin.functions(name, N)
    sizes = {each: getattr(mechanism, each) for each in ("n_prime", "eta", "r", "alpha")}
    law = functools.partial(twin.relabelled, **sizes, H=H, rule=rule)
    results = compare("relabelled", given, mechanism.n, N, law, error=2e-9)
    assert {result.verdict for result in results} == {"verified"}


def test_its_own_worst_case_is_the_worst_of_three_records() -> None:
    mechanism = Relabelled(n=3, representative="greatest")
    for result in exhaust("relabelled", {"n": 3, "representative": "greatest"}, 3, 3):
        own = audit(mechanism, claim=result.claim, mode="exact").exact
        assert own == pytest.approx(result.exact, rel=1e-8)


def tied(n: int, seed: int, values: int = 6) -> Labelled:
    """Records with few distinct values."""
    rng = np.random.default_rng(seed)
    return Labelled(rng.integers(values, size=(n, 1)).astype(float), rng.integers(2, size=n))


@pytest.mark.parametrize("rule", ["least", "greatest", "middle"])
@pytest.mark.parametrize(("n", "n_prime"), [(7, 1), (9, 4), (6, 6)])
def test_thresholds_are_no_other_than_what_the_general_way_makes_of_them(
    rule: Rule, n: int, n_prime: int
) -> None:
    """Votes by rank against hypotheses that predict."""
    data, queries = tied(n, seed=n), points(np.arange(-1, 7, 0.5)[:, None], "queries")
    mechanism = Relabelled(n=n, n_prime=n_prime, eta=0.2, r=3, representative=rule)
    law = mechanism.distribution(mechanism.prepare(data), queries)
    assert law is not None
    subsets = itertools.combinations(range(n), n_prime)
    p = np.mean([mechanism.given(data, data.X[list(each)], queries) for each in subsets], axis=0)
    np.testing.assert_allclose(law.p.T, 0.1 + 0.8 * p, rtol=law.error + 1e-14)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [0.1, 20.0])
def test_the_quadrature_against_enumeration(seed: int, scale: float) -> None:
    """Each probability is within its bound, and they sum to 1, however unlike the weights are."""
    rng = np.random.default_rng(seed)
    m, n_prime = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    counts = rng.integers(1, 4, size=m)
    counts[0] += max(0, n_prime - int(counts.sum()))
    own, always = np.exp(-scale * rng.random(m)), math.exp(-scale * rng.random())
    expected = np.zeros(m + 1)
    subsets = list(itertools.combinations(np.repeat(np.arange(m), counts), n_prime))
    for subset in subsets:
        present = sorted(set(subset))
        total = always + own[present].sum()
        expected[present] += own[present] / total / len(subsets)
        expected[m] += always / total / len(subsets)
    found = chances_by_value(own, always, counts, n_prime)
    assert found is not None
    np.testing.assert_allclose(found[0], expected, rtol=found[1])
    assert found[0].sum() == pytest.approx(1, rel=found[1])


def test_the_error_of_the_quadrature() -> None:
    """The aliases by the gamma function itself; the sum over the nodes for one Z by itself."""
    aliases = 2 * sum(abs(gamma(1 + 2j * math.pi * k / STEP)) for k in range(1, 5))
    assert 0.35 * quadrature_error() < aliases < quadrature_error()
    for Z in (1.0, 1.1, 1.3):
        u = np.arange(-60, 10, STEP)
        assert abs(STEP * (Z * np.exp(u - Z * np.exp(u))).sum() - 1) <= aliases


def test_too_many_subsets_or_too_unlike_weights_have_no_law() -> None:
    assert chances_by_value(np.ones(1200), 1.0, np.ones(1200, dtype=np.int64), 600) is None
    data = Labelled(np.arange(60.0)[:, None], np.arange(60) // 30)
    assert Line.of(data, 0).chance_of_each(20, "least", 20.0) is None
    mechanism = Relabelled(n=60, n_prime=20, eta=1 / 1200)
    assert mechanism.distribution(mechanism.prepare(data), points([[3.0]], "queries")) is None


def test_a_thousand_records() -> None:
    """A sum over 10^85 subsets, against as many as are drawn."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(1000, 1))
    data = Labelled(x, (x[:, 0] + rng.normal(size=1000) > 0).astype(int))
    mechanism = Relabelled(n=1000, n_prime=50, eta=0.01, r=60)
    queries = points([[-1.0], [0.0], [0.5]], "queries")
    state = mechanism.prepare(data)
    law = mechanism.distribution(state, queries)
    assert law is not None
    draws = mechanism.sample(state, queries, 5_000, rng)
    counts = np.stack([(draws == y).sum(axis=0) for y in (0, 1)], axis=1)
    assert two_sided(counts, 5_000, law).min() > 1e-3


def test_absent_labellings_take_no_part() -> None:
    chances = chances_of(np.array([[5, 3, 4]]), 1000.0, np.array([[True, False, True]]))
    assert chances.tolist() == [[0.0, 0.0, 1.0]]


# The constants


def flipped(p: Any, alpha: float) -> Any:
    """After flipping."""
    return alpha + (1 - 2 * alpha) * p


@pytest.mark.parametrize("alpha", [0.001, 0.4])
@pytest.mark.parametrize(("factor", "delta"), [(1.01, 0.2), (3.0, 0.01), (90.0, 0.05), (1.0, 0.0)])
def test_flipped_bounds_are_the_largest_ratios_of_a_grid(
    factor: float, delta: float, alpha: float
) -> None:
    q = np.linspace(0, 1, 200_001)
    one = np.minimum(1, factor * q + delta)
    both = np.minimum(one, 1 - (1 - q - delta) / factor)
    for found, p in ((bounds.flipped_printed, one), (bounds.flipped_both, both)):
        largest = float(np.log(flipped(p, alpha) / flipped(q, alpha)).max())
        assert largest <= found(factor, delta, alpha) + 1e-12
        assert found(factor, delta, alpha) == pytest.approx(largest, abs=1e-3)


@pytest.mark.parametrize("alpha", [0.001, 0.4])
@pytest.mark.parametrize(
    ("share", "shift", "reach"), [(0.05, 0.6, 4.0), (0.5, 3.0, 2.0), (1.0, 1.0, 2.0)]
)
def test_flipped_stable_is_the_largest_ratio_of_a_grid(
    share: float, shift: float, reach: float, alpha: float
) -> None:
    low, high = expit(-reach), expit(reach)
    a = np.linspace(low, high, 200_001)
    moved = np.minimum(expit(logit(a) + shift), high)
    p, q = (1 - share) * moved + share * high, (1 - share) * a + share * low
    largest = float(np.log(flipped(p, alpha) / flipped(q, alpha)).max())
    found = bounds.flipped_stable(share, shift, reach, alpha)
    moves = bounds.stability(share, shift, reach)
    assert found == pytest.approx(largest, abs=1e-8)
    assert (p - q).max() <= moves + 1e-12
    assert found <= math.log(1 + (1 - 2 * alpha) / alpha * moves) + 1e-12


@pytest.mark.parametrize("H", [Thresholds(), Intervals(), Functions(points=3)])
@pytest.mark.parametrize(("n", "n_prime", "eta"), [(8, 4, 0.3), (7, 6, 0.2), (9, 3, 0.5)])
def test_net_failure_bounds_what_is_enumerated(H: Any, n: int, n_prime: int, eta: float) -> None:
    """Distinct points are worst for lines. A net misses no pair that differ on more than eta."""
    x = np.arange(n - 1.0)[:, None] % (3 if isinstance(H, Functions) else n) + 1
    labels = H.predict(H.representatives(x, "least"), x)
    apart = np.array([h != g for h, g in itertools.combinations(labels, 2)])
    far = apart[apart.sum(axis=1) > eta * (n - 1)]
    subsets = itertools.combinations(range(n - 1), n_prime - 1)
    failed = [bool((~far[:, list(subset)].any(axis=1)).any()) for subset in subsets]
    assert np.mean(failed) <= bounds.net_failure(H, n, n_prime, eta) + 1e-12


def test_default_sizes_and_printed_constant_by_hand() -> None:
    """1 + 4 e^6 20 / 380 = 85.93, times e^0.6 is 156.6; the bound is 1 at p' = 0.95 / 156.6."""
    mechanism = Relabelled(n=400)
    assert (mechanism.n_prime, mechanism.eta, mechanism.r, mechanism.rate) == (20, 0.0125, 40, 0.2)
    assert (mechanism.epsilon, Relabelled(n=400, n_prime=100).epsilon) == (0.2, 0.25)
    printed, corrected, stable = mechanism.claims
    assert printed.promised == pytest.approx(math.log(0.9 / (0.1 + 0.8 * 0.95 / 156.57)), abs=1e-4)
    assert printed.promised < math.log(9)
    assert corrected.promised < 0.42
    assert stable.promised == pytest.approx(0.8 * (0.05 * math.tanh(2) + 0.95 * math.tanh(0.15)))


def test_lemma_10s_way_wins_where_hardly_anything_is_flipped() -> None:
    """n' / n = 0.002, alpha = 1e-6: 1 + 4 e^3 0.002 = 1.16, against 1 + 0.002 / 1e-6 = 2001."""
    mechanism = Relabelled(n=10**6, n_prime=2000, eta=0.025, r=10**6, alpha=1e-6)
    assert bounds.net_failure(mechanism.family, 10**6, 2000, 0.025) < 1e-15
    stable = bounds.flipped_stable(0.002, 3 * mechanism.rate, 20.0, 1e-6)
    assert stable == pytest.approx(math.log(2001), abs=0.01)
    expected = math.log(1 + 4 * math.e**3 * 0.002 / 0.998)
    assert mechanism.proven_loss() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("H", ["thresholds", "intervals", "corners"])
@pytest.mark.parametrize("rule", ["least", "middle"])
def test_random_neighbours_keep_the_claims(H: str, rule: Rule) -> None:
    rng = np.random.default_rng(8)
    queries = points(rng.normal(size=(6, 2)), "queries")
    for _ in range(6):
        n = int(rng.integers(2, 9))
        mechanism = Relabelled(
            n=n,
            n_prime=int(rng.integers(1, min(n, 3) + 1)),
            eta=float(rng.uniform(0.1, 1)),
            r=int(rng.integers(1, n + 1)),
            H=H,
            representative=rule,
            alpha=0.02,
        )
        X, y = rng.normal(size=(n, 2)), rng.integers(2, size=n)
        other, flip = X.copy(), y.copy()
        other[0], flip[0] = rng.normal(size=2), 1 - y[0]
        laws = [
            mechanism.distribution(mechanism.prepare(Labelled(*each)), queries)
            for each in ((X, y), (other, flip))
        ]
        assert laws[0] is not None
        assert laws[1] is not None
        *_, private, stable = mechanism.claims
        assert np.abs(laws[0].log_p - laws[1].log_p).max() <= private.promised
        assert np.abs(laws[0].p - laws[1].p).max() <= stable.promised


# The lemmas


@pytest.mark.parametrize(
    ("name", "N", "eta", "rule"),
    [("thresholds", 2, 0.34, "greatest"), ("functions", 2, 0.25, "least")],
)
def test_lemmas_10_and_11_with_every_inequality_of_their_proofs(
    name: str, N: int, eta: float, rule: str
) -> None:
    n = r = 4
    found = worst(name, N, n, 2, eta, r, rule)
    moved, rate = math.floor(eta * (n - 1)) + 1, 1 / (eta * n)
    assert rate <= 1
    assert found.loss == pytest.approx(moved / n)
    assert found.loss <= 2 * eta
    assert 1 <= found.least_matched <= found.matched <= 2
    assert found.Z <= 2 * math.exp(moved * rate) <= 2 * math.e**2
    assert found.phi <= math.exp(min(moved, r) * rate) <= math.e**2
    assert 1.5 < found.lemma_10 <= 4 * math.exp((2 * moved + min(moved, r)) * rate) <= 4 * math.e**6
    assert 1.5 < found.lemma_11 <= math.exp(3 * rate)
