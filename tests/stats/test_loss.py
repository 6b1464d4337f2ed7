"""Privacy loss against brute force over all events, in fractions and 60-digit decimals."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.stats.divergence import CellLoss, privacy_loss

ULP = 2.0**-53
Weights = list[int]
DELTAS = st.one_of(
    st.just(0.0), st.floats(1e-12, 0.999), st.sampled_from([1e-9, 0.01, 0.1, 0.25, 0.5])
)


@st.composite
def laws(draw: st.DrawFn, largest: int = 10**6) -> tuple[Weights, Weights]:
    """Two laws over 2 to 5 labels as integer weights, zeros included."""
    labels = draw(st.integers(2, 5))
    weights = st.lists(
        st.one_of(st.just(0), st.integers(1, 9), st.integers(0, largest)),
        min_size=labels,
        max_size=labels,
    )
    return draw(weights.filter(any)), draw(weights.filter(any))


def fractions(weights: Weights) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def logs(weights: Weights) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(weights) - math.log(sum(weights))


def log_error(*each: NDArray[np.float64]) -> float:
    """What `logs` may be wrong by. Two logarithms and a difference, each to an ulp of at most
    ln(5e6)."""
    return 4 * ULP * 20.0


def ln(value: Fraction) -> Decimal:
    return Decimal(value.numerator).ln() - Decimal(value.denominator).ln()


def worst_ratio(p: list[Fraction], q: list[Fraction], delta: float) -> Fraction | None:
    """max over all events of (P[E] - delta) / Q[E]. None for infinity, 0 where no event exceeds
    delta."""
    best = Fraction(0)
    for event in itertools.product((False, True), repeat=len(p)):
        excess = sum(
            (a for a, inside in zip(p, event, strict=True) if inside), Fraction(0)
        ) - Fraction(delta)
        below = sum((b for b, inside in zip(q, event, strict=True) if inside), Fraction(0))
        if excess > 0 and below == 0:
            return None
        if excess > 0:
            best = max(best, excess / below)
    return best


def assert_within_error(loss: CellLoss, ratio: Fraction | None) -> None:
    """The true loss lies between epsilon - error and epsilon + error."""
    epsilon, error = float(loss.value), float(loss.error)
    assert epsilon >= 0
    assert error >= 0
    if math.isinf(error):
        return
    if ratio is None:
        assert math.isinf(epsilon)
        return
    assert math.isfinite(epsilon)
    with localcontext() as context:
        context.prec = 60
        truth = max(Decimal(0), ln(ratio)) if ratio > 0 else Decimal(0)
        assert abs(Decimal(epsilon) - truth) <= Decimal(error)


@given(laws(), DELTAS)
def test_equals_the_worst_of_all_events_within_its_error(
    pair: tuple[Weights, Weights], delta: float
) -> None:
    p, q = pair
    loss = privacy_loss(logs(p), logs(q), delta, log_error())
    assert_within_error(loss, worst_ratio(fractions(p), fractions(q), delta))


@given(laws(), st.floats(0.01, 0.9))
def test_the_error_is_small_where_nothing_cancels(
    pair: tuple[Weights, Weights], delta: float
) -> None:
    p, q = pair
    sums = [sum(event) for event in itertools.product(*((0, weight) for weight in p))]
    assume(all(abs(Fraction(each, sum(p)) - Fraction(delta)) > Fraction(1, 1000) for each in sums))
    loss = privacy_loss(logs(p), logs(q), delta, log_error())
    assert loss.error <= 1e-10


@given(laws(largest=30), st.data(), st.integers(-3, 3))
def test_the_error_covers_a_delta_next_to_the_probability_of_an_event(
    pair: tuple[Weights, Weights], data: st.DataObject, steps: int
) -> None:
    """P[E] - delta is then all rounding: the answer must own up to it."""
    p, q = pair
    event = data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p)))
    delta = sum(weight for weight, inside in zip(p, event, strict=True) if inside) / sum(p)
    for _ in range(abs(steps)):
        delta = math.nextafter(delta, math.copysign(math.inf, steps))
    assume(0 < delta < 1)
    loss = privacy_loss(logs(p), logs(q), delta, log_error())
    assert_within_error(loss, worst_ratio(fractions(p), fractions(q), delta))


def test_a_loss_that_hangs_on_the_last_bit_of_delta() -> None:
    """P = (3/10, 7/10) exactly, Q = (0, 1). Infinite for delta < 3/10, and the float 0.3 is below
    3/10."""
    loss = privacy_loss(logs([3, 7]), logs([0, 1]), 0.3, log_error())
    assert worst_ratio(fractions([3, 7]), fractions([0, 1]), 0.3) is None
    assert math.isinf(loss.value) or math.isinf(loss.error)
    above = privacy_loss(logs([3, 7]), logs([0, 1]), math.nextafter(0.3, 1), log_error())
    assert math.isinf(above.error)


@given(laws(), DELTAS)
def test_the_event_attains_the_loss(pair: tuple[Weights, Weights], delta: float) -> None:
    p, q = (np.exp(logs(weights)) for weights in pair)
    loss = privacy_loss(logs(pair[0]), logs(pair[1]), delta)
    if loss.value == 0 or float(loss.error) > 1e-9:
        return
    above, below = p[loss.event].sum() - delta, q[loss.event].sum()
    assert (math.log(above / below) if below > 0 else math.inf) == pytest.approx(
        float(loss.value), abs=1e-8
    )


@given(laws())
def test_one_label_is_worst_where_delta_is_zero(pair: tuple[Weights, Weights]) -> None:
    assert privacy_loss(logs(pair[0]), logs(pair[1])).event.sum() == 1


@given(laws(), DELTAS, DELTAS)
def test_falls_as_delta_grows(pair: tuple[Weights, Weights], one: float, other: float) -> None:
    small, large = sorted((one, other))
    p, q = map(logs, pair)
    at_small, at_large = privacy_loss(p, q, small, 1e-14), privacy_loss(p, q, large, 1e-14)
    if np.isfinite([at_small.value, at_large.value]).all():
        assert at_large.value - at_large.error <= at_small.value + at_small.error


@given(laws(), DELTAS)
def test_is_zero_between_equal_laws(pair: tuple[Weights, Weights], delta: float) -> None:
    assert privacy_loss(logs(pair[0]), logs(pair[0]), delta).value == pytest.approx(0, abs=1e-12)


@given(laws(), DELTAS, st.permutations(range(5)))
def test_names_of_labels_do_not_matter(
    pair: tuple[Weights, Weights], delta: float, order: list[int]
) -> None:
    places = [place for place in order if place < len(pair[0])]
    p, q = map(logs, pair)
    one, other = privacy_loss(p, q, delta, 1e-14), privacy_loss(p[places], q[places], delta, 1e-14)
    if np.isfinite([one.value, other.value]).all():
        assert abs(one.value - other.value) <= one.error + other.error


@given(st.floats(0.01, 5), DELTAS)
def test_both_directions_of_a_symmetric_pair_are_alike(logit: float, delta: float) -> None:
    p = np.log([1 / (1 + math.exp(-logit)), 1 / (1 + math.exp(logit))])
    there, back = privacy_loss(p, p[::-1], delta), privacy_loss(p[::-1], p, delta)
    assert there.value == back.value
    assert there.event.tolist() == back.event[::-1].tolist()


def test_a_union_of_labels_where_single_ones_show_less() -> None:
    """STATISTICS section 3: .288 from single labels, .511 from their union, at delta = .1."""
    p, q = np.log([0.3, 0.3, 0.4]), np.log([0.15, 0.15, 0.7])
    loss = privacy_loss(p, q, 0.1)
    assert loss.value == pytest.approx(math.log(0.5 / 0.3), abs=1e-12)
    assert loss.event.tolist() == [True, True, False]
    assert max(math.log((a - 0.1) / b) for a, b in ((0.3, 0.15), (0.4, 0.7))) == pytest.approx(
        0.288, abs=5e-4
    )


def test_an_event_as_likely_as_delta_shows_no_loss() -> None:
    found = privacy_loss(np.log([0.5, 0.5]), np.log([0.1, 0.9]), delta=0.5)
    assert found.value == 0.0


def test_impossible_answers() -> None:
    with np.errstate(divide="ignore"):
        p, q = np.log([0.5, 0.5, 0.0]), np.log([0.0, 0.5, 0.5])
    assert privacy_loss(p, q).value == math.inf
    assert privacy_loss(p, q).event.tolist() == [True, False, False]
    assert privacy_loss(p, q, 0.25).value == math.inf
    assert privacy_loss(p, q, 0.75).value == 0


def test_a_batch_is_each_of_its_cells() -> None:
    rng = np.random.default_rng(0)
    p, q = np.log(rng.dirichlet(np.ones(4), size=(3, 2))), np.log(rng.dirichlet(np.ones(4), size=2))
    for delta in (0.0, 0.05):
        batch = privacy_loss(p, q, delta)
        assert batch.value.shape == (3, 2)
        for place in np.ndindex(3, 2):
            alone = privacy_loss(p[place], q[place[1]], delta)
            assert batch.value[place] == alone.value
            assert batch.error[place] == alone.error
            assert batch.event[place].tolist() == alone.event.tolist()
