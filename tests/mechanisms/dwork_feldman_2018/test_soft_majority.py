"""Soft majority, and the overview's: what is retrained, how partitions are counted, numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size, group_laws, two_sided
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.mechanisms.dwork_feldman_2018.soft_majority_overview import SoftMajorityOverview
from dpassay.mechanisms.shared.blocks import block_sizes, partition_count, partitions
from dpassay.pairs import Pairs, Replace
from dpassay.targets.groups import PairGroup, silent
from dpassay.targets.resolve import resolve

TRAIN, TEACHERS, QUERIES, EVERY = 500, 25, 10, 20


@pytest.fixture
def digits() -> PairGroup:
    """500 handwritten digits (is it 5 or more?), some replaced once, and 10 queries."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], (y[order] >= 5).astype(int)
    changes = tuple(Replace(i, X[TRAIN + i], int(y[TRAIN + i]), i) for i in range(0, TRAIN, EVERY))
    pool = Labelled(X[TRAIN:-QUERIES], y[TRAIN:-QUERIES])
    base = Labelled(X[:TRAIN], y[:TRAIN])
    pairs = Pairs(base=base, changes=changes, how="some, each once", pool=pool)
    queries = points(X[-QUERIES:], "queries")
    return PairGroup(pairs=pairs, queries=queries, kind="data", reason="digits")


def test_a_replacement_retrains_the_one_teacher_it_touches(digits: PairGroup) -> None:
    """And the laws are those of training everything anew."""
    vote = resolve("soft-majority", {"epsilon": 0.5, "r": TEACHERS, "learner": "logistic"})
    laws, changes = group_laws(vote, digits, silent), digits.pairs.changes
    assert laws is not None
    mechanism: Any = vote.mechanism
    assert mechanism.block_learner.fits == TEACHERS + len(changes)
    state: Any = mechanism.prepare(digits.pairs.base)
    for i in (0, 11, 24):
        log_odds = laws.neighbours[i, :, 1] - laws.neighbours[i, :, 0]
        expected = direct_log_odds(changes[i].apply(digits.pairs.base), digits.queries)
        np.testing.assert_allclose(log_odds, expected, atol=1e-12)
        updated: Any = mechanism.update(state, changes[i])
        differ = [j for j in range(TEACHERS) if updated.teachers[j] is not state.teachers[j]]
        assert differ == [changes[i].index % TEACHERS]
    # all of them were trained before
    assert mechanism.block_learner.fits == TEACHERS + len(changes)


def direct_log_odds(data: Labelled, queries: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Soft majority written down once more: train, count, multiply."""
    votes = np.zeros(len(queries))
    for j in range(TEACHERS):
        rows = [i for i in range(len(data)) if i % TEACHERS == j]
        model = make_pipeline(
            StandardScaler(), LogisticRegression(solver="liblinear", max_iter=1000)
        )
        votes += model.fit(data.X[rows], data.y[rows]).predict(queries)
    return 0.5 * (2 * votes - TEACHERS) / 2


def test_one_block_one_fit_whatever_changes() -> None:
    mechanism = SoftMajority(r=1, learner="majority")
    data = Labelled(np.zeros((3, 1)), np.array([0, 1, 1]))
    mechanism.prepare(data)
    mechanism.prepare(data)
    assert mechanism.block_learner.fits == 1


@pytest.mark.parametrize(("n", "r"), [(1, 1), (4, 1), (5, 2), (6, 3), (6, 4), (6, 6)])
def test_partitions_are_those_of_all_permutations(n: int, r: int) -> None:
    dealt = {
        frozenset(frozenset(order[j::r]) for j in range(r))
        for order in itertools.permutations(range(n))
    }
    listed, sizes = partitions(n, r), block_sizes(n, r)
    assert (sum(sizes), len(sizes)) == (n, r)
    assert max(sizes) - min(sizes) <= 1
    assert len(listed) == partition_count(n, r) == len(dealt)
    assert {frozenset(map(frozenset, blocks)) for blocks in listed} == dealt
    assert all(block == tuple(sorted(block)) for blocks in listed for block in blocks)


FRESH_DRAWS = 5_000


def test_a_fresh_partition_is_sampled_as_it_is_enumerated() -> None:
    """The tree's answers depend on the partition, so a frozen or a lopsided one would show."""
    data = Labelled(np.array([[1.0], [2], [3], [4], [5]]), np.array([0, 1, 1, 0, 1]))
    queries = points([[1.0], [2.4], [4.0]], "queries")
    mechanism = SoftMajority(epsilon=3.0, r=2, learner="tree", partition="fresh")
    law = mechanism.distribution(data, queries)
    assert law is not None
    draws = mechanism.sample(data, queries, FRESH_DRAWS, np.random.default_rng(3))
    counts = np.stack([(draws == label).sum(axis=0) for label in (0, 1)], axis=1)
    p_values = two_sided(counts, FRESH_DRAWS, law)
    assert p_values.min() * p_values.size >= 1e-3
    frozen = SoftMajority(epsilon=3.0, r=2, learner="tree")
    fixed = frozen.distribution(frozen.prepare(data), queries)
    assert fixed is not None
    assert two_sided(counts, FRESH_DRAWS, fixed).min() < 1e-9


def test_beyond_ten_thousand_partitions_there_is_no_law() -> None:
    mechanism = SoftMajority(r=5, partition="fresh", learner="majority")
    data = Labelled(np.zeros((12, 1)), np.arange(12) % 2)
    assert partition_count(12, 5) > 10_000
    assert mechanism.distribution(data, points([[0.0]], "queries")) is None


@pytest.mark.parametrize(
    ("epsilon", "alpha", "blocks"), [(1.0, 0.1, 23), (0.5, 0.1, 45), (2.0, 0.01, 18)]
)
def test_number_of_blocks_of_the_theorem(epsilon: float, alpha: float, blocks: int) -> None:
    """ceil(6 ln(4 / alpha) / epsilon): 6 ln 40 = 22.13, 6 ln 400 = 35.95."""
    assert SoftMajority(epsilon=epsilon).blocks_for(alpha) == blocks


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("r", [1, 2, 25])
@pytest.mark.parametrize(("name", "factor"), [("soft-majority", 1), ("soft-majority-overview", 2)])
def test_worst_case_of_any_size_is_the_hand_formula(
    name: str, factor: int, epsilon: float, r: int
) -> None:
    """ln(sigma(a (2 - r) / 2) / sigma(-a r / 2)); the overview has a = 2 epsilon."""
    target, a = resolve(name, {"epsilon": epsilon, "r": r}), factor * epsilon
    found = any_size(target, target.claims[0])
    expected = math.log((1 + math.exp(a * r / 2)) / (1 + math.exp(a * (r - 2) / 2)))
    assert found is not None
    assert found.loss == pytest.approx(expected, abs=1e-12)
    assert found.loss - found.error <= a
    assert (found.loss > epsilon * (1 + 1e-9)) == (factor == 2 and r >= 2)


def test_log_odds_of_the_overview_are_twice_those_of_the_theorem() -> None:
    """P[b] is proportional to e^(epsilon n_b), so ln(P[1] / P[0]) = epsilon (n_1 - n_0)."""
    found = SoftMajorityOverview(epsilon=0.7, r=5).logit(np.arange(6))
    np.testing.assert_allclose(found, [0.7 * (k - (5 - k)) for k in range(6)], atol=1e-15)
