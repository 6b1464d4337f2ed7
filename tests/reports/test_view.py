from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dpassay.api import audit
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged
from dpassay.numerics import percent
from dpassay.record.run_record import result_json
from dpassay.record.schemas import read_schema
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.story import parts_of
from dpassay.reports.run.view import find_result, make_view
from dpassay.reports.shared.numbers import below, clean, exact, factor, loss, plural

Record = dict[str, Any]


def test_fixtures_are_records(small: Record, hostile: Record) -> None:
    for record in (small, hostile):
        jsonschema.validate(record, read_schema("record"))


@pytest.mark.parametrize(
    ("results", "complete", "said"),
    [
        ((), False, "Nothing was audited: the run was interrupted"),
        ((("verified", None),), True, "0 of 1 claim refuted"),
        (
            (("refuted", "refuted"), *[("not refuted", None)] * 3),
            True,
            "1 of 4 claims refuted, as expected",
        ),
    ],
)
def test_headline(
    make: Any, results: tuple[tuple[str, str | None], ...], complete: bool, said: str
) -> None:
    made = [
        make.computed(str(k), verdict, 2.0 if verdict == "refuted" else 0.5, expected=expected)
        for k, (verdict, expected) in enumerate(results)
    ]
    assert make_view(make.record(*made, complete=complete)).headline == said


def test_what_is_among_the_findings(make: Any) -> None:
    """And no note says that some are missing where none is."""
    known = make.computed("a", "not refuted", 0.25, any_size=make.any_size(0.25))
    view = make_view(make.record(known))
    assert not any(words.startswith("Claims missing") for words in view.findings_words)
    assert view.notes == ("Every number was computed from an exact law; none was sampled.",)
    (result,) = make_view(make.record(make.computed("a", "not refuted", 0.1))).results
    assert result.finding is None
    exceeded = make.computed("a", "verified", 0.7, mode="exhaustive", any_size=make.any_size(1.2))
    view = make_view(make.record(exceeded))
    assert view.results[0].finding is not None
    assert view.results[0].finding.kind == "exceeded"
    assert "violates the claim" in view.findings_words[0]


def test_equal_status_is_ordered_by_loss_over_claim(make: Any) -> None:
    large = make.computed("large claim", "not refuted", 1.5)
    large["claim"]["epsilon"] = 4.0
    record = make.record(
        large,
        make.computed("tight", "not refuted", 0.9),
        make.computed("loose", "not refuted", 0.1),
    )
    assert [result.id for result in make_view(record).results] == ["tight", "large claim", "loose"]


def test_what_is_above_the_claim_by_less_than_its_error_is_tight(make: Any) -> None:
    """Recorded numbers are rounded: they never say that a claim is exceeded, a key does."""
    for key, kind in (
        ({"exceeds": False}, "tight"),
        ({"exceeds": True}, "exceeded"),
        ({}, "tight"),
    ):
        found = make.any_size(1.000000000001) | {"error": 1e-15} | key
        result = make.computed("a", "not refuted", 1.0, any_size=found)
        finding = make_view(make.record(result)).results[0].finding
        assert finding is not None
        assert finding.kind == kind, key
        assert (float(finding.true) > 1.0) == (kind == "exceeded")


def test_a_refuting_loss_never_looks_equal_to_the_claim() -> None:
    assert (below(1.0000000123, 1.0), exact(1.0000000123, 1.0, exceeds=True)) == (
        "1.00000001",
        "1.00000001",
    )
    assert (below(0.9999999, 1.0), exact(0.9999999, 1.0, exceeds=False)) == ("0.999999", "1.000000")
    assert (below(1.5, 1.0), exact(1.5, 1.0, exceeds=True)) == ("1.500000", "1.500000")


def test_numbers() -> None:
    shown = {None: "–", float("inf"): "∞", 0.0: "0.000000", 2.5e-9: "2.5e-09", 1e7: "1e+07"}
    assert {value: loss(value) for value in shown} == shown
    shares = {
        0.999: "99.9 %",
        1.0: "100 %",
        1 - 1e-12: "99.99999999 %",
        1 - 2e-4: "99.98 %",
        1e-9: "0.0000001 %",
    }
    assert {value: percent(value) for value in shares} == shares
    factors = {2.0: "2.00 ×", 0.999994: "0.999994 ×", float("inf"): "∞ ×", 2e6: "2e+06 ×"}
    assert {value: factor(value, 1.0) for value in factors} == factors
    assert [plural(1, "query"), plural(2, "query")] == ["1 query", "2 queries"]
    assert plural(1200, "pair") == "1,200 pairs"


