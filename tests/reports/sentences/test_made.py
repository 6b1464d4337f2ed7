"""What a report says of records that are made by hand, and where nothing was found."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.detection.families import CountedAnswers
from dpassay.engine.evidence import HalfLine
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.pairs import FlipLabel
from dpassay.record import run_record
from dpassay.record.run_record import make_record
from dpassay.reports.run.view import FullView, make_view
from dpassay.reports.run.words import event_words
from dpassay.reports.shared.numbers import promise
from dpassay.stats.power import Screening
from dpassay.stats.scales import Ratio
from dpassay.targets.resolve import resolve
from tests.core.toys import flip_group
from tests.reports import conftest as make
from tests.reports.sentences.told import (
    ACCURACY,
    FACTS,
    STRINGS,
    Record,
    beside,
    computed_record,
    held,
    of_score,
    only,
    told,
    view_of,
)

DELTA = {"delta": 0.001}
CLAIM, COUNTS, BOUND, SPENT = "Claim", "Counts", "How the bound was made", "How α was spent"


def sampled(change: str = "", **fields: Any) -> Record:
    result = make.sampled("a", "not refuted")
    (result[change] if change else result).update(fields)
    return result


def domain() -> Record:
    result = make.computed("a", "verified", mode="exhaustive")
    result["searched"] |= {"datasets": 8, "how": ["all datasets", "own worst case: one"]}
    return result


def exactly() -> Record:
    result = make.computed("a", "refuted", 1.5, any_size=make.any_size(1.5))
    result["error"] = result["any_size"]["error"] = 0.0
    return result


def mean() -> Record:
    result = make.of_means(make.sampled("mean", "not refuted", lower=0.0625, upper=0.5))
    result["spending"]["profile"] = result["spending"]["each_profile"] = 0.0
    return result


def counted() -> Record:
    """Counts of good strings: its 10 others were bad."""
    seen = {"event": [0], "trials": {"seed": 0, "draws": 5000, "x": 5000, "y": 4990}}
    result = make.sampled("a", "not refuted", lower=0.0)
    result["claim"] |= STRINGS
    result["witness"] |= seen
    return result


LEFT_OUT = held(parameters={"h": None, "r": 3})
DERIVED = held(parameters={"h": None, "public": "", "r": 3}, derived={"h": 0.1})
SIZED = held(claim=ACCURACY) | {"fixed_n": 398}
NAMED = held(claim=ACCURACY | {"unit": "error beyond the best"}, witness={"event": []})
NUMBER = held(claim={"unit": "whether the number of a single prediction is at least 0.2"})
NUMBER["witness"]["target"] = "psgd-in-random-order"
STILL = held(0.0, witness={"p1": 1.0, "p0": 1.0})
AT_DELTA = held(0.0, claim=DELTA, witness={"p1": 1.0, "p0": 1.0})
SOME, VAGUE = of_score(0.005, 0.005 + 1e-12), of_score(1.0, 1.0, 0.948595) | {"error": 0.052}
OF_ALL = held(0.5, claim=DELTA, any_size=make.any_size(0.5))
OF_PART = sampled(looked_at="the sign of <w, x> alone")


@pytest.mark.parametrize(
    ("result", "title", "said"),
    [
        (held(claim=DELTA), CLAIM, "at most e^1 ≈ 2.71828 and adds at most δ = 0.001 to it."),
        (held(claim={"epsilon": 0.0}), CLAIM, "any event by at most e^0 ≈ 1"),
        (SOME, CLAIM, "1 divided by the number of training records"),
        (SOME, CLAIM, "1.092103 divided by the number of validation records"),
        (SIZED, CLAIM, "on every dataset that the mechanism takes (n = 398). S"),
        (NAMED, CLAIM, "The error is the error beyond the best."),
        (NUMBER, CLAIM, "what several answers reveal together was not looked at."),
        (LEFT_OUT, "Mechanism", "a; h = not given, r = 3."),
        (DERIVED, "Mechanism", "a; h = 0.1 (derived), public = not given, r = 3."),
        (sampled("searched", certified_cells=4), BOUND, ", of which the table shows the worst at"),
        (mean(), BOUND, "intersection-union over directions and certified cells"),
        (mean(), BOUND, "the bounds of a cell come from the same trials"),
        (held(witness={"event": []}), BOUND, "own law of mean predictions"),
        (mean(), SPENT, "Choosing the direction and test of each cell"),
        (domain(), "What was searched", "cells, and the mechanism's own worst cases besides."),
        (
            STILL,
            COUNTS,
            "At no audited cell does the probability of an event change: the loss is 0.",
        ),
        (AT_DELTA, COUNTS, "change by more than δ = 0.001: the loss at δ = 0.001 is 0."),
        (exactly(), BOUND, "No numerical error."),
        (exactly(), "Worst over all datasets", "is 1.500000 (no numerical error), between"),
        (OF_ALL, "Worst over all datasets", "the worst loss at δ = 0.001 is"),
        (SOME, COUNTS, "bad with probability 0.005000"),
        (VAGUE, COUNTS, "bad with probability at least 0.948595"),
        (counted(), COUNTS, "10 of 5,000 random strings were bad."),
        (OF_PART, "What would have been seen", "in the part of the release looked at, would have"),
    ],
)
def test_it_is_said(result: Record, title: str, said: str) -> None:
    assert said in told(only(make.record(result)), title)


@pytest.mark.parametrize(
    ("result", "unsaid"),
    [
        (sampled("searched", certified_cells=3), "the table shows the worst"),
        (mean(), "event"),
        (STILL, "ln("),
        (exactly(), "at most 0;"),
        (NUMBER, "dpassay run"),
        (make.of_kind(held(), "Stability", 0.5), "dpassay run"),
        (held(witness={"labels": [0, 1, 2]}), "dpassay run"),
        (held(witness={"target": "module:object"}), "dpassay run"),
    ],
)
def test_it_is_not_said(result: Record, unsaid: str) -> None:
    assert unsaid not in told(only(make.record(result)), CLAIM, COUNTS, BOUND, SPENT)


def test_no_promise_is_written_smaller_than_it_is() -> None:
    written = {0.0322141234: "0.032215", 1.092103: "1.092103", 1051.6312345: "1051.631235"}
    written |= {0.25: "0.25", 1 / 3: "0.333334", 0.1 + 0.2: "0.3"}
    assert {number: promise(number) for number in written} == written


def test_a_half_line_ends_at_the_number_before_its_threshold() -> None:
    assert event_words({"below": math.nextafter(0.0, 1.0)}) == "≤ 0"
    assert event_words({"below": math.nextafter(2.5, 3.0)}) == "≤ 2.5"
    assert [event_words({kind: 2.5}) for kind in ("below", "at_least")] == ["< 2.5", "≥ 2.5"]
    assert str(HalfLine(threshold=math.nextafter(0.0, 1.0), above=False)) == "≤ 0"


def test_a_frequency_is_capped_at_the_worst_face() -> None:
    """An answer that came in .93 of the runs is told as less, by the claim's worst face."""
    screening = Screening(draws=200, pairs=1, finalists=1)
    answers = CountedAnswers(labels=2, unions=False)
    design = AuditDesign(
        scale=Ratio(), promised=1.0, answers=answers, n=5000, alpha=1e-4, screening=screening
    )
    capped = design.sight(0.928).frequency
    assert capped is not None
    assert capped == design.sight(0.8).frequency
    assert capped < 0.8
    assert design.sight(0.3).frequency == 0.3


