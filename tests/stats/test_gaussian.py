"""Gaussian differential privacy. Regions, exact distances and sampled bounds, against definitions
and enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from dpassay.noise import Noise
from dpassay.stats.bounds import Counts
from dpassay.stats.combined import STOUFFER, Null, rejects
from dpassay.stats.divergence import gaussian_shift
from dpassay.stats.event_leak import leak_lower, leak_upper
from dpassay.stats.exact_error import frontier, probability, worst_error
from dpassay.stats.lower_bounds import COMBINED, NAMES, Method, choose, combined_lower, lower_bound
from dpassay.stats.power import POWER, detectable, power_of
from dpassay.stats.regions import CurveRegion, LineRegion, log_noise
from dpassay.stats.scales import ShiftScale
from dpassay.stats.upper_bounds import combined_upper

Array = NDArray[np.float64]
MU = ShiftScale()
N, ALPHA = 60, 0.05


def probabilities(count: int) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.integers(0, 1000), min_size=count, max_size=count)
    return weights.filter(any).map(lambda each: [weight / sum(each) for weight in each])


def brute(p: Array, q: Array) -> float:
    """Largest Phi^-1(P[E]) - Phi^-1(Q[E]) over all sets of labels, each sum taken from its smaller
    side."""
    worst = 0.0
    for inside in itertools.product((False, True), repeat=len(p)):
        chosen = np.array(inside)
        one, other = (_quantile(law[chosen], law[~chosen]) for law in (p, q))
        if one > -math.inf and other < math.inf:
            worst = max(worst, one - other)
    return worst


def _quantile(inside: Array, outside: Array) -> float:
    mass, rest = math.fsum(inside), math.fsum(outside)
    if mass == 0 or rest == 0:
        return -math.inf if mass == 0 else math.inf
    return float(ndtri(mass)) if mass <= rest else -float(ndtri(rest))


def logs(p: list[float] | Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(p)))


# exact


@pytest.mark.parametrize("labels", [2, 3, 5])
@given(data=st.data())
def test_the_distance_is_the_largest_over_all_sets_of_labels(
    labels: int, data: st.DataObject
) -> None:
    p, q = (np.array(data.draw(probabilities(labels))) for _ in range(2))
    found, wanted = gaussian_shift(logs(p), logs(q)), brute(p, q)
    if math.isinf(wanted):
        assert math.isinf(found.value)
        assert found.error == 0
        return
    assert abs(float(found.value) - wanted) <= float(found.error) + 1e-12 * (1 + wanted)
    back = gaussian_shift(logs(q), logs(p))
    # the complement, the other way round
    assert float(back.value) == pytest.approx(float(found.value), abs=1e-9)


@given(data=st.data())
def test_the_event_attains_the_distance(data: st.DataObject) -> None:
    p, q = (np.array(data.draw(probabilities(4))) for _ in range(2))
    found = gaussian_shift(logs(p), logs(q))
    if 0 < found.value < math.inf:
        event = found.event
        attained = _quantile(p[event], p[~event]) - _quantile(q[event], q[~event])
        assert attained == pytest.approx(float(found.value), abs=1e-9)


@given(data=st.data(), coin=st.floats(0, 1))
def test_tests_that_toss_coins_do_no_better(data: st.DataObject, coin: float) -> None:
    p, q = (np.array(data.draw(probabilities(3))) for _ in range(2))
    mu = float(gaussian_shift(logs(p), logs(q)).value)
    if math.isinf(mu):
        return
    accept = np.array(
        data.draw(st.lists(st.sampled_from([0.0, coin, 1.0]), min_size=3, max_size=3))
    )
    assert accept @ p <= float(CurveRegion(mu).edge(np.array(accept @ q), both=False)) + 1e-9


# The golden numbers below are of mpmath at 60 digits or more, Phi^-1(p) as sqrt(2) erfinv(2 p - 1),
# or as the root of ln Phi.


@pytest.mark.parametrize(
    ("epsilon", "golden"),
    [(0.1, 0.12530901221160758802), (1.0, 1.2320353853449009729), (5.0, 4.9466784455956585928)],
)
def test_randomised_response_has_twice_the_quantile(epsilon: float, golden: float) -> None:
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    found = gaussian_shift(logs([p, 1 - p]), logs([1 - p, p]))
    assert float(found.value) == pytest.approx(golden, rel=1e-13)


@pytest.mark.parametrize(
    ("far", "golden"), [(-800.0, 0.075099014840303907345), (-60.0, 0.27576943609409117733)]
)
def test_far_tails_keep_their_digits(far: float, golden: float) -> None:
    one, other = (np.array([tail, np.log1p(-math.exp(tail))]) for tail in (far, far - 3.0))
    found = gaussian_shift(one, other)
    assert abs(float(found.value) - golden) <= float(found.error) <= 1e-9


def test_the_error_of_a_law_is_carried() -> None:
    rng, error = np.random.default_rng(3), 1e-4
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        found = gaussian_shift(np.log(p), np.log(q), error)
        moved = [law * np.exp(rng.uniform(-error, error, 4)) for law in (p, q)]
        moved = [law / law.sum() for law in moved]
        if all(np.abs(np.log(a / b)).max() <= error for a, b in zip(moved, (p, q), strict=True)):
            assert abs(brute(*moved) - float(found.value)) <= float(found.error)


def test_noise_has_the_distance_of_its_worst_half_line() -> None:
    thresholds = np.linspace(-20, 30, 500_001)
    for shift, golden in (
        (0.1, 0.12232592908449794879),
        (1.0, 1.0300639976244338757),
        (4.0, 2.9867788213145184141),
    ):
        gaussian, laplace = (Noise(kind=kind, scale=1.0) for kind in ("gaussian", "laplace"))
        assert gaussian.distance(np.array(shift))[0] == shift
        one, other = (np.exp(laplace.log_below(centre - thresholds)) for centre in (shift, 0.0))
        seen = MU.between(one, other)
        seen = seen[np.isfinite(seen) & (one < 0.999999)]
        value, error = laplace.distance(np.array(shift))
        assert float(seen.max()) == pytest.approx(float(value), abs=1e-8)
        assert 0 < float(error) < 1e-13
        assert float(value) == pytest.approx(golden, rel=1e-13)
        assert MU.move("Laplace", float(value)) == pytest.approx(shift, rel=1e-9)


# regions


@pytest.mark.parametrize(
    ("mu", "p0", "golden"),
    [
        (0.5, 0.25, 0.43074029268189662836),
        (1.0, 0.5, 0.84134474606854294859),
        (3.0, 1e-9, 0.0013596490414393031551),
        (6.0, 1e-12, 0.15045501725897456124),
        (0.001, 0.75, 0.75031766937531820093),
        (2.0, 0.875, 0.99918462340919420269),
        (1.0, 1e-300, 7.6571720647830869962e-285),
    ],
)
def test_the_curve_is_the_trade_off_function(mu: float, p0: float, golden: float) -> None:
    most = float(CurveRegion(mu).most(np.array(p0)))
    assert golden <= most <= golden * (1 + 1e-11)  # a null hypothesis is never smaller than it is
    assert float(CurveRegion(mu).edge(np.array(p0), both=False)) == pytest.approx(golden, rel=1e-11)
    assert float(CurveRegion(mu).inverse(golden)) == pytest.approx(p0, rel=1e-11)


def test_the_tight_pair_and_the_accuracy_have_the_distance() -> None:
    for mu in (0.01, 1.0, 5.0):
        p1, p0 = CurveRegion(mu).tight
        assert float(MU.between(p1, p0)) == pytest.approx(mu)
        assert CurveRegion(mu).accuracy == pytest.approx(p1)
        low, high = CurveRegion(mu).around(0.3)
        assert (
            float(MU.between(0.3, low))
            == pytest.approx(mu)
            == pytest.approx(float(MU.between(high, 0.3)))
        )


def test_the_noise_of_a_quantile_is_log_convex_so_weights_are_monotone() -> None:
    z = np.linspace(-37, 37, 20_001)
    assert (np.diff(log_noise(z), 2) > 0).all()
    assert log_noise(np.array(0.3)) == pytest.approx(
        math.log(ndtr(0.3) * ndtr(-0.3) * 2 * math.pi * math.exp(0.09))
    )
    for mu in (-3.0, -0.5, 0.5, 3.0):
        ratio, one = CurveRegion(mu).errors(ndtr(np.linspace(-30, 8, 3000)), np.empty(0), 10, 20)
        assert (np.sign(np.diff(ratio)) * np.sign(mu) >= 0).all()
        assert (one == 1).all()


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_reverses_of_regions(epsilon: float) -> None:
    p0 = np.linspace(0.01, 0.5, 50)
    for allowed in (LineRegion(epsilon, 0.01), CurveRegion(epsilon)):
        p1 = allowed.edge(p0, both=False)
        inside = p1 < 1
        np.testing.assert_allclose(allowed.reverse.edge(p1, both=False)[inside], p0[inside])
        np.testing.assert_allclose(allowed.inverse(p1)[inside], p0[inside])


# sampled


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("mu", [0.2, 0.5, 1.0])
def test_no_test_refutes_a_claim_that_holds_more_often_than_alpha(
    method: Method, mu: float
) -> None:
    """Enumerated from the binomial laws at every point of the boundary, with a proof between the
    points of the grid."""
    largest = frontier(method, N, allowed=CurveRegion(mu), alpha=ALPHA)
    found = worst_error(method, largest, allowed=CurveRegion(mu), alpha=ALPHA)
    assert 0 < found.attained <= found.at_most <= ALPHA


def test_a_test_that_forgets_half_of_the_claim_is_found_out() -> None:
    largest = frontier("stouffer", N, allowed=CurveRegion(0.5), alpha=ALPHA)
    assert (
        worst_error("stouffer", largest, allowed=CurveRegion(1.0), alpha=ALPHA).attained > 5 * ALPHA
    )


@pytest.mark.parametrize("method", NAMES)
def test_lower_bounds_cover_every_pair(method: Method) -> None:
    """P[bound > true distance], enumerated over all counts of 12 trials a side, at many true
    pairs."""
    n, counts = 12, np.arange(13)
    bounds = np.array(
        [
            [
                lower_bound(method, Counts(x=x, n1=n, y=y, n0=n), scale=MU, alpha=ALPHA).value
                for y in counts.tolist()
            ]
            for x in counts.tolist()
        ]
    )
    for p1, p0 in itertools.product((0.02, 0.3, 0.5, 0.9, 0.999), repeat=2):
        truth = max(0.0, float(MU.between(p1, p0)))
        if method == "accuracy":  # of both labels; there they are the same
            truth = max(truth, float(MU.between(1 - p0, 1 - p1)))
        law = np.outer(binom.pmf(counts, n, p1), binom.pmf(counts, n, p0))
        assert law[bounds > truth].sum() <= ALPHA


def test_upper_bounds_cover_every_pair() -> None:
    n, counts = 12, np.arange(13)
    limits = np.array(
        [[float(leak_upper(x, n, y, n, scale=MU, alpha=ALPHA)) for y in counts] for x in counts]
    )
    sharp = np.array(
        [
            [combined_upper(STOUFFER, x, n, y, n, scale=MU, alpha=ALPHA) for y in counts.tolist()]
            for x in counts.tolist()
        ]
    )
    for p1, p0 in itertools.product((0.02, 0.3, 0.5, 0.9, 0.999), repeat=2):
        truth = max(0.0, float(MU.between(p1, p0)))
        law = np.outer(binom.pmf(counts, n, p1), binom.pmf(counts, n, p0))
        for bounds in (limits, sharp):
            assert law[bounds < truth].sum() <= ALPHA
    assert np.isinf(limits[:, 0]).all()
    assert np.isinf(limits[n]).all()


@pytest.mark.parametrize("x", [0, 1, 30, 59, 60])
@pytest.mark.parametrize("y", [0, 1, 30, 59, 60])
@pytest.mark.parametrize("method", COMBINED)
def test_a_combined_bound_is_refuted_by_its_test(method: Method, x: int, y: int) -> None:
    """And little more is. Stouffer's weights are made for events that are expected often, on both
    sides."""
    bound = combined_lower(COMBINED[method], x, N, y, N, scale=MU, alpha=ALPHA)
    if method == "fisher" or {x, y} == {30}:
        assert not rejects(
            COMBINED[method], Null(x=x, n1=N, y=y, n0=N, allowed=CurveRegion(bound + 0.05)), ALPHA
        )
    if bound > 0:
        assert rejects(
            COMBINED[method], Null(x=x, n1=N, y=y, n0=N, allowed=CurveRegion(bound)), ALPHA
        )
        assert bound <= float(MU.between(MU.share(x, N), MU.share(y, N)))


def test_the_combined_test_gives_more_than_two_limits() -> None:
    """0.91 of 1 at 4,000 trials a side; the two limits alone give 0.88."""
    n = 4000
    counts = Counts(x=2766, n1=n, y=1234, n0=n)
    chosen = choose(277, 123, 400, n, labels=3, scale=MU, alpha=0.01)
    assert chosen == "stouffer"
    sharp = lower_bound(chosen, counts, scale=MU, alpha=0.01).value
    plain = float(leak_lower(counts.x, n, counts.y, n, scale=MU, alpha=0.01))
    assert plain + 0.02 < sharp < 1


def test_the_complement_in_the_other_direction_is_bounded_alike() -> None:
    for x, y in ((40, 12), (59, 30), (3, 0)):
        offs: dict[Method, float] = {"clopper-pearson": 1e-12, "accuracy": 1e-12, "fisher": 0.02}
        for method, off in offs.items():
            one = lower_bound(method, Counts(x=x, n1=N, y=y, n0=N), scale=MU, alpha=ALPHA).value
            other = lower_bound(
                method, Counts(x=N - y, n1=N, y=N - x, n0=N), scale=MU, alpha=ALPHA
            ).value
            assert other == pytest.approx(one, abs=off)


@pytest.mark.parametrize(
    "method", ["clopper-pearson", "accuracy", pytest.param("stouffer", marks=pytest.mark.slow)]
)
def test_what_is_detectable_is_refuted_nine_times_in_ten(method: Method) -> None:
    n, alpha = 2000, 1e-3
    found = detectable(scale=MU, promised=1.0, n=n, alpha=alpha, method=method)
    largest = np.clip(frontier(method, n, allowed=CurveRegion(1.0), alpha=alpha), -1, n)
    for leak, enough in ((found + 0.01, True), (found - 0.01, False)):
        p1, p0 = (np.array([p]) for p in CurveRegion(leak).tight)
        assert (float(probability(largest, p1, p0)[0]) >= POWER) == enough
    assert power_of(*CurveRegion(found).tight, np.arange(n + 1), largest, n) == pytest.approx(
        POWER, abs=0.02
    )
