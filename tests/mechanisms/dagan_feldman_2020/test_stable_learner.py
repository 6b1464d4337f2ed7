"""The stable learner: its laws against the twin and each other, draws, and its worst."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.engine.exact import two_sided
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner, sample_one
from dpassay.mechanisms.dagan_feldman_2020.subsets import drawn, gather, hits, law_by_sets
from dpassay.mechanisms.dagan_feldman_2020.threshold_law import (
    nodes,
    quadrature_error,
    threshold_law,
)
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import RULES, Labels, Points, Rule
from tests.mechanisms.dagan_feldman_2020 import twin_stable_learner as twin

LINE: list[tuple[int, ...]] = [(1,), (2,), (3,)]
GRID: list[tuple[int, ...]] = list(itertools.product((1, 2, 3), repeat=2))
DOMAIN = {
    "thresholds": LINE,
    "intervals": LINE,
    "corners": GRID,
    "halfspaces": GRID,
    "functions": LINE,
}
CLASSES = list(DOMAIN)
SIZES: list[tuple[int, float, Any]] = [
    (1, 0.99999999999999, "labelings"),
    (4, 0.5, "labelings"),
    (5, 0.8, "net"),
    (7, 0.45, "labelings"),
    (6, 0.99, "net"),
]
"""Records, gamma and what covers the labelings."""


def dataset(records: twin.Dataset) -> Labelled:
    return Labelled(
        np.array([x for x, _ in records], dtype=float), np.array([y for _, y in records])
    )


def some_records(name: str, n: int, seed: int) -> twin.Dataset:
    rng = np.random.default_rng(seed)
    return tuple(
        (DOMAIN[name][rng.integers(len(DOMAIN[name]))], int(rng.integers(2))) for _ in range(n)
    )


def law_of(learner: StableLearner, data: Labelled, queries: Any) -> FiniteLaw:
    law = learner.distribution(learner.prepare(data), np.array(queries, dtype=float))
    assert law is not None
    return law


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CLASSES)
def test_the_law_is_the_twins(name: str, rule: Rule) -> None:
    for seed, (n, gamma, cover) in enumerate(SIZES):
        records = some_records(name, n, seed)
        learner = StableLearner(
            gamma=gamma,
            n=n,
            calibration="lemma7",
            H=name,
            representative=rule,
            cover=cover,
            alpha=0.3,
        )
        law = law_of(learner, dataset(records), DOMAIN[name])
        expected = twin.probability_of_one(
            records,
            DOMAIN[name],
            H=twin.CLASSES[name],
            rule=rule,
            epsilon=learner.epsilon,
            n_prime=learner.n_prime,
            alpha=0.3 if cover == "net" else None,
        )
        np.testing.assert_allclose(law.p[:, 1], expected, rtol=1e-12, atol=1e-15)
        assert law.error < 1e-11


class Scripted:
    """In the place of a generator: gives the set and the function that it is told to."""

    def __init__(self, subset: tuple[int, ...], chosen: int) -> None:
        self.subset, self.chosen, self.chances = subset, chosen, np.ones(1)

    def choice(
        self, n: int, size: int | None = None, *, replace: bool = True, p: Any = None
    ) -> Any:
        if size is not None:
            assert (len(self.subset), replace) == (size, False)
            return np.array(self.subset)
        self.chances = p
        return self.chosen


def reference_law(learner: StableLearner, S: Labelled, x: Points) -> Any:
    """P[1] at each query under `sample_one`, over every set I and every function of H_{S_I}."""
    subsets = list(itertools.combinations(range(len(S)), learner.n_prime))
    total = np.zeros(len(x))
    given: dict[str, Any] = {"n_prime": learner.n_prime, "epsilon": learner.epsilon}
    given |= {"H": learner.hypotheses, "rule": learner.representative}
    for subset in subsets:
        h, k = 0, 1
        while h < k:
            script = Scripted(subset, h)
            label = sample_one(S, x, rng=script, **given)  # type: ignore[arg-type]
            k = len(script.chances)
            total += label * script.chances[h] / len(subsets)
            h += 1
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CLASSES)
def test_the_law_is_that_of_the_printed_steps(name: str, rule: Rule) -> None:
    """Exactly: all coins of the reference are gone through."""
    for seed, (n, gamma) in enumerate([(5, 0.6), (6, 0.35)]):
        S, x = dataset(some_records(name, n, seed)), np.array(DOMAIN[name], dtype=float)
        learner = StableLearner(gamma=gamma, n=n, calibration="lemma7", H=name, representative=rule)
        np.testing.assert_allclose(
            law_of(learner, S, x).p[:, 1], reference_law(learner, S, x), rtol=1e-12, atol=1e-15
        )


@pytest.mark.parametrize("greatest", [False, True])
@pytest.mark.parametrize(
    ("n", "m", "epsilon", "points"),
    [(8, 3, 1.0, 5), (12, 3, 2.0, 30), (10, 10, 0.5, 4), (9, 1, 3.0, 6), (300, 40, 0.5, 5)],
)
def test_counting_agrees_with_enumeration(
    n: int, m: int, epsilon: float, points: int, *, greatest: bool
) -> None:
    """Within the sum of the two error bounds, in logarithms, with ties in the data."""
    rng = np.random.default_rng(n + m)
    learner = StableLearner(n=n, gamma=0.9, representative="greatest" if greatest else "least")
    X, y = rng.integers(1, points + 1, size=(n, 1)).astype(float), rng.integers(2, size=n)
    data = gather(Labelled(X, y), [0])
    queries = np.arange(points + 2, dtype=float)[:, None]
    counted = threshold_law(data, 0, queries, epsilon=epsilon, m=m, greatest=greatest)
    listed = law_by_sets(
        learner.hypotheses,
        learner._class_of(data),
        data,
        queries,
        epsilon=epsilon,
        m=m,
        often=False,
    )
    assert counted is not None
    assert listed is not None
    possible = np.isfinite(listed.log_p)
    np.testing.assert_array_equal(np.isfinite(counted.log_p), possible)
    apart = np.abs(counted.log_p[possible] - listed.log_p[possible])
    assert apart.max() <= counted.error + listed.error
    assert counted.error < 1e-10


@pytest.mark.parametrize(("smallest", "largest"), [(1.0, 1.0), (0.9, 40.0), (1e-100, 1e3)])
def test_one_over_Z_by_the_trapezoidal_rule(smallest: float, largest: float) -> None:
    s, weights = nodes(smallest, largest)
    Z = np.exp(np.linspace(math.log(smallest), math.log(largest), 50))
    found = np.array([math.fsum(weights * np.exp(-z * s)) * z for z in Z])
    assert np.abs(found - 1).max() <= quadrature_error() + 1e-14
    assert quadrature_error() < 2e-13


def test_a_thousand_records() -> None:
    """No enumeration reaches C(1000, 50); probabilities sum to 1 though both are computed apart."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 1))
    data = Labelled(X, (X[:, 0] + rng.normal(size=1000) > 0).astype(int))
    queries = np.linspace(-3, 3, 20)[:, None]
    given: Any
    for given in (("least", "outline"), ("greatest", "lemma7")):
        learner = StableLearner(n=1000, gamma=0.1, representative=given[0], calibration=given[1])
        law = law_of(learner, data, queries)
        assert law.error < 1e-11
        np.testing.assert_allclose(law.p.sum(axis=1), 1.0, rtol=0, atol=2 * law.error)
        assert (np.diff(law.p[:, 1]) > 0).all()


