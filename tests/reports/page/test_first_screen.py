"""The first screen: few numbers, one change, a line, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.reports.run.lead import briefs
from dpassay.reports.run.page.first_screen import card, chosen, claimed_number, origin
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.cards import Card

Record = dict[str, Any]


def cards(record: Record) -> list[Card]:
    return [card(each, record["run"]) for each in make_view(record).results]


def one(make: Any, result: Record, **run: Any) -> Card:
    (found,) = cards(make.record(result, **run))
    return found


def test_a_refuted_claim(make: Any) -> None:
    found = one(make, make.sampled("mine", "refuted", lower=1.8967, upper=2.1))
    assert [(each.name, each.text) for each in found.numbers] == [
        ("Claimed", "ε = 1"),
        ("Certified", "≥ 1.89"),
        ("At most", "≤ 2.1"),
        ("Leak ÷ claim", "≥ 1.89 ×"),
    ]
    assert found.numbers[1].note == "99.9 % confidence"
    assert found.numbers[2].note == "at the 2 certified cells"
    bars = [(bar.side, bar.text, bar.width) for bar in found.bars]
    assert bars == [("S", "50 %", 50.0), ("S'", "12 %", 12.5)]
    assert found.steps[0].command == "dpassay replay witnesses/mine.json --trust"
    assert "every ε below 1.89 is refuted too" in found.steps[1].text
    assert found.steps[2].command == "dpassay run --seed 0"
    pairs, sight, blind = found.looked
    assert pairs == "Looked at: 3 pairs of neighbours, 2 queries."
    assert sight == (
        "A leak ≥\N{NO-BREAK SPACE}1.19 there would have been refuted with probability 0.9, "
        "through an answer of probability 0.2 or more."
    )
    assert blind == "The audit is blind elsewhere."
    endless = one(make, make.computed("mine", "refuted", "inf"))
    assert endless.line is None
    assert "every finite ε is refuted too" in endless.steps[1].text


def test_the_line_has_room_for_claim_and_bounds_in_their_order(make: Any) -> None:
    line = one(make, make.sampled("mine", "refuted", lower=1.8967, upper=2.1)).line
    assert line is not None
    assert [mark.kind for mark in line.marks] == ["claim", "least", "most"]
    at = [mark.at for mark in line.marks]
    assert 0 < at[0] < at[1] < at[2] < 100
    assert at[1] / at[0] == pytest.approx(1.8967, abs=0.01)
    assert line.told == "Number line from 0: claim 1, ≥ 1.89, ≤ 2.1"
    assert (line.left, round(line.left + line.width, 2)) == (at[1], at[2])


@pytest.mark.parametrize("upper", ["inf", 50.0])
def test_a_bound_far_away_ends_the_line(make: Any, upper: float | str) -> None:
    line = one(make, make.sampled("mine", "not refuted", lower=0.5, upper=upper)).line
    assert line is not None
    assert line.beyond
    assert line.marks[-1].at == 100
    assert line.marks[-1].text == ("≤ ∞" if upper == "inf" else "≤ 50")
    assert line.marks[0].at == pytest.approx(100 / 1.08, abs=0.01)


def test_a_claim_that_was_not_refuted_is_kept_under_watch(make: Any) -> None:
    found = one(make, make.sampled("mine", "not refuted", lower=0.5, upper=1.1))
    assert found.verdict == ""
    assert [each.text for each in found.numbers] == ["ε = 1", "0.5 to 1.1", "≥ 1.19"]
    accept, check, _ = (step.command for step in found.steps)
    assert accept == "dpassay baseline accept REPORT/record.json"
    assert check.startswith("dpassay run --seed 0 --out REPORT && dpassay baseline check REPORT/")


def test_an_undecided_claim_says_why_and_where_to_learn_the_budget(make: Any) -> None:
    result = make.sampled("mine", "inconclusive", lower=0.1, upper=4.0, reason="raise the budget")
    command = "dpassay run mine:f --mode monte-carlo --budget 100 --seed 1"
    found = one(make, result, command=command)
    assert found.verdict == "Raise the budget."
    assert [step.command for step in found.steps] == [
        "dpassay plan mine:f --seed 1",
        "dpassay run mine:f --seed 1 --budget TRIALS",
    ]
    for other in ("pytest", "dpassay run mine:f --n 3"):
        (step,) = one(make, result, command=other).steps
        assert (step.text, step.command) == ("Raise the budget, and run it again.", "")
    result["reason"] = "the audit saw nothing move"
    (step,) = one(make, result, command=command).steps
    assert step.command == command


def test_a_witness_that_did_not_move_and_an_error_show_no_change(make: Any) -> None:
    result = make.sampled("mine", "inconclusive", lower=0.0)
    result["witness"] |= {"p1": 1.0, "p0": 1.0}
    found = one(make, result)
    assert (found.seen, found.bars) == ((), ())
    found = one(make, make.result("mine", "error", reason="sample returned NaN"))
    assert found.verdict == "Sample returned NaN."
    assert found.steps[0].text.startswith("Mend what the message names.")
    assert (found.bars, found.line, found.looked) == ((), None, ())


def test_means_and_tiny_probabilities_have_bars_over_the_larger(make: Any) -> None:
    result = make.of_means(make.sampled("mine", "refuted", lower=0.25))
    assert [bar.width for bar in one(make, result).bars] == [100.0, 66.7]
    result["witness"] |= {"p1": -0.5}
    assert one(make, result).bars == ()
    rare = make.computed("mine", "refuted", 2.0)
    rare["witness"] |= {"p1": 1e-6, "p0": 1e-7}
    found = one(make, rare)
    assert [bar.width for bar in found.bars] == [100.0, 10.0]
    assert found.scale


def test_a_domain_is_not_said_to_be_more_and_all_datasets_are_told_of(make: Any) -> None:
    result = make.computed("mine", "verified", mode="exhaustive")
    result["searched"]["datasets"] = 8
    found = one(make, result)
    assert found.numbers[1].note == "computed, every dataset of the domain"
    assert found.looked[1] == (
        "Every dataset of this domain was computed. Nothing is said beyond it."
    )
    known = one(make, make.computed("mine", "not refuted", any_size=make.any_size(0.75)))
    assert known.looked[-1].startswith("Over datasets of any size, the worst loss is 0.75")


def test_cards_are_of_what_needs_somebody_to_act(small: Record, make: Any) -> None:
    shown = chosen(make_view(small).results)
    assert [each.name for each in shown] == ["broken", "crash", "blind", "weak"]
    alone = make_view(make.record(make.computed("mine", "verified", mode="exhaustive"))).results
    assert chosen(alone) == list(alone)


def test_claims_have_one_number(make: Any) -> None:
    for claim, number in (
        ({"delta": 1e-5}, "1"),
        ({"kind": "ScoreStability", "beta1": 2.0, "beta2": 1.0, "delta": 0.25}, "0.25"),
    ):
        result = make.computed("mine", "not refuted", 0.0)
        result["claim"] |= claim
        assert claimed_number(briefs(make.record(result))[0]) == number


def test_who_and_what_but_no_date(make: Any) -> None:
    data = {"name": "iris", "records": 150, "split": {"queries": 5}}
    assert origin(make.record(data=data)) == (
        "dpassay 0.1.0",
        "commit 0123abc",
        "iris, 150 records, 5 queries",
    )
    none = origin(make.record(data=None, commit=None))
    assert none == ("dpassay 0.1.0", "nothing was looked at")


def test_a_claim_that_another_dataset_breaks_is_not_to_be_kept(make: Any) -> None:
    result = make.computed("mine", "not refuted", 0.5, any_size=make.any_size(1.5))
    found = one(make, result)
    assert "a dataset that was not audited breaks the claim" in found.steps[0].text
    assert not [step for step in found.steps if "baseline" in step.command]
    assert "is 1.5" in found.looked[-1]
    held = make.computed("other", "not refuted", 0.5)
    (shown,) = chosen(make_view(make.record(result, held)).results)
    assert shown.id == "mine"


def test_an_error_is_no_leak(make: Any) -> None:
    result = make.computed("mine", "refuted", 0.5)
    result["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.25}
    found = one(make, result)
    names = [number.name for number in found.numbers]
    assert names == ["Claimed", "Error", "Error ÷ claim"]
    assert "every bound below 0.5 is refuted too" in found.steps[1].text
