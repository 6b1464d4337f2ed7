"""The private histogram against its slow twin, its score against the proof of Theorem 6."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from dpassay import DP, Domain, Labelled, ScoreStability, audit
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.densities import (
    HistogramMasses,
    integrated_score,
    log_laplace,
    most_moved,
    sum_above,
    total_below,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.histogram import Histogram
from dpassay.pairs import Compared
from tests.mechanisms.chaudhuri_vinterbo_2013 import twin_histogram as twin

Array = NDArray[np.float64]
UNIT: dict[str, Any] = {"low": 0.0, "high": 1.0}


def data_of(values: list[Fraction]) -> Labelled:
    return Labelled(np.array([[float(x)] for x in values]), np.zeros(len(values), dtype=int))


@pytest.mark.parametrize("h", [1.0, 0.5, 0.125])
def test_estimates_and_scores_are_the_twins(h: float) -> None:
    rng = np.random.default_rng(1)
    n, m, bins = 7, 4, round(1 / h)
    mechanism = Histogram(alpha=0.5, h=h, H=str(h), n=n + m, m=m, **UNIT)
    for _ in range(50):
        values = [Fraction(int(k), 16) for k in rng.integers(17, size=n + m)]
        R = [Fraction(int(k), 8) for k in rng.integers(-40, 24, size=bins)]
        data = data_of(values)
        trained = mechanism.apply(data, h, np.array([[float(r) for r in R]]))
        _, density = twin.estimate(values[:n], bins, Fraction(1, 2), R)
        expected = [float(density(Fraction(2 * i + 1, 2 * bins)) / bins) for i in range(bins)]
        np.testing.assert_allclose(trained.p[0], expected, rtol=0, atol=max(trained.error, 1e-16))
        (score,), error = mechanism.score(trained, data)
        assert score == pytest.approx(
            float(twin.score(density, bins, values[n:])), rel=0, abs=error
        )
        assert error < 1e-11


@pytest.mark.parametrize("alpha", [0.3, 2.0])
@pytest.mark.parametrize(("n", "h"), [(1, 0.5), (2, 0.25), (3, 0.5)])
def test_all_counts_lose_alpha_on_every_dataset(alpha: float, n: int, h: float) -> None:
    """The law of the two bits; its loss is alpha where a record leaves or enters bin 0, else 0."""
    bins = round(1 / h)
    mechanism = Histogram(alpha=alpha, n=n, m=0, h=h, release="all", **UNIT)
    laws = {}
    for places in itertools.product(range(bins), repeat=n):
        data = Labelled(np.array([[(place + 0.5) * h] for place in places]), np.zeros(n, dtype=int))
        law = mechanism.distribution(mechanism.prepare(data), np.array([[0.5 * h]]))
        assert isinstance(law, FiniteLaw)
        counts = np.bincount(places, minlength=bins)
        full = twin.laplace_above(n, int(counts[0]), 2 / alpha)
        none = math.prod(1 - twin.laplace_above(0, int(count), 2 / alpha) for count in counts[1:])
        expected = [(1 - full) * none, (1 - full) * (1 - none), full * none, full * (1 - none)]
        np.testing.assert_allclose(law.p[0], expected, rtol=1e-13)
        laws[places] = law.log_p[0]
    for one, other in itertools.permutations(laws, 2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            moved = (0 in one or 0 in other) and one.count(0) != other.count(0)
            both = max(float(np.abs(laws[one] - laws[other]).max()), 0.0)
            assert both == pytest.approx(alpha if moved else 0.0, abs=1e-12)


def test_no_count_left_makes_a_uniform_estimate() -> None:
    mechanism = Histogram(n=12, m=10, h=0.25, H="0.25", **UNIT)
    data = Labelled(np.full((12, 1), 0.1), np.zeros(12, dtype=int))
    trained = mechanism.apply(data, 0.25, np.full((1, 4), -9.0))
    np.testing.assert_array_equal(trained.p, np.full((1, 4), 0.25))
    assert mechanism.score(trained, data)[0] == pytest.approx([1.0])  # -1 + 2


def test_two_dimensions_are_squares() -> None:
    X = np.array([[0.1, 0.1], [0.1, 0.9], [0.6, 0.9], [0.6, 0.95], [1.0, 1.0]])
    mechanism = Histogram(n=5, m=1, h=0.5, H="0.5", d=2, alpha=2.0, **UNIT)
    data = Labelled(X, np.zeros(5, dtype=int))
    state = mechanism.prepare(data)
    np.testing.assert_array_equal(state, [1, 0, 1, 2])  # the first column is the fastest
    R = np.array([[0.5, -1.0, 0.0, 1.0]])
    trained = mechanism.apply(data, 0.5, R)
    np.testing.assert_allclose(trained.p, [[1.5 / 5.5, 0, 1 / 5.5, 3 / 5.5]], rtol=1e-14)
    (score,), _ = mechanism.score(trained, data)
    f = np.array([1.5, 0, 1, 3]) / 5.5 * 4
    assert score == pytest.approx(-(f**2).sum() / 4 + 2 * f[3], abs=1e-13)
    assert Histogram(n=5000, m=10, h=0.5, H="0.5", d=2).claims[-2] == ScoreStability(
        beta1=6 * 4990 / (4990 - 2 * math.log(400) * 2) * 4,
        beta2=8.0,
        delta=0.01,
        unit="score",
        coins="the same on both sides",
        source="Chaudhuri and Vinterbo 2013, Theorem 6",
        status="printed",
    )


@pytest.mark.parametrize("alpha", [0.2, 5.0])
@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 3), (3, 0), (2, 2), (1, 9)])
def test_comparisons_are_the_twins(alpha: float, first: int, second: int) -> None:
    mechanism = Histogram(n=20, m=0, h=0.2, alpha=alpha, release="comparison", **UNIT)
    X = np.array([[0.1]] * first + [[0.3]] * second + [[0.9]] * (20 - first - second))
    law = mechanism.distribution(
        mechanism.prepare(Labelled(X, np.zeros(20, dtype=int))), np.array([[0.1]])
    )
    assert law is not None
    assert law.table[0, 1] == pytest.approx(
        math.log(twin.second_is_fuller(first, second, alpha)), abs=1e-10
    )


def test_what_small_histograms_lose() -> None:
    """Verified for a count, of any records; of all counts a part is looked at."""
    shared: dict[str, Any] = {"n": 4, "m": 1, "h": 0.5, "H": "1 0.5", "low": 0.5, "high": 3.5}
    count, every = Histogram(release="count", **shared), Histogram(release="all", **shared)
    printed, corrected = (claim for claim in count.claims if isinstance(claim, DP))
    assert (printed.epsilon, corrected.epsilon) == (1.0, 0.5)
    for mechanism, claim, found in (
        (count, corrected, ("verified", 0.5)),
        (every, every.claims[0], ("not refuted", pytest.approx(1.0, abs=1e-12))),
    ):
        result = audit(mechanism, claim=claim, mode="exhaustive", domain=Domain(n=4, points=3))
        assert (result.verdict, result.exact) == found
        below = DP(epsilon=0.98 * claim.promised)
        assert audit(mechanism, claim=below, mode="exact").verdict == "refuted"
    alone = Histogram(n=4, m=1, h=1.0, H="1 0.5")
    assert audit(alone, claim=alone.claims[0], mode="exact").exact == 0


def random_counts(rng: np.random.Generator, bins: int) -> Array:
    """n_i + 2 R_i / alpha, of many sizes; some next to 0."""
    counts = rng.choice([0.0, 1.0, 2.0, 7.0], size=bins) + rng.laplace(
        scale=rng.choice([0.1, 1.0, 4.0]), size=bins
    )
    return np.where(rng.random(bins) < 0.3, rng.uniform(-1, 1, size=bins), counts)


def shares(raw: Array) -> tuple[Array, float]:
    noisy = np.maximum(0.0, raw)
    return HistogramMasses.of(noisy[None]).p[0], float(noisy.sum())


@pytest.mark.parametrize("bins", [2, 3, 5])
def test_no_coupled_change_exceeds_the_bound(bins: int) -> None:
    """h |q - q'| <= 4 tau - 2 tau^2 for every move of one record and every V in one bin."""
    rng, seen, partial = np.random.default_rng(2), 0.0, 0
    for _ in range(1000):
        raw = random_counts(rng, bins)
        a, b = rng.permutation(bins)[:2]
        moved = raw.copy()
        moved[a], moved[b] = moved[a] - 1, moved[b] + 1
        partial += (0 < raw[a] < 1) or (-1 < raw[b] < 0)
        (p, before), (p_moved, after) = shares(raw), shares(moved)
        total = max(before, after)
        assert np.abs(p - p_moved).sum() / 2 <= min(1.0, 1 / total if total else 1.0) + 1e-12
        for v in np.eye(bins):
            change = abs(((p - v) ** 2).sum() - ((p_moved - v) ** 2).sum())
            bound = most_moved(1 / total if total else 1.0)
            assert change <= bound + 1e-12
            seen = max(seen, change / bound)
    assert seen > 0.9
    assert partial > 100  # cases that the proof does not list


