"""Slow twins of what the rows of Dagan and Feldman (2020) compute, on small sizes."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linprog

from dpassay.claims import Stability
from dpassay.data import Labelled
from dpassay.mechanisms.dagan_feldman_2020.exponential import worst_excess
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.theorems.dagan_feldman_2020 import (
    conversion,
    errors,
    exponential_mechanism,
    lower_bounds,
    relabelled_crowd,
    relabelled_lemmas,
    relabelled_sizes,
    stability,
    subsampling,
)
from tests.mechanisms.dagan_feldman_2020.lemmas_10_11 import worst


@pytest.mark.parametrize(("alpha", "gamma"), [(0.1, 0.05), (0.4, 0.2), (0.6, 0.3), (0.9, 0.3375)])
def test_the_loss_after_a_flip_by_every_pair_of_probabilities(alpha: float, gamma: float) -> None:
    p = np.linspace(0, 1, 401)
    near = np.clip(np.stack([p - gamma, p, p + gamma]), 0, 1)
    one, other = alpha + (1 - 2 * alpha) * p, alpha + (1 - 2 * alpha) * near
    ratios = np.concatenate([one / other, other / one, (1 - one) / (1 - other)])
    assert math.log(ratios.max()) == pytest.approx(conversion.flipped_loss(alpha, gamma), abs=1e-12)


@pytest.mark.parametrize(("flip", "best", "excess"), [(0.1, 0.3, 0.2), (0.9, 0.1, 0.5)])
def test_the_error_after_a_flip_by_every_error_before(
    flip: float, best: float, excess: float
) -> None:
    before = np.linspace(0, min(1, best + excess), 301)
    after = flip * (1 - before) + (1 - flip) * before - best
    assert after.max() == pytest.approx(conversion.flipped_error(flip, best, excess), abs=1e-12)


def test_the_loss_of_the_exponential_mechanism_by_every_dataset() -> None:
    """Up to three records on {1, 2, 3}, thresholds 1, ..., 4; below the row's epsilon, and near."""
    records = list(itertools.product((1, 2, 3), (0, 1)))
    epsilon, largest = 1.0, 0.0

    def ones(S: tuple[tuple[int, int], ...], x: int) -> float:
        weights = [math.exp(-epsilon / 2 * sum((at >= t) != y for at, y in S)) for t in range(1, 5)]
        return sum(w for t, w in zip(range(1, 5), weights, strict=True) if x >= t) / sum(weights)

    for rest in itertools.product(records, repeat=2):
        for one, other in itertools.permutations(records, 2):
            for x in (1, 2, 3):
                p, q = ones((one, *rest), x), ones((other, *rest), x)
                largest = max(largest, math.log(p / q), math.log((1 - p) / (1 - q)))
    measured = exponential_mechanism.privacy("thresholds", 3, epsilon)
    assert 0.8 * epsilon < largest < measured.upper
    assert measured.lower <= measured.claimed == epsilon


@pytest.mark.parametrize(("size", "n", "epsilon"), [(2, 1, 2.0), (3, 4, 0.5), (4, 3, 2.0)])
def test_the_worst_excess_by_all_error_counts(size: int, n: int, epsilon: float) -> None:
    largest = 0.0
    for counts in itertools.product(range(n + 1), repeat=size - 1):
        k = np.array([0, *counts])
        weights = np.exp(-epsilon / 2 * k)
        largest = max(largest, float(k @ weights / weights.sum()) / n)
    assert largest == pytest.approx(worst_excess(size, n, epsilon), abs=1e-12)
    assert exponential_mechanism.error(size, n, epsilon).lower <= largest + 1e-12


def test_the_best_stable_learner_by_all_samples() -> None:
    """n = 5 draws, one of four points of mass .2 and its rest: mean error at the point."""
    n, mass, gamma = 5, 0.2, 0.3
    mean = 0.0
    for draw in itertools.product((True, False), repeat=n):
        t = sum(draw)
        chance = mass**t * (1 - mass) ** (n - t)
        p = min(1.0, max(0.0, 0.5 + gamma * t / 2))
        mean += chance * (1 - p)
    assert mean == pytest.approx(lower_bounds.unlearned(n, mass, gamma) / 2, rel=1e-12)


def test_the_needed_examples_are_the_least() -> None:
    found = lower_bounds.theorem(10, 0.3, 0.1)
    share = 0.4 / 9
    n = int(found.lower)
    assert lower_bounds.unlearned(n, share, 0.3) <= 0.5 < lower_bounds.unlearned(n - 1, share, 0.3)


@pytest.mark.parametrize(("alpha", "beta"), [(0.125, 0.25), (0.05, 0.1)])
def test_the_overlap_of_two_coins_by_sums(alpha: float, beta: float) -> None:
    def overlap(n: int) -> float:
        p, q = 0.5 + alpha, 0.5 - alpha
        return sum(
            math.comb(n, k) * min(p**k * q ** (n - k), q**k * p ** (n - k)) for k in range(n + 1)
        )

    n = int(lower_bounds.bits(alpha, beta).lower)
    assert overlap(n) / 2 <= beta * (1 + 1e-9)
    assert all(overlap(m) / 2 > beta for m in range(n))


@pytest.mark.parametrize("replaced", [False, True])
def test_a_kept_order_by_all_subsets(replaced: bool) -> None:
    n, size, epsilon, sets = 12, 3, 0.999, [[1, 1], [2, 3], [3, 7]]
    S = [0 if replaced else 1, *range(2, n + 1)]
    counts = Counter(
        sum(not low <= at <= high for at, (low, high) in zip(T, sets, strict=True))
        for T in itertools.combinations(S, size)
    )
    assert [counts[w] for w in range(4)] == ([0, 13, 37, 170] if replaced else [9, 20, 51, 140])
    total = sum(number * math.exp(-epsilon * w) for w, number in counts.items())
    found = subsampling.ones(n, size, sets, epsilon, replaced=replaced)
    assert found == pytest.approx(total / math.comb(n, size) / 2, rel=1e-12)