# all datasets, and both notions


@pytest.mark.parametrize(
    ("more", "over"),
    [
        ({"parameters": {"adversary": "repeat"}}, "datasets of any size (adversary 'repeat')"),
        ({"parameters": {"n": 398}}, "datasets of any size"),
        ({"fixed_n": 7}, "all datasets that the mechanism takes (n = 7)"),
    ],
)
def test_the_worst_case_is_of_what_is_taken(more: Record, over: str) -> None:
    """A parameter n does not say it: some mechanisms use it otherwise."""
    result = beside(held(0.7, any_size=make.any_size(0.7)), 0.5, any_size=make.any_size(0.5))
    view = view_of(result | more)
    said = told(view.results[0])
    assert f"Over {over}, the worst loss is 0.700000" in said
    assert f"Over {over} it is 0.500000" in said
    assert over in view.findings.rows[0]


@pytest.mark.parametrize(
    ("delta", "loss", "said"),
    [
        (0.001, 0.995, "tight in ε at this δ"),
        (0.001, 0.5, "loose in ε at this δ"),
        (0.001, 0.0, "loose in ε: at this δ the loss is 0"),
        (0.0, 0.0, "loose"),
    ],
)
def test_epsilon_alone_was_compared(delta: float, loss: float, said: str) -> None:
    result = held(loss, claim={"delta": delta}, any_size=make.any_size(loss))
    assert view_of(result).findings.rows[0][1] == said


