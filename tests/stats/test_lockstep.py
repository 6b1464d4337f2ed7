"""Many bounds at once are, bit by bit, what each is alone; roots are those of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpassay.stats.brent import root_between
from dpassay.stats.combined import Combination, Null, margins, rejections
from dpassay.stats.fisher import FISHER
from dpassay.stats.inversion import lower, lower_search, solved, upper, upper_search
from dpassay.stats.scales import Difference, Ratio, Scale, Shift
from dpassay.stats.stouffer import STOUFFER

ALPHA = 1e-3
SCALES: tuple[Scale, ...] = (Ratio(0.0), Ratio(0.05), Difference(), Shift())
COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(60, 80), st.integers(60, 80))


@given(
    st.floats(-3, 3),
    st.floats(0.1, 4),
    st.sampled_from([math.tanh, math.atan, lambda t: t**3 + t, lambda t: math.expm1(3 * t)]),
    st.floats(1e-12, 1e-2),
)
def test_roots_are_those_of_scipy(
    root: float, width: float, function: Callable[[float], float], within: float
) -> None:
    low, high = root - width, root + width / 3
    seen: list[float] = [low, high]
    expected: list[float] = []
    path = root_between(low, high, function(low - root), function(high - root), within)
    found = None
    try:
        point = next(path)
        while True:
            seen.append(point)
            point = path.send(function(point - root))
    except StopIteration as end:
        found = end.value

    def watched(t: float) -> float:
        expected.append(t)
        return function(t - root)

    assert found == brentq(watched, low, high, xtol=within)
    assert seen == expected


@given(st.lists(COUNTS, min_size=2, max_size=8), st.sampled_from(SCALES), st.floats(0, 2))
@pytest.mark.parametrize("test", [STOUFFER, FISHER])
def test_many_nulls_are_tested_as_each_is_alone(
    test: Combination, counts: list[tuple[int, int, int, int]], scale: Scale, t: float
) -> None:
    t = min(t, scale.most)
    regions = (scale.allowed(t), scale.allowed(t).reverse)
    nulls = [
        Null(x=x, n1=n1, y=y, n0=n0, allowed=allowed)
        for x, y, n1, n0 in counts
        for allowed in regions
    ]
    critical = test.critical(ALPHA)
    assert rejections(test, nulls, ALPHA) == [rejections(test, [null], ALPHA)[0] for null in nulls]
    assert margins(test, nulls, ALPHA, critical) == [
        margins(test, [null], ALPHA, critical)[0] for null in nulls
    ]


@pytest.mark.parametrize("scale", SCALES)
def test_bounds_in_step_are_those_of_each_alone(scale: Scale) -> None:
    rng = np.random.default_rng(0)
    p1, p0 = np.sort(rng.random((2, 25)) ** 3, axis=0)[::-1]
    cells = [
        (x, 300, y, 300)
        for x, y in zip(rng.binomial(300, p1).tolist(), rng.binomial(300, p0).tolist(), strict=True)
    ]
    together = [lower_search(STOUFFER, *cell, scale=scale, alpha=ALPHA) for cell in cells]
    alone = [lower(STOUFFER, *cell, scale=scale, alpha=ALPHA) for cell in cells]
    assert solved(STOUFFER, together, ALPHA) == alone
    assert sum(bound > 0 for bound in alone) > 5
    together = [upper_search(STOUFFER, *cell, scale=scale, alpha=ALPHA) for cell in cells]
    alone = [upper(STOUFFER, *cell, scale=scale, alpha=ALPHA) for cell in cells]
    assert solved(STOUFFER, together, ALPHA) == alone
    assert len(set(alone)) > 5