def test_the_bound_is_attained_at_the_edge_of_the_event() -> None:
    """All n records in bin a, V in b, R_a = -theta and no other noise; one moves from a to b."""
    mechanism = Histogram(n=400, m=10, H="0.1")
    (case,) = mechanism.pairs()
    data, neighbour = case.pairs.base, case.pairs.changes[0].apply(case.pairs.base)
    R = np.zeros((1, 10))
    R[0, 0] = -(390 - mechanism.kept) / 2
    moved = [mechanism.score(mechanism.apply(each, 0.1, R), each) for each in (data, neighbour)]
    printed, corrected = mechanism.stability()
    assert 390 * abs(moved[0][0][0] - moved[1][0][0]) == pytest.approx(corrected.beta1, rel=1e-12)
    assert printed.beta1 / corrected.beta1 == pytest.approx(6 / (4 - 2 / mechanism.kept), rel=1e-12)


def test_half_of_all_strings_break_a_smaller_constant() -> None:
    """Unless R_b < 0 the full step is made: h n |q - q'| exceeds 3.5 for about half of all R."""
    mechanism = Histogram(n=1010, m=10, H="0.5", h=0.5)
    claim = ScoreStability(beta1=3.5 / 0.5, beta2=4.0, delta=0.3)
    result = audit(mechanism, claim=claim, mode="auto", budget=4000)
    assert result.verdict == "refuted"
    assert result.mode == "monte-carlo"
    assert 0.45 < result.lower < 0.65
    assert audit(mechanism, claim=mechanism.stability()[1], budget=4000).verdict == "not refuted"


