"""Power against the double sum over all counts, against simulation, and `detectable` against the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.limits import leak_lower, ranking_bound
from dpassay.power import POWER, SCREEN_ALPHA, Screening, detectable, hit, power, tight_pair
from dpassay.scales import Difference, Ratio, Scale


def double_sum(p1: float, p0: float, epsilon: float, delta: float, n: int, alpha: float) -> float:
    """P[leak_lower > epsilon], every pair of counts asked one by one."""
    x, y = np.arange(n + 1)[:, None], np.arange(n + 1)[None]
    refuted = leak_lower(x, n, y, n, scale=Ratio(delta), alpha=alpha) > epsilon
    return math.fsum((binom.pmf(x, n, p1) * binom.pmf(y, n, p0) * refuted).ravel().tolist())


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (2.0, 0.1)])
@pytest.mark.parametrize("truth", [0.5, 1.5, 2.5, 6.0])
def test_power_is_the_double_sum(n: int, epsilon: float, delta: float, truth: float) -> None:
    for p1, p0 in (tight_pair(truth, delta), (0.3, 0.3 * math.exp(-truth)), (1.0, 0.2), (0.5, 0.0)):
        for alpha in (0.05, 1e-4):
            found = power(p1, p0, epsilon=epsilon, delta=delta, n=n, alpha=alpha)
            assert found == pytest.approx(double_sum(p1, p0, epsilon, delta, n, alpha), abs=1e-11)


REPEATS = 20_000


@pytest.mark.parametrize(("truth", "n", "alpha"), [(1.2, 1000, 0.05), (1.08, 10_000, 1e-3), (2.0, 100, 0.01)])
def test_power_is_the_frequency_of_refutations(truth: float, n: int, alpha: float) -> None:
    """Within the exact two-sided 1 % region of the binomial law that the power stands for."""
    p1, p0 = tight_pair(truth, 0.0)
    expected = power(p1, p0, epsilon=1.0, delta=0.0, n=n, alpha=alpha)
    assert 0.1 < expected < 0.99
    rng = np.random.default_rng(17)
    bounds = leak_lower(rng.binomial(n, p1, REPEATS), n, rng.binomial(n, p0, REPEATS), n, scale=Ratio(0.0), alpha=alpha)
    refuted = int((bounds > 1.0).sum())
    assert binom.ppf(0.005, REPEATS, expected) <= refuted <= binom.isf(0.005, REPEATS, expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize(("n", "alpha"), [(300, 0.05), (20_000, 5e-4), (100_000, 1e-6)])
def test_detectable_is_the_smallest_loss_with_power_nine_tenths(epsilon: float, delta: float, n: int, alpha: float) -> None:
    def at(loss: float) -> float:
        return power(*tight_pair(loss, delta), epsilon=epsilon, delta=delta, n=n, alpha=alpha)

    found = detectable(promised=epsilon, scale=Ratio(delta), n=n, alpha=alpha)
    assert epsilon < found < math.inf
    assert at(found) >= POWER
    assert at(found - 2e-6) < POWER


def test_detectable_falls_with_trials_and_rises_with_confidence() -> None:
    found = [detectable(promised=1.0, scale=Ratio(0.0), n=n, alpha=0.05) for n in (100, 1000, 10_000, 100_000)]
    assert found == sorted(found, reverse=True)
    assert detectable(promised=1.0, scale=Ratio(0.0), n=1000, alpha=1e-3) > found[1]


def test_detectable_is_close_to_the_fast_form() -> None:
    """STATISTICS section 6 for a single test; two limits at alpha / 2 cost up to a factor sqrt 2 and never less than it."""
    for n, limit in ((1000, 1.169), (10_000, 1.052), (100_000, 1.016)):
        found = detectable(promised=1.0, scale=Ratio(0.0), n=n, alpha=0.05)
        assert limit - 1 < found - 1 < 1.5 * (limit - 1)


def test_nothing_is_detectable_with_too_few_trials() -> None:
    assert detectable(promised=20.0, scale=Ratio(0.0), n=100, alpha=0.05) == math.inf


@pytest.mark.parametrize("loss", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.5])
def test_tight_pair_has_its_loss_in_both_directions(loss: float, delta: float) -> None:
    p1, p0 = tight_pair(loss, delta)
    assert math.log((p1 - delta) / p0) == pytest.approx(loss, rel=1e-9)
    assert math.log(((1 - p0) - delta) / (1 - p1)) == pytest.approx(loss, rel=1e-9)


LEAKS = [(Ratio(), 1.0, 1.25), (Ratio(), 0.1, 0.6), (Ratio(0.05), 0.5, 0.8), (Difference(), 0.2, 0.3)]


def ends(scale: Scale, promised: float, p1: float) -> tuple[float, float]:
    """The least and the largest probability of a neighbour that keeps the claim beside p1, both labels, both directions."""
    epsilon, delta = scale.at(promised)
    low = max(0.0, (p1 - delta) * math.exp(-epsilon), 1 - math.exp(epsilon) * (1 - p1) - delta)
    high = min(1.0, 1 - (1 - p1 - delta) * math.exp(-epsilon), math.exp(epsilon) * p1 + delta)
    for rival in (low, high):
        faces = ((p1, rival), (rival, p1), (1 - p1, 1 - rival), (1 - rival, 1 - p1))
        assert max(float(scale.between(*face)) for face in faces) == pytest.approx(promised)
    return low, high


def found_among(others: np.ndarray, leak: float, scale: Scale, screening: Screening, runs: int) -> int:
    """Simulated as it is done: the best bound over labels and directions, per pair, ties against the leaking one."""
    n, rng = screening.draws, np.random.default_rng(31)
    p1, p0 = tight_pair(*scale.at(leak))
    x = rng.binomial(n, p1, (runs, 1))
    y = np.concatenate([rng.binomial(n, p0, (runs, 1)), rng.binomial(n, others, (runs, len(others)))], axis=1)
    faces = [(x, y), (y, x), (n - x, n - y), (n - y, n - x)]
    ranking = np.max([ranking_bound(a, n, b, n, scale=scale, alpha=SCREEN_ALPHA) for a, b in faces], axis=0)
    return int(np.sum(np.sum(ranking[:, 1:] >= ranking[:, :1], axis=1) < screening.finalists))


@pytest.mark.parametrize(("scale", "promised", "leak"), LEAKS)
@pytest.mark.parametrize(("pairs", "finalists"), [(2, 1), (40, 1), (40, 4), (3, 4)])
def test_hit_is_a_floor_whatever_the_crowd(scale: Scale, promised: float, leak: float, pairs: int, finalists: int) -> None:
    runs, screening = 1000, Screening(draws=80, pairs=pairs, finalists=finalists)
    low, high = ends(scale, promised, tight_pair(*scale.at(leak))[0])
    expected = hit(leak, scale=scale, promised=promised, screening=screening)
    for share in (0.0, 0.5, 1.0):
        others = np.where(np.arange(pairs - 1) < share * (pairs - 1), high, low)
        assert found_among(others, leak, scale, screening, runs) >= binom.ppf(0.001, runs, expected)


@pytest.mark.parametrize(("scale", "promised", "leak"), LEAKS)
def test_hit_is_no_idle_floor(scale: Scale, promised: float, leak: float) -> None:
    """Of one rival, it takes off what the two ends of the claim take off together, and no more."""
    runs, screening = 4000, Screening(draws=80, pairs=2)
    missed = sum(
        runs - found_among(np.array([end]), leak, scale, screening, runs)
        for end in ends(scale, promised, tight_pair(*scale.at(leak))[0])
    )
    expected = hit(leak, scale=scale, promised=promised, screening=screening)
    assert binom.ppf(0.001, runs, 1 - expected) <= missed <= binom.isf(0.001, runs, 1 - expected)


MANY = [pytest.param(5, promised, marks=pytest.mark.slow) for promised in (0.1, 1.0)]


@pytest.mark.parametrize(("labels", "promised"), [(3, 1.0), *MANY])
def test_hit_is_a_floor_with_more_labels_too(labels: int, promised: float) -> None:
    """The other labels share the rest evenly, and leak as much as the claim allows wherever they can."""
    pairs, finalists, n, runs, rng = 60, 4, 160, 300, np.random.default_rng(32)
    scale = Ratio()
    screening = Screening(draws=n, pairs=pairs, finalists=finalists, events=labels, complements=False)
    leak = detectable(scale=scale, promised=promised, n=10**6, alpha=1e-3, method="stouffer", screening=screening)
    p1, p0 = tight_pair(leak, 0.0)
    rival = max(p1 * math.exp(-promised), 1 - math.exp(promised) * (1 - p1))

    def law(p: float) -> list[float]:
        return [p, *[(1 - p) / (labels - 1)] * (labels - 1)]

    hits = 0
    for _ in range(runs):
        x = rng.multinomial(n, law(p1))
        y = np.concatenate([rng.multinomial(n, law(p0), 1), rng.multinomial(n, law(rival), pairs - 1)])
        faces = (ranking_bound(a, n, b, n, scale=scale, alpha=SCREEN_ALPHA) for a, b in ((x, y), (y, x)))
        ranking = np.max([face.max(axis=1) for face in faces], axis=0)
        hits += int(np.sum(ranking[1:] >= ranking[0]) < finalists)
    assert hits >= binom.ppf(0.001, runs, POWER)


def test_a_crowd_makes_less_detectable() -> None:
    """Few screening trials of many pairs hide a leak that certification would see; more of either help."""

    def found(draws: int, pairs: int, finalists: int = 1) -> float:
        screening = Screening(draws=draws, pairs=pairs, finalists=finalists)
        return detectable(promised=1.0, scale=Ratio(), n=10_000, alpha=1e-3, screening=screening)

    alone = detectable(promised=1.0, scale=Ratio(), n=10_000, alpha=1e-3)
    assert alone == found(100, 1)
    assert alone < found(500, 10) < found(500, 1000) < found(100, 1000)
    assert found(500, 1000, finalists=4) < found(500, 1000)
    assert found(10_000, 2) < alone + 0.01