def test_numbers_out_of_range_have_no_law() -> None:
    learner = StableLearner(n=3000, gamma=0.9, calibration="lemma7")
    data = Labelled(np.arange(3000.0)[:, None], np.arange(3000) % 2)
    assert learner.distribution(learner.prepare(data), np.zeros((1, 1))) is None


def test_hypergeometric_tables_and_hits() -> None:
    table = drawn(10, 4, 3)
    for j, i in itertools.product(range(4), repeat=2):
        ways = math.comb(4, i) * math.comb(6, max(3 - j - i, 0)) if i <= 3 - j else 0
        assert table[j, i] == float(Fraction(ways, math.comb(10, 3 - j)))
    found = hits(np.array([1, 3, 2]), 2, often=True)
    assert found is not None
    expected = {(1, 1, 0): 3, (1, 0, 1): 2, (0, 2, 0): 3, (0, 1, 1): 6, (0, 0, 2): 1}
    known = dict(zip(map(tuple, found[0].tolist()), 15 * found[1], strict=True))
    assert known == pytest.approx(expected)


def assert_drawn(learner: StableLearner, data: Labelled, queries: Any, seed: int) -> None:
    """Two-sided binomial tests at all points, Bonferroni."""
    law, state, size = law_of(learner, data, queries), learner.prepare(data), 20_000
    draws = learner.sample(state, np.array(queries, dtype=float), size, np.random.default_rng(seed))
    counts = np.stack([(draws == label).sum(axis=0) for label in (0, 1)], axis=1)
    p_values = two_sided(counts, size, law)
    assert p_values.min() * len(law.p) >= 1e-3