@pytest.mark.parametrize("share", [0.001, 0.00995])
def test_strings_have_no_epsilon_that_could_be_loose(share: float) -> None:
    """Their δ is what is bounded, and no slack beside it."""
    finding = only(make.record(of_score(share, share) | {"mode": "exhaustive"})).finding
    assert finding is not None
    assert finding.told == finding.kind == ("loose" if share < 0.005 else "tight")


@pytest.mark.parametrize(
    ("status", "loss", "change"),
    [("corrected", "1, corrected", "γ = 0.5, corrected"), ("printed", "1", "γ = 0.5")],
)
def test_what_no_paper_prints_is_marked(status: str, loss: str, change: str) -> None:
    one, other = (held(0.25, claim={"status": status}) for _ in "ab")
    make.of_kind(other, "Stability", 0.5)
    one, other = beside(one, witness=None), beside(other, kind="DP", witness=None)
    notions = view_of(one, other).notions
    row = dict(zip(notions.columns, notions.rows[0], strict=True))
    assert (row["ε claimed"], row["γ claimed"]) == (loss, change)


def test_a_lower_bound_goes_down() -> None:
    """0.7500009 would be shown as 0.750001."""
    (row,) = view_of(beside(held(0.7500009), 0.2500009)).notions.rows
    assert (row[3], row[6]) == ("≥ 0.750000", "≥ 0.250000")


def test_a_witness_of_another_number_says_which() -> None:
    audited = make.computed("a", "refuted", 1.5, any_size=make.any_size(2.0))
    result = beside(audited, any_size=make.any_size(0.5))
    view = view_of(result)
    row = view.notions.rows[0]
    assert row[4] == view.findings.rows[0][7] == "witnesses/a.json (audited: 1.500000)"
    assert row[7] == "witnesses/b.json (audited: 0.250000)"
    assert "The worst audited cell: S: 8 records" in told(view.results[0])
    result["any_size"]["exact"] = 1.5
    assert view_of(result).notions.rows[0][4] == "witnesses/a.json"


@pytest.mark.parametrize(
    ("loss", "of_all", "known"),
    [
        (1.5, None, ("≥ 1.500000", "≥ 1.50 ×")),
        (1.5, make.any_size(1.5), ("1.500000", "1.50 ×")),
        ("inf", None, ("∞", "∞ ×")),
    ],
)
def test_the_worst_of_the_audited_cells_is_a_lower_bound(
    loss: Any, of_all: Any, known: tuple[str, str]
) -> None:
    """One number must not be 'true 1.500000' in the findings and '≥ 1.500000' in 'Both
    notions'."""
    view = view_of(beside(make.computed("a", "refuted", loss, any_size=of_all)))
    assert view.findings.rows[0][3:5] == known
    assert view.notions.rows[0][3] == known[0]


# parts of a release

PART = "the sign of <w, x> alone"