def test_clean_leaves_one_printable_line() -> None:
    assert clean("a\n\tb \x1b[31m\u202e\ud800é") == "a b \ufffd[31m\ufffd\ufffdé"


def test_anchors_are_safe_and_unique(make: Any) -> None:
    results = [make.computed(name, "verified") for name in ("a b", "a/b", "a-b", "a b ", "é")]
    anchors = [result.anchor for result in make_view(make.record(*results)).results]
    assert len(set(anchors)) == 5
    assert all(set(anchor) <= set("abcdefghijklmnopqrstuvwxyz-.0123456789") for anchor in anchors)


def test_memory_only_witness_is_replayed_from_python(make: Any) -> None:
    result = make.computed("a", "verified")
    result["witness"]["target"] = None
    (view,) = make_view(make.record(result)).results
    assert view.parts[-1].command is None
    assert "from Python" in view.parts[-1].texts[0]


def test_find_result_suggests(small: Record) -> None:
    view = make_view(small)
    assert find_result(view, "crash").id == "crash"
    with pytest.raises(InvalidInput, match=r"ID = 'overview.exakt'.*did you mean overview.exact"):
        find_result(view, "overview.exakt")
    with pytest.raises(InvalidInput, match=r"the record has broken.monte-carlo, crash, "):
        find_result(view, "zzzzzzzz")


def test_a_delta_and_a_huge_epsilon_are_told(make: Any) -> None:
    result = make.computed("a", "not refuted")
    result["claim"] |= {"delta": 1e-5, "epsilon": 1e300}
    (view,) = make_view(make.record(result)).results
    assert view.claim == "1e+300, δ = 1e-05"
    assert "e^1e+300" in view.parts[0].texts[0]
    assert any("ln((p1 - 1e-05) / p0)" in text for part in view.parts for text in part.texts)


def test_a_sampler_without_coins_was_held_against_values_not_tested() -> None:
    record = result_json(audit(Averaged(r=3)), 0.999)
    parts = parts_of(ResultView(record, "", 0), {"confidence": 0.999})
    (fit,) = (part for part in parts if part.title == "Goodness of fit")
    assert fit.texts[0].startswith("The sampler has no coins: ")
    assert fit.texts[0].endswith(" were compared with the declared values, and all agree.")


def test_digits_that_the_error_reaches_are_not_shown(make: Any) -> None:
    result = make.computed("blurred", "refuted", 1.692895)
    result |= {"lower": 1.692061, "upper": 1.693729, "error": 0.000834, "any_size": None}
    view = make_view(make.record(result))
    (shown,) = view.results
    assert (shown.lower, shown.top) == ("1.692061", "≤ 1.693729")
    assert view.findings.rows[0][3:5] == ("≥ 1.692061", "≥ 1.69 ×")


def test_what_was_computed_needs_no_frequent_answer(make: Any) -> None:
    """The note on what is detectable is about sampled results, and says so where not all are."""
    results = [make.sampled("a", "not refuted"), make.computed("b", "not refuted")]
    for number, start in ((1, "'Detectable'"), (2, "For sampled results,")):
        notes = make_view(make.record(*results[:number])).notes
        (note,) = (note for note in notes if "'detectable'" in note.lower())
        assert note.startswith(start)


@pytest.mark.parametrize("kind", ["Stability", "ScoreStability", "Accuracy"])
def test_a_number_that_is_no_loss_is_not_called_one(make: Any, kind: str) -> None:
    result = make.computed("a", "not refuted", 0.1)
    bounds = {"gamma": 0.5, "beta1": 1.0, "beta2": 1.0, "bound": 0.5}
    result["claim"] |= bounds | {"kind": kind, "unit": "score"}
    (shown,) = make_view(make.record(result)).results
    assert "loss" not in shown.query_table.columns
    assert "loss" not in shown.query_table.caption