def largest_loss(n: int, size: int, place: int, epsilon: float) -> float:
    """Over all A' of this epsilon, by its probabilities of label 1, made small; LP.

    f(u) <= e^(eps d(u, v)) f(v), d the number of places in which u and v differ.
    """
    S, other = list(range(n)), [n if i == place else i for i in range(n)]
    ways = [list(itertools.combinations(each, size)) for each in (S, other)]
    nodes = sorted({*ways[0], *ways[1]})
    one, two = (np.array([each in way for each in nodes], dtype=float) for way in ways)
    table = np.array(nodes)
    distance = (table[:, None] != table[None]).sum(axis=2)
    pairs = np.argwhere(distance)
    bound = np.zeros((len(pairs), len(nodes)))
    bound[np.arange(len(pairs)), pairs[:, 0]] = 1
    bound[np.arange(len(pairs)), pairs[:, 1]] = -np.exp(epsilon * distance[tuple(pairs.T)])
    found = linprog(two, A_ub=bound, b_ub=np.zeros(len(pairs)), A_eq=one[None], b_eq=[1])
    assert found.fun is not None
    return -math.log(found.fun)


def test_no_algorithm_breaks_lemma_5_with_six_records_or_fewer() -> None:
    for n in range(2, 7):
        for size, place in itertools.product(range(1, n), range(n)):
            assert largest_loss(n, size, place, 0.999) < 2 * 0.999 * size / n


def test_averaging_by_hand() -> None:
    assert subsampling.changes("disjoint", 2, 2)[:2] == pytest.approx((0.5, math.inf))
    assert subsampling.changes("subset", 2, 3)[:2] == pytest.approx((1 / 3, math.inf))


@pytest.mark.parametrize("calibration", ["lemma7", "outline"])
def test_the_change_is_the_corrected_claim(calibration: str) -> None:
    learner = StableLearner(gamma=0.5, n=11, calibration=calibration)  # type: ignore[arg-type]
    _, corrected = learner.claims
    assert isinstance(corrected, Stability)
    change = stability.lemma if calibration == "lemma7" else stability.down
    assert change(0.5, 11).lower == pytest.approx(corrected.gamma, rel=1e-9)


def test_one_record_and_T_rounded_up() -> None:
    assert stability.up(0.1, 1, "least").lower == pytest.approx(1 / (1 + math.exp(-0.0125)))


def test_the_error_of_the_stable_learner_by_all_subsets() -> None:
    n, size, epsilon = 8, 3, 0.4
    learner = StableLearner(n=n, gamma=epsilon, calibration="lemma7")
    assert (learner.n_prime, learner.epsilon) == (size, epsilon)
    for way in errors.WAYS:
        y = errors.labels(way, n)
        total = 0.0
        for T in itertools.combinations(range(n), size):
            # least: thresholds at the points of T, and above all
            counts = np.array([int(((np.arange(n) >= t) != y).sum()) for t in (*T, n)])
            weights = np.exp(-epsilon / 2 * counts)
            total += float(counts @ weights / weights.sum()) / n
        data = Labelled(np.arange(n, dtype=float)[:, None], y)
        found = float(np.abs(errors.probabilities(learner, data) - y).mean())
        assert found == pytest.approx(total / math.comb(n, size), abs=1e-9)


def test_least_errors_by_all_thresholds() -> None:
    for way in errors.WAYS:
        y = errors.labels(way, 20)
        data = Labelled(np.arange(20.0)[:, None], y)
        every = [int(((np.arange(20) >= t) != y).sum()) for t in range(21)]
        assert errors.least_errors(data) == min(every)


CASE = ("thresholds", 2, 4, 2, 0.25)


def test_lemmas_10_and_11_by_plain_loops() -> None:
    found = worst(*CASE, r=4)
    assert relabelled_lemmas.lemma_10(*CASE).lower == pytest.approx(found.lemma_10, rel=1e-9)
    assert relabelled_lemmas.lemma_11(*CASE).lower == pytest.approx(
        math.log(found.lemma_11), rel=1e-9
    )


def test_the_crowd_comes_near_three() -> None:
    found = relabelled_crowd.crowd(80)
    assert 2.98 < found.lower <= found.upper < found.claimed == 3


def test_lemma_8_by_plain_means() -> None:
    """Three records, two drawn: h_S is a mean over three subsets; its loss is less than ln A."""
    domain = relabelled_lemmas.small("thresholds", 2, 3, 2, 0.34)
    S = ((1, 0), (1, 1), (2, 1))
    X = relabelled_lemmas.points_of(S)
    means = np.mean(
        [domain.given(S, X[list(each)], domain.rate) for each in ((0, 1), (0, 2), (1, 2))], axis=0
    )
    assert ((means > 0) & (means < 1)).all()
    measured = relabelled_lemmas.lemma_8("thresholds", 2, 3, 2, 0.34)
    assert 1 < measured.upper < measured.claimed


@pytest.mark.parametrize("case", [(1, 0.5, 0.5), (2, 0.5, 0.5)])
def test_sizes_meet_lemma_8_and_hardly_smaller_ones_do(case: tuple[int, float, float]) -> None:
    d, alpha, epsilon = case
    found = relabelled_sizes.sizes(d, alpha, epsilon)
    assert found.slack >= 1
    assert found.n_prime > epsilon * (found.n - 1) - 1
