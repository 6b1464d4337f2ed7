"""What a searched audit would have seen: the rehearsal of its rounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from dpassay import audit
from dpassay.engine.detection.audits import smallest_seen
from dpassay.engine.detection.families import CountedAnswers, event_at, through_event
from dpassay.engine.detection.searches import (
    NORMAL,
    Rehearsal,
    Round,
    SearchDesign,
    needed,
    spreads,
)
from dpassay.engine.searching.search import shares, trials
from dpassay.search.worth import Goal
from dpassay.stats.lower_bounds import Method
from dpassay.stats.power import counts_near, detectable, largest_rejecting, power_of
from dpassay.stats.scales import DifferenceScale, Ratio, Scale, ShiftScale
from tests.statistical.planted import SHAPES, Row, planted

ROUNDS = (
    Round(pairs=256, new=256, draws=625, safe=57),
    Round(pairs=96, new=32, draws=833, safe=9),
    Round(pairs=24, new=8, draws=1666, safe=2),
    Round(pairs=4, new=0, draws=10_000, safe=1),
)
DESIGN = SearchDesign(
    scale=Ratio(), promised=1.0, n=20_000, alpha=0.001, rounds=ROUNDS, pilot=2000, numbers=False
)
"""A default search."""
TWO = (Round(pairs=12, new=12, draws=2000, safe=11), Round(pairs=12, new=0, draws=2000, safe=1))
FEW = replace(DESIGN, rounds=TWO, n=2000)
"""A small one."""
ALONE = (Round(pairs=1, new=1, draws=20_000, safe=1),)


@pytest.mark.parametrize("budget", [1_000, 10_000, 100_000])
def test_ten_times_the_budget_lowers_what_a_search_sees(budget: int) -> None:
    def smallest(draws: int) -> float:
        rounds = tuple(
            replace(each, draws=trials(share, each.pairs, draws, number))
            for number, (each, share) in enumerate(zip(ROUNDS, shares(draws), strict=True))
        )
        return replace(DESIGN, n=draws, rounds=rounds, numbers=True).smallest(0.5)

    assert smallest(10 * budget) < smallest(budget) - 0.01


def test_the_curve_of_a_search_is_monotone_and_deterministic() -> None:
    sight = FEW.sight(None)
    points, leaks = zip(*sight.curve, strict=True)
    assert list(points) == sorted(points, reverse=True)
    assert list(leaks) == sorted(leaks)
    assert 1 < leaks[0] < 1.3 < leaks[2] < leaks[-1] == math.inf
    smallest_seen.cache_clear()
    needed.cache_clear()
    assert FEW.sight(None).detectable == sight.detectable


def test_one_pair_needs_what_its_certification_needs() -> None:
    """Nothing is lost on the way to it; and the weaker one of two tests may be chosen."""
    alone = replace(DESIGN, rounds=ALONE).smallest(0.73)
    how: dict[str, Any] = {"scale": Ratio(), "promised": 1.0, "n": 20_000, "alpha": 0.001}
    methods: tuple[Method, ...] = ("stouffer", "accuracy")
    certified = max(detectable(method=each, frequency=0.73, **how) for each in methods)
    assert certified - 1e-3 <= alone <= certified + 0.05 * (certified - 1)
    assert alone < DESIGN.smallest(0.73)


@pytest.mark.parametrize("worse", [{"draws": 200}, {"safe": 1}])
def test_more_rivals_fewer_trials_and_places_cost_power(worse: dict[str, int]) -> None:
    rounds = (replace(ROUNDS[0], **worse), *ROUNDS[1:])
    assert replace(DESIGN, rounds=rounds).smallest(0.73) > 1.02 * DESIGN.smallest(0.73)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.01), ShiftScale(), DifferenceScale()])
@pytest.mark.parametrize(("p1", "alpha"), [(0.7, 0.001), (0.2, 0.1)])
def test_where_counts_are_large_a_normal_law_gives_the_power(
    scale: Scale, p1: float, alpha: float
) -> None:
    n, promised = 400_000, 0.15
    design = replace(DESIGN, scale=scale, promised=promised, n=n, alpha=alpha)
    error = scale.spread(p1, event_at(p1, promised, scale)) / math.sqrt(n)
    for apart in (0.0, 1.0, 2.0):
        leak = promised + error * (apart - float(ndtri(alpha)))
        p0 = event_at(p1, leak, scale)
        assert n * min(p0, p1, 1 - p1) > NORMAL
        x = counts_near(p1, n)
        y = largest_rejecting("stouffer", x, n, allowed=scale.allowed(promised), alpha=alpha)
        power = power_of(p1, p0, x, y, n)
        assert design.normal_power(p1, p0) == pytest.approx(power, abs=0.015)


def test_an_event_of_no_more_than_delta_is_never_seen() -> None:
    assert replace(DESIGN, scale=Ratio(0.01)).smallest(0.01) == math.inf


def test_a_difference_of_probabilities_has_no_curve() -> None:
    sight = replace(DESIGN, scale=DifferenceScale(), promised=0.3).sight(None)
    assert sight.curve == ()
    assert 0.3 < sight.detectable < 0.4


@pytest.mark.parametrize("scale", [Ratio(), Ratio(0.05), ShiftScale(), DifferenceScale()])
def test_many_ranks_are_those_of_the_search(scale: Scale) -> None:
    counts = np.array([[5, 2], [40, 3], [300, 10], [3, 250]])
    p1, p0 = (counts + 0.5).T / 401
    each = [scale.spread(*pair) for pair in zip(p1, p0, strict=True)]
    assert spreads(scale, p1, p0) == pytest.approx(each)
    goal = Goal(scale, 0.5, 1000, 0.01)
    laws = through_event(CountedAnswers(labels=2), 0.5, DESIGN.scale, DESIGN.promised)
    design = replace(DESIGN, scale=scale, promised=0.5, n=1000)
    many = Rehearsal(design, laws)._z(counts[:, 0], counts[:, 1], 400)
    assert many == pytest.approx([goal.power_z(x, y, 400, 400) for x, y in counts.tolist()])


def test_a_searched_audit_says_what_its_search_would_have_seen() -> None:
    shape = SHAPES["a frequent label"]
    how: dict[str, Any] = {"budget": 1000, "confidence": 0.95, "executor": "inline"}
    few, many = (
        audit(planted(shape, 1.0), claim=shape.claim, data=Row(pairs), **how).evidence
        for pairs in (2, 60)
    )
    assert few is not None
    assert many is not None
    assert 1 < few.detectable < many.detectable - 0.05
    assert isinstance(few.sight.design, SearchDesign)
    assert few.sight.design.rounds[0].pairs == 2