def part(verdict: str = "not refuted", loss: float = 0.75, **more: Any) -> Record:
    result = make.computed("a", verdict, loss, looked_at=PART, **more)
    result["claim"]["unit"] = "released weights"
    return result


def test_the_tables_say_at_least_of_a_part() -> None:
    whole, view = view_of(make.computed("a", "refuted", 1.5)), view_of(part("refuted", 1.5))
    assert (whole.results[0].top, view.results[0].top) == ("= 1.500000", "≥ 1.500000")
    assert view.summary.rows[0][-2] == f"released weights; looked at: {PART}"
    assert "'detectable' is a leak of that part" in view.summary.caption
    assert "part" not in whole.summary.caption
    assert view.findings.rows[0][3:5] == ("≥ 1.500000", "≥ 1.50 ×")
    result = make.sampled("a", "not refuted", lower=0.1, upper=0.9)
    assert only(make.record(result)).top == "≤ 0.900000"
    assert only(make.record(result | {"looked_at": PART})).top == "–"


def test_a_part_shows_no_claim_to_be_loose() -> None:
    assert view_of(held(0.5, any_size=make.any_size(0.5))).findings
    assert not view_of(part(loss=0.5, any_size=make.any_size(0.5))).findings
    tight = view_of(part(loss=0.995, any_size=make.any_size(0.995))).findings
    assert tight.rows[0][1:4] == ("tight", "1", "≥ 0.994999")  # its error is taken off


def test_both_notions_say_at_least() -> None:
    results = []
    for result, labels in ((part(), [0, 1]), (make.computed("b", "not refuted"), [0, 1, 2])):
        result["any_size"] = make.any_size(0.75)
        results.append(beside(result, error=1e-12, any_size=make.any_size(0.5)))
        results[-1]["other"]["witness"] = result["witness"] | {"labels": labels}
    notions = view_of(*results).notions
    assert [row[3] for row in notions.rows] == ["≥ 0.749999", "0.750000"]
    # a part; single answers of three
    assert [row[6] for row in notions.rows] == ["≥ 0.499999", "≥ 0.499999"]


# tables, and what stands beside them


def test_predictions_are_no_probabilities() -> None:
    value = make.of_kind(held(0.1), "PredictionStability", 0.5)
    for cell in value["per_query"]:
        cell["event"] = []
    means = make.of_means(make.sampled("b", "not refuted"))
    for result, title in ((value, "value, one side"), (means, "mean, one side")):
        table = only(make.record(result)).query_table
        assert title in table.columns
        assert not {"p1", "p0", "event", "in event, one side"} & set(table.columns)


def test_an_error_need_not_be_an_excess() -> None:
    result = make.computed("error", "refuted", 0.25)
    result["claim"] |= ACCURACY | {"bound": 0.125, "unit": "share of wrong labels"}
    for each in (result["witness"], *result["per_query"]):
        each["event"] = []
    view = view_of(result)
    assert "The unit of the claim says which error is meant." in view.summary.caption
    assert "for an error that error (see the unit)" in view.findings.caption
    assert "excess" not in view.summary.caption + view.findings.caption


def test_an_error_below_0_is_not_told_as_0() -> None:
    seen = {"event": [], "p1": -0.225791, "p0": -0.225909}
    result = held(0.0, claim=ACCURACY, witness=seen)
    result["per_query"] = [make.cell(0, 0.0, 0.0, exact=0.0) | seen]
    shown = only(make.record(result))
    assert shown.query_table.rows[0][2:5] == ("≤ 0.000000", "-0.225791", "-0.225909")
    # a record from before such errors were kept
    assert (shown.lower, shown.top) == ("–", "≤ 0.000000")


