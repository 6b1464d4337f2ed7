"""Where nothing was found, a report says at which δ, and where the numbers leave room."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.pairs import FlipLabel
from dpassay.record import run_record
from dpassay.record.run_record import make_record
from dpassay.reports.run.view import FullView, make_view
from dpassay.targets.resolve import resolve
from tests.core.toys import flip_group
from tests.reports.sentences.told import FACTS, only, told

GROUP = flip_group(records=60, queries=3, changes=(FlipLabel(0), FlipLabel(1)))


def results(name: str) -> list[FullView]:
    found = assay([resolve(name)], None, Settings(mode="exact"))
    return list(make_view(make_record(FACTS, found)).results)


@pytest.mark.parametrize("name", ["distance-to-instability", "distance-by-margin"])
def test_a_pair_that_needs_the_whole_delta_is_not_said_to_show_nothing(name: str) -> None:
    """Its loss at the claimed δ is 0 because that δ is just enough."""
    for result in results(name):
        assert "it shows nothing" not in told(result)


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        (0.0, "no leak was found at the audited cells."),
        (0.25, "at δ = 0.25, the claim's, no audited cell has a loss above 0."),
        (0.0013591409142, "at δ = 0.00135915, the claim's, no audited cell has a loss above 0."),
    ],
)
def test_none_is_said_of_the_claims_delta(make: Any, delta: float, said: str) -> None:
    result = make.computed("a", "not refuted", 0.0)
    result["claim"]["delta"] = delta
    assert told(only(make.record(result)), "Witness") == f"There is none: {said}"


def test_no_leak_is_said_of_strings_only_as_computed(make: Any) -> None:
    result = make.computed("a", "not refuted", 0.0)
    result["claim"] |= {"kind": "ScoreStability", "epsilon": None, "beta1": 1.0, "beta2": 2.0}
    result["claim"]["delta"] = 0.01
    said = told(only(make.record(result)), "Witness")
    assert said == (
        "There is none: at no audited pair was a proportion of bad random strings above 0 computed."
    )


def test_an_unknown_leak_is_at_most_its_upper_bound(make: Any) -> None:
    """0 is the nearest number of an interval; the table shows the interval's end."""
    result = make.computed("a", "not refuted", 0.5)
    result["per_query"][0] |= {"exact": 0.0, "lower": 0.0, "upper": 0.00083312}
    result["per_query"][1] |= {"exact": 0.0, "lower": 0.0, "upper": 1e-12}
    first, second = make_view(make.record(result)).results[0].queries
    assert (first.cells[2], second.cells[2]) == ("≤ 0.000834", "0.000000")


def profile(delta: float) -> dict[str, Any]:
    flat = {name: [delta, delta] for name in ("lower", "upper")}
    trade_off = {f"trade_off_{name}": [1.0, 0.5] for name in ("lower", "upper")}
    return {"epsilon": [0.0, 1.0], "false_positive": [0.0, 0.05], "alpha": 0.0} | flat | trade_off


def test_the_largest_delta_is_that_of_a_pair_which_the_table_names(make: Any) -> None:
    """Where no pair leaks, the one whose profile is kept is arbitrary, and no row names it."""
    result = make.computed("a", "not refuted", 0.75)
    result["claim"]["delta"] = 0.01
    result["per_query"][0] |= {"exact": 0.0, "lower": 0.0, "profile": profile(0.009)}
    result["per_query"][1]["profile"] = profile(0.001)
    result["witness"]["query"] = 1
    said = told(only(make.record(result)), "Privacy profile")
    assert said
    assert "needs the largest δ" not in said
    result["per_query"][0] |= {"exact": 0.1, "lower": 0.1}
    said = told(only(make.record(result)), "Privacy profile")
    assert "the one at query 0 needs the largest δ: 0.009" in said


def test_no_leak_over_a_claim_of_none_is_not_the_worst(make: Any) -> None:
    nothing, some, leak = (
        make.computed(name, "not refuted", loss)
        for name, loss in (("nothing", 0.0), ("some", 0.5), ("leak", 0.25))
    )
    for result in (nothing, leak):
        result["claim"]["epsilon"] = 0.0
    shown = [result.id for result in make_view(make.record(nothing, some, leak)).results]
    assert shown == ["leak", "some", "nothing"]


def test_where_nothing_leaks_the_profile_is_of_the_pair_that_needs_the_largest_delta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not of the first of many pairs on which nothing changes."""
    found = list(assay([resolve("distance-by-margin")], GROUP, Settings(mode="exact")))
    record = make_record(FACTS, found)
    monkeypatch.setattr(run_record, "with_few_profiles", dict)
    cells = make_record(FACTS, found)["results"][1]["per_query"]
    (result,) = (each for each in make_view(record).results if "corrected" in each.id)
    assert "There is none" in told(result, "Witness")
    assert result.profile is not None
    needed = max(max(cell["profile"]["lower"]) for cell in cells)
    assert max(result.profile.profile["lower"]) == needed > 0


def test_a_part_shows_nothing_in_what_was_looked_at() -> None:
    """The index was not looked at, so the claim may be about more."""
    (result, *_) = results("validate-train")
    assert "in what was looked at it shows nothing" in told(result)
    assert "against this claim it shows nothing" not in told(result)


def test_no_file_is_the_witness_of_nothing(make: Any) -> None:
    result = make.computed("a", "not refuted", 0.0, any_size=make.any_size(0.9))
    result["claim"]["epsilon"] = 5.0
    view = make_view(make.record(result))
    assert view.findings is not None
    assert not any("witnesses/" in cell for row in view.findings.rows for cell in row)