@pytest.mark.parametrize(
    ("name", "rule", "cover"),
    [
        ("thresholds", "middle", "labelings"),
        ("intervals", "greatest", "labelings"),
        ("corners", "least", "net"),
        ("corners", "greatest", "labelings"),
        ("halfspaces", "least", "labelings"),
        ("functions", "middle", "labelings"),
    ],
)
def test_draws_follow_the_law(name: str, rule: Rule, cover: Any) -> None:
    """On grids, with ties."""
    given: dict[str, Any] = {"H": name, "representative": rule, "cover": cover, "alpha": 0.2}
    learner = StableLearner(gamma=0.4, n=14, calibration="lemma7", **given)
    assert_drawn(learner, dataset(some_records(name, 14, 3)), DOMAIN[name], seed=8)


@pytest.mark.parametrize(
    ("name", "rule"), [("thresholds", "least"), ("intervals", "middle"), ("corners", "greatest")]
)
def test_draws_of_real_numbers_follow_the_law(name: str, rule: Rule) -> None:
    rng, n = np.random.default_rng(4), 12
    learner = StableLearner(gamma=0.5, n=n, calibration="lemma7", H=name, representative=rule)
    data = Labelled(rng.normal(size=(n, 2)), rng.integers(2, size=n))
    assert_drawn(learner, data, rng.normal(size=(10, 2)), seed=9)


def test_one_hypothesis_answers_all_queries_of_a_trial() -> None:
    learner = StableLearner(gamma=0.5, n=6, calibration="lemma7")
    state = learner.prepare(dataset(some_records("thresholds", 6, 1)))
    draws = learner.sample(state, np.linspace(0, 4, 9)[:, None], 200, np.random.default_rng(0))
    assert (np.diff(draws, axis=1) >= 0).all()


class Adversarial(Functions):
    """What is said at 4 depends on whether 1 or 2 is in T: the worst representatives."""

    __slots__ = ()

    def representatives(self, T: Points, rule: Rule) -> Points:
        """1 at 4 if T has 1, else 0 if it has 2, else what it says of 3; 1 and 2 go with 3."""
        found = super().representatives(T, rule)
        seen = set(T[:, 0].astype(int).tolist())
        says = found[:, 2]
        found[:, 3] = 1 if 1 in seen else 0 if 2 in seen else says
        for point in {1, 2} - seen:
            found[:, point - 1] = says
        return found

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        return super().predict(hypotheses, X)


@pytest.mark.parametrize(
    ("n", "gamma", "calibration"),
    [(9, 0.5, "lemma7"), (21, 0.2, "lemma7"), (41, 0.9, "outline")],
)
def test_the_corrected_claim_is_attained_by_the_worst_representatives(
    n: int, gamma: float, calibration: Any
) -> None:
    """(1, 1) against (2, 0), all others at 3, half of them labelled 1."""
    learner = StableLearner(n=n, gamma=gamma, calibration=calibration, H=Adversarial(points=4))
    rest = [((3,), i % 2) for i in range(1, n)]
    p = [
        law_of(learner, dataset((((x,), y), *rest)), [[4.0]]).p[0, 1]
        for x, y in ((1, 1), (2, 1), (2, 0))
    ]
    eta, corrected = learner.n_prime / n, learner.claims[1].promised
    assert corrected == pytest.approx(eta + (1 - eta) * math.tanh(learner.epsilon / 4), abs=1e-15)
    assert p[0] - p[1] < corrected
    assert p[0] - p[2] == pytest.approx(corrected, abs=1e-13)