def test_a_proportion_of_0_is_no_certainty() -> None:
    """The worst event is 'good' there: its probability of 1 is none of bad strings."""
    result = only(make.record(of_score(0.0, 2.5e-08)))
    assert told(result, "Counts") == (
        "A random string is bad with probability at most 2.5e-08, by the law; no trials."
    )
    made = told(result, "How the bound was made")
    assert "proven upper bound" in made
    assert made.endswith(
        "2.5e-08 is such an upper bound, rounding included; no proportion above 0 was "
        "computed, so it is not a numerical error."
    )
    assert "Numerical error" not in made
    assert result.top == "≤ 2.5e-08"
    assert result.query_table.rows[0][2:7] == ("≤ 2.5e-08", "–", "–", "none", "–")


def test_query_points_that_are_alike_are_one_row() -> None:
    losses = (0.5, 0.25, 0.5, 0.5, 0.0, 0.0)
    cells = [make.cell(query, loss, loss, exact=loss) for query, loss in enumerate(losses)]
    shown = only(make.record(held() | {"per_query": cells}))
    assert [row[0] for row in shown.query_table.rows] == ["0, 2 to 3", "1", "4 to 5"]
    assert len(shown.queries) == 6
    assert shown.query_shortlist[1] == 0


def test_own_worst_cases_have_names() -> None:
    result = held()
    result["searched"]["how"] = ["all pairs", "own worst case: one", "own worst case: two"]
    result["per_query"] = [
        make.cell(query, 0.5, 0.5, exact=0.5, group=group)
        for group, query in (("data", 0), ("own", 0), ("own", 0), ("own", 1))
    ]
    shown = only(make.record(result))
    names = [row[0] for row in shown.query_table.rows]
    assert names == ["0", "own 1", "own 2, query 0", "own 2, query 1"]
    assert "Own worst case 1: one. Own worst case 2: two." in told(shown, "What was searched")


# privacy profiles


def curve(query: int, exact: float, low: float, high: float, **more: Any) -> Record:
    """A cell whose profile lies in [low, high] at the claimed epsilon."""
    levels = {"false_positive": [0.0, 0.0544967, 1.0], "trade_off_lower": [1.0, 0.871733, 0.0]}
    bands = {"epsilon": [0.0, 1.0], "lower": [0.5, low], "upper": [0.5, high], "alpha": 0.0}
    profile = levels | bands | {"trade_off_upper": [1.0, 0.871734, 0.0]}
    cell = make.cell(query, exact, exact, exact=exact, group=more.pop("group", "data"))
    return cell | more | {"profile": profile}


def profile(*cells: Record, worst: int = 0) -> str:
    """What is said of the profile of one of some cells."""
    names = ("query", "direction", "event", "p1", "p0")
    result = held(witness={name: cells[worst][name] for name in names}) | {"per_query": cells}
    return told(only(make.record(result)), "Privacy profile")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 3.3375e-14, "is at most 3.4e-14; the"),
        (0.0, 0.0, "is 0; the"),
        (0.931616, 0.931703, "is between 0.931616 and 0.931703; the"),
        (0.1779949, 0.1779951, "is 0.177995; the"),
    ],
)
def test_no_middle_of_a_band_is_told_as_the_number(low: float, high: float, said: str) -> None:
    assert f"δ(1) {said}" in profile(curve(0, 0.75, low, high))


def test_the_pair_is_named_and_a_worse_one_too() -> None:
    change = "record 3 replaced by record 9 of the pool"
    cells = (curve(2, 0.75, 0.0, 0.0), curve(16, 0.75, 0.001, 0.001, change=change, p1=0.25))
    said = profile(*cells, curve(0, 0.5, 0.0004, 0.0004, group="own"), worst=1)
    assert f"query 16, {change}" in said
    assert "needs the largest" not in said
    assert "Pairs that were not audited may need a larger δ." in said
    said = profile(*cells, curve(0, 0.5, 0.002, 0.002, group="own"), worst=1)
    assert "the one at own worst case 1 needs the largest δ: 0.002." in said


def test_a_false_negative_rate_is_bounded_at_the_level_that_was_looked_at() -> None:
    said = profile(curve(0, 0.75, 0.1, 0.1))
    allowed = math.floor(1e6 * max(1 - math.e * 0.0544967, (1 - 0.0544967) / math.e)) / 1e6
    assert (
        "a false positive rate of 0.0544967, has a false negative rate of at least 0.871733;"
        in said
    )
    assert said.endswith(f"guarantees at least {allowed}.")
    assert "at best" not in said
    assert "answer with" not in said


