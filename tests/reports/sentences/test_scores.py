"""What a report says of claims about scores: of bad strings, their proportion and its bounds."""

from __future__ import annotations

from typing import Any

from dpassay.claims import ScoreStability
from dpassay.engine.exact import exact_evidence, group_laws
from dpassay.record.witness_words import in_words
from dpassay.reports.run.view import make_view
from dpassay.targets.groups import silent
from tests.core.toys import flip_group, target_of
from tests.reports.sentences.told import Blurred, computed, computed_record, of_score, only, told


def test_a_proportion_known_within_its_error_is_no_probability_of_1() -> None:
    (result,) = (
        each
        for each in make_view(computed_record("theorem-4-score-at-zero")).results
        if each.id == "theorem-4-score-at-zero.printed.exact.2"
    )
    place = result.query_table.columns.index("p1")
    shown = {row[place] for row in result.query_table.rows}
    assert any(each.startswith("≥ 0.94") for each in shown)
    assert "1" not in shown


def test_a_proportion_of_0_is_no_certainty(make: Any) -> None:
    """The worst event is 'good' there: its probability of 1 is none of bad strings."""
    view = make_view(make.record(of_score(make, 0.0, 2.5e-08)))
    (result,) = view.results
    assert (
        told(result, "Counts")
        == "A random string is bad with probability at most 2.5e-08, by the law; no trials."
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


def test_the_witness_says_so_too() -> None:
    (result,) = (
        each
        for each in computed("example61-noisy-max", n=20)
        if each.claim.kind == "ScoreStability"
    )
    said = in_words(result)
    assert ": with all others no audited change moves the score" in said
    assert "probability 1" not in said
    assert "is at most 8.89e-16" in result.outcome.reason


def test_some_strings_are_bad(make: Any) -> None:
    some = only(make.record(of_score(make, 0.005, 0.005 + 1e-12)))
    assert "bad with probability 0.005000" in told(some, "Counts")
    assert "Numerical error at most" in told(some, "How the bound was made")
    blurred = told(
        only(make.record(of_score(make, 1.0, 1.0, 0.948595) | {"error": 0.052})), "Counts"
    )
    assert "bad with probability at least 0.948595" in blurred


def test_good_strings_that_were_counted_are_not_bad_ones(make: Any) -> None:
    result = make.sampled("a", "not refuted", lower=0.0)
    result["claim"] |= {
        "kind": "ScoreStability",
        "epsilon": None,
        "delta": 0.01,
        "beta1": 1.0,
        "beta2": 1.0,
    }
    result["witness"] |= {"event": [0], "trials": {"seed": 0, "draws": 5000, "x": 5000, "y": 4990}}
    assert told(only(make.record(result)), "Counts").startswith(
        "10 of 5,000 random strings were bad."
    )


def test_no_proportion_is_above_1() -> None:
    """Logarithms of a law are known up to an error that would take the upper bound beyond 1."""

    target = target_of(Blurred(table=((1.0, 0.0), (0.0, 1.0)), error=0.05))
    group = flip_group(1)
    laws = group_laws(target, group, silent)
    assert laws is not None
    found = exact_evidence(target, target.claims[0], (group,), (laws,), None)
    assert found.upper.value == found.cells[0].upper.value == found.table["upper"].max() == 1.0
    assert found.lower.value < 1.0


def test_an_upper_bound_above_a_claim_of_0_is_no_equality() -> None:
    """8.89e-16 of the strings may be bad by what was proven, 0 by what was found.

    That is not 'equal to' the claim.
    """
    (outcome,) = (
        each.outcome
        for each in computed("example61-noisy-max")
        if isinstance(each.claim, ScoreStability)
    )
    assert "above the claim by rounding at most; the claim allows 0" in outcome.reason
    assert "equal to the claim" not in outcome.reason
