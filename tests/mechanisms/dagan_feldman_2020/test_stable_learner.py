"""The stable learner. Its laws against the twin and against each other, draws, the claims, and what
is known of its worst."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.data import Labelled
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


@pytest.mark.parametrize("cover", ["labelings", "net"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CLASSES)
def test_the_law_is_the_twins(name: str, rule: Rule, cover: Any) -> None:
    """The logarithm of every probability lies within the bound that the law itself gives."""
    for seed, (n, gamma) in enumerate(
        [(1, 0.99999999999999), (4, 0.5), (5, 0.8), (7, 0.45), (6, 0.99)]
    ):
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
    """In the place of a generator. Gives the set and the function it is told to, and keeps the
    chances of the functions."""

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
    total, given = np.zeros(len(x)), {"H": learner.hypotheses, "rule": learner.representative}
    for subset in subsets:
        h, k = 0, 1
        while h < k:
            script: Any = Scripted(subset, h)
            label = sample_one(
                S,
                x,
                n_prime=learner.n_prime,
                epsilon=learner.epsilon,
                rng=script,
                **given,  # type: ignore[arg-type]
            )
            k = len(script.chances)
            total += label * script.chances[h] / len(subsets)
            h += 1
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CLASSES)
def test_the_law_is_that_of_the_printed_steps(name: str, rule: Rule) -> None:
    """Exactly: all coins of the reference are gone through."""
    for seed, (n, gamma) in enumerate([(4, 0.5), (5, 0.6), (6, 0.35)]):
        S, x = dataset(some_records(name, n, seed)), np.array(DOMAIN[name], dtype=float)
        learner = StableLearner(gamma=gamma, n=n, calibration="lemma7", H=name, representative=rule)
        np.testing.assert_allclose(
            law_of(learner, S, x).p[:, 1], reference_law(learner, S, x), rtol=1e-12, atol=1e-15
        )


def test_the_twin_knows_the_same_halfspaces() -> None:
    learner = StableLearner(H="halfspaces")
    assert learner.hypotheses.table.tolist() == [  # type: ignore[attr-defined]
        [p in ones for p in GRID] for ones in twin.every_halfspace(3)
    ]


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
    data = gather(
        Labelled(rng.integers(1, points + 1, size=(n, 1)).astype(float), rng.integers(2, size=n)),
        [0],
    )
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
    assert (
        np.abs(counted.log_p[possible] - listed.log_p[possible]).max()
        <= counted.error + listed.error
    )
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
    for rule in ("least", "greatest"):
        for gamma, calibration in ((0.1, "outline"), (0.1, "lemma7")):
            law = law_of(
                StableLearner(
                    n=1000,
                    gamma=gamma,
                    calibration=calibration,  # type: ignore[arg-type]
                    representative=rule,
                ),
                data,
                queries,
            )
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
        ways = (
            Fraction(math.comb(4, i) * math.comb(6, 3 - j - i), math.comb(10, 3 - j))
            if i <= 3 - j
            else 0
        )
        assert table[j, i] == float(ways)
    found = hits(np.array([1, 3, 2]), 2, often=True)
    assert found is not None
    assert {
        tuple(row): p for row, p in zip(found[0].tolist(), found[1].tolist(), strict=True)
    } == pytest.approx(
        {
            (1, 1, 0): 3 / 15,
            (1, 0, 1): 2 / 15,
            (0, 2, 0): 3 / 15,
            (0, 1, 1): 6 / 15,
            (0, 0, 2): 1 / 15,
        }
    )
    merged = hits(np.array([1, 3, 2]), 2, often=False)
    assert merged is not None
    assert merged[0].sum(axis=1).tolist().count(1) == 2
    assert merged[1].sum() == pytest.approx(1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("name", "cover"), [*((name, "labelings") for name in CLASSES), ("corners", "net")]
)
def test_draws_follow_the_law(name: str, rule: Rule, cover: Any) -> None:
    """Grids with ties; two-sided binomial tests at all points, Bonferroni."""
    n, size = 14, 20_000
    learner = StableLearner(
        gamma=0.4, n=n, calibration="lemma7", H=name, representative=rule, cover=cover, alpha=0.2
    )
    state = learner.prepare(dataset(some_records(name, n, 3)))
    queries = np.array(DOMAIN[name], dtype=float)
    law = learner.distribution(state, queries)
    assert law is not None
    ones = learner.sample(state, queries, size, np.random.default_rng(8)).sum(axis=0)
    p = law.p[:, 1]
    tails = np.minimum(binom.cdf(ones, size, p), binom.sf(ones - 1, size, p))
    assert (2 * tails * len(p)).min() >= 1e-3


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["thresholds", "intervals", "corners"])
def test_draws_of_real_numbers_follow_the_law(name: str, rule: Rule) -> None:
    rng = np.random.default_rng(4)
    n, size = 12, 20_000
    learner = StableLearner(gamma=0.5, n=n, calibration="lemma7", H=name, representative=rule)
    state = learner.prepare(Labelled(rng.normal(size=(n, 2)), rng.integers(2, size=n)))
    queries = rng.normal(size=(10, 2))
    law = learner.distribution(state, queries)
    assert law is not None
    ones = learner.sample(state, queries, size, np.random.default_rng(9)).sum(axis=0)
    p = law.p[:, 1]
    tails = np.minimum(binom.cdf(ones, size, p), binom.sf(ones - 1, size, p))
    assert (2 * tails * len(p)).min() >= 1e-3


def test_one_hypothesis_answers_all_queries_of_a_trial() -> None:
    learner = StableLearner(gamma=0.5, n=6, calibration="lemma7")
    state = learner.prepare(dataset(some_records("thresholds", 6, 1)))
    draws = learner.sample(state, np.linspace(0, 4, 9)[:, None], 200, np.random.default_rng(0))
    assert (np.diff(draws, axis=1) >= 0).all()


class Adversarial(Functions):
    """All functions on {1, 2, 3, 4} with the worst representatives. What is said at 4 depends on
    whether 1 or 2 is in T."""

    __slots__ = ()

    def representatives(self, T: Points, rule: Rule) -> Points:
        """1 at the point 4 if T has 1, else 0 if it has 2, else what it says of 3. Then 1 and 2 are
        said to be 1 with it."""
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
    [(5, 0.9, "outline"), (9, 0.5, "lemma7"), (21, 0.2, "lemma7"), (41, 0.9, "outline")],
)
def test_the_corrected_claim_is_attained_by_the_worst_representatives(
    n: int, gamma: float, calibration: Any
) -> None:
    """(1, 1) against (2, 0), all other records at 3 and half of them labelled 1. Both parts of the
    bound at once."""
    learner = StableLearner(n=n, gamma=gamma, calibration=calibration, H=Adversarial(points=4))
    X, y = np.full((n, 1), 3.0), np.arange(n) % 2
    X[0], y[0] = 1, 1
    one = law_of(learner, Labelled(X, y), [[4.0]])
    X[0], y[0] = 2, 1
    other = law_of(learner, Labelled(X, y), [[4.0]])
    X[0], y[0] = 2, 0
    assert one.p[0, 1] - other.p[0, 1] < learner.claims[1].promised
    other = law_of(learner, Labelled(X, y), [[4.0]])
    eta = learner.n_prime / n
    expected = eta + (1 - eta) * math.tanh(learner.epsilon / 4)
    assert learner.claims[1].promised == pytest.approx(expected, abs=1e-15)
    assert one.p[0, 1] - other.p[0, 1] == pytest.approx(expected, abs=1e-13)