GROUP = flip_group(records=60, queries=3, changes=(FlipLabel(0), FlipLabel(1)))


def results(name: str) -> list[FullView]:
    return list(make_view(computed_record(name)).results)


@pytest.mark.parametrize("name", ["distance-to-instability", "distance-by-margin"])
def test_a_pair_that_needs_the_whole_delta_is_not_said_to_show_nothing(name: str) -> None:
    """Its loss at the claimed δ is 0 because that δ is just enough.

    A part shows nothing 'in what was looked at': the claim may be about more.
    """
    for result in results(name):
        assert "it shows nothing" not in told(result)
    (part, *_) = results("validate-train")
    assert "in what was looked at it shows nothing" in told(part)
    assert "against this claim it shows nothing" not in told(part)


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        (0.0, "no leak was found at the audited cells."),
        (0.0013591409142, "at δ = 0.00135915, the claim's, no audited cell has a loss above 0."),
    ],
)
def test_none_is_said_of_the_claims_delta(delta: float, said: str) -> None:
    result = make.computed("a", "not refuted", 0.0)
    result["claim"]["delta"] = delta
    assert told(only(make.record(result)), "Witness") == f"There is none: {said}"
    strings = {"kind": "ScoreStability", "epsilon": None, "beta1": 1.0, "beta2": 2.0}
    result["claim"] |= strings | {"delta": 0.01}
    assert told(only(make.record(result)), "Witness") == (
        "There is none: at no audited pair was a proportion of bad random strings above 0 computed."
    )


def test_an_unknown_leak_is_at_most_its_upper_bound() -> None:
    """0 is the nearest number of an interval; the table shows the interval's end."""
    result = make.computed("a", "not refuted", 0.5)
    result["per_query"][0] |= {"exact": 0.0, "lower": 0.0, "upper": 0.00083312}
    result["per_query"][1] |= {"exact": 0.0, "lower": 0.0, "upper": 1e-12}
    first, second = make_view(make.record(result)).results[0].queries
    assert (first.cells[2], second.cells[2]) == ("≤ 0.000834", "0.000000")


def flat_profile(delta: float) -> dict[str, Any]:
    flat = {name: [delta, delta] for name in ("lower", "upper")}
    trade_off = {f"trade_off_{name}": [1.0, 0.5] for name in ("lower", "upper")}
    return {"epsilon": [0.0, 1.0], "false_positive": [0.0, 0.05], "alpha": 0.0} | flat | trade_off


def test_the_largest_delta_is_that_of_a_pair_which_the_table_names() -> None:
    """Where no pair leaks, the one whose profile is kept is arbitrary, and no row names it."""
    result = make.computed("a", "not refuted", 0.75)
    result["claim"]["delta"] = 0.01
    result["per_query"][0] |= {"exact": 0.0, "lower": 0.0, "profile": flat_profile(0.009)}
    result["per_query"][1]["profile"] = flat_profile(0.001)
    result["witness"]["query"] = 1
    said = told(only(make.record(result)), "Privacy profile")
    assert said
    assert "needs the largest δ" not in said
    result["per_query"][0] |= {"exact": 0.1, "lower": 0.1}
    said = told(only(make.record(result)), "Privacy profile")
    assert "the one at query 0 needs the largest δ: 0.009" in said


def test_no_leak_over_a_claim_of_none_is_not_the_worst() -> None:
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


def test_no_file_is_the_witness_of_nothing() -> None:
    result = make.computed("a", "not refuted", 0.0, any_size=make.any_size(0.9))
    result["claim"]["epsilon"] = 5.0
    view = make_view(make.record(result))
    assert view.findings is not None
    assert not any("witnesses/" in cell for row in view.findings.rows for cell in row)