def test_validation_moves_by_what_is_claimed() -> None:
    """All estimates in one bin: 2 / (m h) for a validation record that leaves it."""
    mechanism = Histogram(n=400, m=10, H="0.1")
    (case,) = mechanism.pairs()
    data, neighbour = case.pairs.base, case.pairs.changes[1].apply(case.pairs.base)
    trained = mechanism.apply(data, 0.1, np.array([[0.0, *[-1.0] * 9]]))
    one, other = (mechanism.score(trained, each)[0][0] for each in (data, neighbour))
    assert 10 * abs(one - other) == pytest.approx(mechanism.stability()[0].beta2, rel=1e-12)
    # nothing is claimed unless n >= 1 + 2 ln(4 k / delta) / (alpha sqrt(h)), here 38.89
    stable = [Histogram(n=n, m=10, H="0.1").stability() for n in (48, 49)]
    assert [len(claims) for claims in stable] == [0, 2]
    assert stable[1][0].beta1 > stable[1][1].beta1
    assert Histogram(m=0).stability() == ()


@pytest.mark.parametrize("theta", [0.0, 0.3, 2.0, 9.0, 30.0])
def test_the_tail_of_a_sum_is_exact(theta: float) -> None:
    """One: e^-t / 2. Two: (2 + t) e^-t / 4. Three: by quadrature. Lemma 3: 4 e^(-t / sqrt(s))."""

    def two(t: float) -> float:
        return (2 + t) * math.exp(-t) / 4 if t >= 0 else 1 - two(-t)

    def density(t: float) -> float:
        return math.exp(-abs(t)) / 2 * two(theta - t)

    edges = [-60.0, 0.0, *([theta] if theta else []), theta + 60]
    three = sum(
        quad(density, *ends, epsabs=0, epsrel=1e-11)[0] for ends in itertools.pairwise(edges)
    )
    assert [sum_above(s, theta) for s in (1, 2, 3)] == pytest.approx(
        [math.exp(-theta) / 2, two(theta), three], rel=1e-9
    )
    for s in (1, 2, 3, 10, 100):
        assert sum_above(s, theta) <= 4 * math.exp(-theta / math.sqrt(s))


