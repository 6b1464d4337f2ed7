"""What a report says of a privacy profile: the number that is known, its pair, its error rates."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from dpassay.stats.profile import exact_profile, trade_off
from tests.reports.sentences.told import Record, computed_record, only, told


def curve(make: Any, query: int, exact: float, low: float, high: float, **more: Any) -> Record:
    """A cell whose profile lies in [low, high] at the claimed epsilon."""
    levels = {"false_positive": [0.0, 0.0544967, 1.0], "trade_off_lower": [1.0, 0.871733, 0.0]}
    bands = {
        "epsilon": [0.0, 1.0],
        "lower": [0.5, low],
        "upper": [0.5, high],
        "trade_off_upper": [1.0, 0.871734, 0.0],
    }
    cell: Record = make.cell(query, exact, exact, exact=exact, group=more.pop("group", "data"))
    return cell | more | {"profile": levels | bands | {"alpha": 0.0}}


def profiled(make: Any, *cells: Record, worst: int = 0) -> Record:
    result: Record = make.computed("a", "not refuted", 0.75)
    result["per_query"] = list(cells)
    result["witness"] |= {
        name: cells[worst][name] for name in ("query", "direction", "event", "p1", "p0")
    }
    return result


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 3.3375e-14, "is at most 3.4e-14; the"),
        (0.0, 0.0, "is 0; the"),
        (0.931616, 0.931703, "is between 0.931616 and 0.931703; the"),
        (0.177994, 0.177995, "is 0.178; the"),
        (0.1779949, 0.1779951, "is 0.177995; the"),
    ],
)
def test_no_middle_of_a_band_is_told_as_the_number(
    make: Any, low: float, high: float, said: str
) -> None:
    assert f"δ(1) {said}" in told(
        only(make.record(profiled(make, curve(make, 0, 0.75, low, high)))), "Privacy profile"
    )


def test_the_pair_is_named_and_a_worse_one_too(make: Any) -> None:
    here = curve(
        make, 16, 0.75, 0.001, 0.001, change="record 3 replaced by record 9 of the pool", p1=0.25
    )
    cells = (curve(make, 2, 0.75, 0.0, 0.0), here, curve(make, 0, 0.5, 0.0004, 0.0004, group="own"))
    said = told(only(make.record(profiled(make, *cells, worst=1))), "Privacy profile")
    assert "query 16, record 3 replaced by record 9 of the pool" in said
    assert "needs the largest" not in said
    assert "Pairs that were not audited may need a larger δ." in said
    cells = *cells[:2], curve(make, 0, 0.5, 0.002, 0.002, group="own")
    said = told(only(make.record(profiled(make, *cells, worst=1))), "Privacy profile")
    assert "the one at own worst case 1 needs the largest δ: 0.002." in said
    result = profiled(make, *cells, worst=1)
    result["searched"] |= {"asked": False}
    assert "the one at own worst case 1 needs the largest δ: 0.002." in told(
        only(make.record(result)), "Privacy profile"
    )


def test_a_false_negative_rate_is_bounded_at_the_level_that_was_looked_at(make: Any) -> None:
    said = told(
        only(make.record(profiled(make, curve(make, 0, 0.75, 0.1, 0.1)))), "Privacy profile"
    )
    allowed = math.floor(1e6 * max(1 - math.e * 0.0544967, (1 - 0.0544967) / math.e)) / 1e6
    assert (
        "a false positive rate of 0.0544967, has a false negative rate of at least 0.871733;"
        in said
    )
    assert said.endswith(f"guarantees at least {allowed}.")
    assert "at best" not in said
    assert "answer with" not in said


def test_no_test_reaches_the_hull_of_both_directions() -> None:
    """Why it is 'at least'.

    Between two tests of opposite directions the hull is below both trade-off functions.
    """
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    low, high = trade_off(
        exact_profile(np.log(p), np.log(q), np.array([1.0]), 0.0), level := np.array([0.3])
    )
    # of S: always S', or S' on label 1 (.1, .5), of S': S on label 0 (.5, .1)
    reached = min(
        float(np.interp(level[0], [0, 0.1, 1], [1, 0.5, 0])),
        float(np.interp(level[0], [0, 0.5, 1], [1, 0.1, 0])),
    )
    assert low[0] <= high[0] < reached - 0.05


def test_a_profile_tells_of_other_pairs_where_a_reachable_one_exceeds_the_claim() -> None:
    record = copy.deepcopy(computed_record("soft-majority"))
    assert "Other pairs" not in told(only(record), "Privacy profile")
    record["results"][0]["any_size"] |= {"exact": 1.5, "exceeds": True}
    assert "Other pairs may need a larger δ" in told(only(record), "Privacy profile")
