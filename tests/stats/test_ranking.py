"""Ranking: power first, and nothing that chance alone lifts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from dpassay.stats.ranking import CAUTION, CERTAIN, TABLE, Ranking, ranked
from dpassay.stats.scales import DifferenceScale, Ratio, Scale, ShiftScale


def score(ranking: Ranking, x: int, y: int, cells: int = 4) -> float:
    return float(ranking.scores(np.array([x]), np.array([y]), cells)[0])


def test_three_kinds_of_cells() -> None:
    above = np.array([9.0, 6.0, 4.0, 3.0, 1.0, 0.5, 0.0])
    bound = np.array([1.5, 3.0, -9.0, 0.5, -3.0, 0.7, 0.9])
    order = np.argsort(-ranked(above, bound, 20))
    assert ndtri(1 - 1 / 20) > 1
    assert order.tolist() == [1, 0, 2, 3, 6, 5, 4]


def test_an_answer_that_tells_nothing_does_not_come_before_one_that_may_leak() -> None:
    """99 % on both sides has a bound of nearly 0, whatever the claim; half as often has a leak."""
    ranking = Ranking.of(Ratio(), 1.0, 200)
    assert score(ranking, 60, 18) > score(ranking, 198, 198)


def test_few_counts_come_first_where_they_prove_something_and_else_last() -> None:
    ranking = Ranking.of(Ratio(), 1.0, 200)
    assert score(ranking, 20, 0) > score(ranking, 110, 30) > score(ranking, 3, 0, 100)
    assert score(ranking, 120, 80, 100) > score(ranking, 3, 0, 100)


def test_once_refuted_surely_the_larger_leak_comes_first() -> None:
    ranking = Ranking.of(Ratio(), 1.0, 10_000)
    rare, common = score(ranking, 500, 20), score(ranking, 9000, 2000)
    assert min(rare, common) > CERTAIN
    assert rare > common


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.05), DifferenceScale(), ShiftScale()], ids=str)
def test_large_screenings_are_interpolated(scale: Scale) -> None:
    promised = 0.1 if isinstance(scale, DifferenceScale) else 0.5
    draws = 10 * TABLE
    large = Ranking.of(scale, promised, draws)
    counts = np.array([3, 17, 401, 33_333, 120_001, draws - 5])
    scores = large.scores(counts, counts // 2, 4)
    assert np.all(np.isfinite(scores))
    for x, found in zip(counts.tolist(), large.up(counts)[0], strict=True):
        exact = float(scale.gain(np.array((x + 0.5) / (draws + 1))))
        assert found == pytest.approx(max(exact, -1e9), rel=1e-3, abs=1e-3)


def test_the_bound_is_some_standard_errors_off() -> None:
    draws, x, y = 10_000, 5000, 2500
    (up, least), (down, most) = (
        side(np.array([count]))
        for side, count in zip(
            (Ranking.of(Ratio(), 1.0, draws).up, Ranking.of(Ratio(), 1.0, draws).down),
            (x, y),
            strict=True,
        )
    )
    error = math.sqrt(Ratio().spread(0.5, 0.25) ** 2 / draws)
    assert np.hypot(up - least, most - down)[0] == pytest.approx(CAUTION * error, rel=0.03)


@pytest.mark.parametrize("most", [6, 400])
def test_the_highest_of_events_and_directions(most: int) -> None:
    """Few different counts are ranked once each, many all; the numbers are the same."""
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, most, (5, 1, 3)), rng.integers(0, most, (5, 40, 3))
    ranking = Ranking.of(Ratio(), 0.3, 400)
    one, other = np.broadcast_arrays(x, y)
    each = np.maximum(ranking.scores(one, other, 99), ranking.scores(other, one, 99))
    np.testing.assert_array_equal(ranking.highest(x, y, 99), each.max(axis=2))


def test_rare_events_are_ranked_once_as_all_are() -> None:
    rng = np.random.default_rng(5)
    shares = np.array([0.4, 0.1, *np.full(300, 0.5 / 300)])
    x, y = (rng.multinomial(2000, shares / shares.sum(), size=40) for _ in range(2))
    ranking = Ranking.of(Ratio(), 1.0, 2000)
    assert np.array_equal(ranking.of_rare(x, y, 99), ranking.scores(x, y, 99))