@pytest.mark.parametrize("a", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("u", [0.01, 1.0, 1.0 + 1e-12, 3.0])
def test_transforms_are_integrals(a: float, u: float) -> None:
    density: Any = lambda x: math.exp(-abs(x - a) - u * x) / 2  # noqa: E731
    edges = [0.0, *([a] if a else []), a + 80]
    expected = math.exp(-a) / 2 + sum(
        quad(density, *ends, epsabs=0, epsrel=1e-11)[0] for ends in itertools.pairwise(edges)
    )
    assert log_laplace(np.array([a]), u)[0] == pytest.approx(math.log(expected), abs=1e-9)
    # large counts do not underflow: e^-a / 2, plus e^-a / (2 (u - 1))
    large = log_laplace(np.array([2000.0]), 3.0)[0]
    assert large == pytest.approx(-2000 + math.log(0.75), abs=1e-9)


def test_the_bound_on_a_small_total_is_one() -> None:
    """One bin: P[max(0, n + R / s) < t] = e^(-s (n - t)) / 2; more bins by trials."""
    for total in (1.0, 5.0, 9.0):
        assert math.exp(-0.5 * (10 - total)) / 2 <= total_below(np.array([10]), 0.5, total) <= 1
    rng = np.random.default_rng(3)
    counts = np.array([10, 0, 3])
    drawn = np.maximum(0, counts + 2 * rng.laplace(size=(200_000, 3))).sum(axis=1)
    for total in (4.0, 8.0, 12.0):
        assert (drawn < total).mean() <= total_below(counts, 0.5, total) * 1.05
    assert total_below(np.array([1000, 0]), 0.5, 900.0) < 1e-10
    assert 0 <= total_below(np.array([500, 0, 3]), 4.0, 400.0) < 1e-100
    assert total_below(counts, 0.5, math.inf) == 1


def test_shares_that_are_not_next_to_nothing_are_left_to_trials() -> None:
    mechanism = Histogram(n=400, m=10, H="0.1", h=0.1)
    (case,) = mechanism.pairs()
    both = Compared(base=case.pairs.base, changes=case.pairs.changes)
    printed = mechanism.stability()[0]
    known = mechanism.bad_share(both, printed)
    assert known is not None
    assert known[0] == 0
    assert known[1] < 1e-6
    assert mechanism.bad_share(both, ScoreStability(beta1=printed.beta1 / 2, beta2=20.0)) is None
    assert mechanism.bad_share(both, ScoreStability(beta1=0.0, beta2=20.0)) is None
    assert mechanism.bad_share(both, ScoreStability(beta1=printed.beta1, beta2=19.0)) is None


def test_scores_of_identical_estimates_do_not_depend_on_the_batch() -> None:
    rng = np.random.default_rng(4)
    p = HistogramMasses.of(rng.random((5, 3)))
    whole, _ = integrated_score(p, np.array([0.5, 0.5, 0.0]))
    single, _ = integrated_score(
        HistogramMasses(p=p.p[2:3], error=p.error), np.array([0.5, 0.5, 0.0])
    )
    assert whole[2] == pytest.approx(single[0], abs=1e-15)


def test_data_that_do_not_fit() -> None:
    data = Labelled(np.zeros((400, 1)), np.zeros(400, dtype=int))
    for parameters, text in (
        ({"d": 2}, "feature"),
        ({"n": 401}, "n = 401: must be the number of records, 400"),
    ):
        with pytest.raises(InvalidInput, match=text):
            Histogram(**parameters).check(data)  # type: ignore[arg-type]
