from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpassay.errors import InvalidInput
from dpassay.numerics import percent
from dpassay.record.schemas import read_schema
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.view import find_result, make_view
from dpassay.reports.shared.numbers import below, clean, exact, factor, loss, plural

Record = dict[str, Any]


def headline(record: Record) -> str:
    return make_view(record).headline


def test_fixtures_are_records(small: Record, hostile: Record) -> None:
    for record in (small, hostile):
        jsonschema.validate(record, read_schema("record"))


@pytest.mark.parametrize(
    ("results", "complete", "said"),
    [
        ((), True, "Nothing was audited"),
        ((), False, "Nothing was audited: the run was interrupted"),
        ((("verified", None),), True, "0 of 1 claim refuted"),
        (
            (("refuted", "refuted"), *[("not refuted", None)] * 3),
            True,
            "1 of 4 claims refuted, as expected",
        ),
        (
            (("refuted", "refuted"), ("refuted", None)),
            True,
            "2 of 2 claims refuted, 1 of them as expected",
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
    assert headline(make.record(*made, complete=complete)) == said


def test_headline_counts_everything_that_went_wrong(small: Record) -> None:
    assert headline(small) == (
        "2 of 7 claims refuted (1 from trials, at 99.9 % confidence; 1 computed), 1 of them as "
        "expected; 1 ended in an error; 1 known to be wrong was not refuted; 1 inconclusive; the "
        "run is incomplete"
    )


def test_what_is_not_among_the_findings_is_said(make: Any, small: Record) -> None:
    said = "Claims missing from this table either ended in an error, or were not refuted"
    assert any(words.startswith(said) for words in make_view(small).findings_words)
    known = make.computed("a", "not refuted", 0.25, any_size=make.any_size(0.25))
    assert not any(words.startswith(said) for words in make_view(make.record(known)).findings_words)


def test_worst_first(small: Record) -> None:
    assert [result.id for result in make_view(small).results] == [
        "broken.monte-carlo",
        "crash",
        "blind.monte-carlo",
        "weak.monte-carlo",
        "overview.exact",
        "majority.exact",
        "walk.exhaustive",
    ]


def test_equal_status_is_ordered_by_loss_over_claim(make: Any) -> None:
    large = make.computed("large claim", "not refuted", 1.5)
    large["claim"]["epsilon"] = 4.0
    record = make.record(
        large,
        make.computed("tight", "not refuted", 0.9),
        make.computed("loose", "not refuted", 0.1),
    )
    assert [result.id for result in make_view(record).results] == ["tight", "large claim", "loose"]


@pytest.mark.parametrize(
    ("verdict", "expected", "word"),
    [
        ("refuted", None, "refuted"),
        ("refuted", "refuted", "refuted as expected"),
        ("not refuted", None, "not refuted"),
        ("not refuted", "refuted", "not refuted, known wrong"),
        ("verified", "refuted", "not refuted, known wrong"),
        ("inconclusive", "refuted", "not refuted, known wrong"),
        ("error", "refuted", "error"),
        ("verified", None, "verified"),
        ("inconclusive", None, "inconclusive"),
    ],
)
def test_status_words(make: Any, verdict: str, expected: str | None, word: str) -> None:
    (result,) = make_view(make.record(make.computed("a", verdict, expected=expected))).results
    assert result.status.word == word


def test_notes(small: Record, make: Any) -> None:
    notes = " ".join(make_view(small).notes)
    for words in (
        "interrupted",
        "built-in catalogue",
        "known to be wrong",
        "3 results are sampled, 3 computed",
    ):
        assert words in notes
    assert make_view(make.record(make.computed("a", "verified"))).notes == (
        "Every number was computed from an exact law; none was sampled.",
    )


def test_findings(small: Record) -> None:
    found = {result.id: result.finding for result in make_view(small).results}
    kinds = {
        name: finding and (finding.kind, finding.true, finding.factor)
        for name, finding in found.items()
    }
    assert kinds == {
        "broken.monte-carlo": ("refuted", "≥ 1.234567", "≥ 1.23 ×"),
        "crash": None,
        "blind.monte-carlo": None,
        "weak.monte-carlo": None,
        "overview.exact": ("refuted", "2.000000", "2.00 ×"),
        "majority.exact": ("tight", "0.995000", "0.995 ×"),
        "walk.exhaustive": ("loose", "0.700000", "0.70 ×"),
    }


def test_a_reachable_violation_outside_the_audited_cells_is_a_finding(make: Any) -> None:
    record = make.record(
        make.computed("a", "verified", 0.7, mode="exhaustive", any_size=make.any_size(1.2))
    )
    (result,) = make_view(record).results
    assert result.finding is not None
    assert result.finding.kind == "exceeded"
    assert "violates the claim" in make_view(record).findings_words[0]


def test_what_is_above_the_claim_by_less_than_its_error_is_tight(make: Any) -> None:
    """Recorded numbers are rounded.

    They never say that a claim is exceeded, the record's key does.
    """
    for key, kind in (
        ({}, "tight"),
        ({"exceeds": False}, "tight"),
        ({"exceeds": True}, "exceeded"),
    ):
        found = make.any_size(1.000000000001) | {"error": 1e-15} | key
        (result,) = make_view(
            make.record(make.computed("a", "not refuted", 1.0, any_size=found))
        ).results
        assert result.finding is not None
        assert result.finding.kind == kind, key
        assert (float(result.finding.true) > 1.0) == (kind == "exceeded")


def test_a_small_loss_at_the_audited_cells_is_no_finding(make: Any) -> None:
    (result,) = make_view(make.record(make.computed("a", "not refuted", 0.1))).results
    assert result.finding is None


def test_a_refuting_loss_never_looks_equal_to_the_claim() -> None:
    assert (below(1.0000000123, 1.0), exact(1.0000000123, 1.0, exceeds=True)) == (
        "1.00000001",
        "1.00000001",
    )
    assert (below(0.9999999, 1.0), exact(0.9999999, 1.0, exceeds=False)) == ("0.999999", "1.000000")
    assert (below(1.5, 1.0), exact(1.5, 1.0, exceeds=True)) == ("1.500000", "1.500000")


def test_numbers() -> None:
    assert [loss(value) for value in (None, float("inf"), 0.0, 2.5e-9, 1e7)] == [
        "–",
        "∞",
        "0.000000",
        "2.5e-09",
        "1e+07",
    ]
    assert percent(0.999) == "99.9 %"
    assert percent(0.95) == "95 %"
    assert percent(1.0) == "100 %"
    assert percent(0.999999999999) == "99.99999999 %"
    assert percent(1 - 2e-4) == "99.98 %"
    assert percent(1e-9) == "0.0000001 %"
    assert (factor(2.0, 1.0), factor(0.999994, 1.0), factor(float("inf"), 1.0)) == (
        "2.00 ×",
        "0.999994 ×",
        "∞ ×",
    )
    assert (plural(1, "query"), plural(2, "query"), plural(1200, "pair")) == (
        "1 query",
        "2 queries",
        "1,200 pairs",
    )


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
    replay = next(part for part in view.parts if part.title == "Replay")
    assert replay.command is None
    assert "from Python" in replay.texts[0]


def test_replay_names_the_file_that_the_run_writes(make: Any) -> None:
    (view,) = make_view(make.record(make.computed("m:f x/y", "verified"))).results
    assert view.parts[-1].command == "dpassay replay witnesses/m%3Af%20x%2Fy.json --trust"


def test_find_result_suggests(small: Record) -> None:
    view = make_view(small)
    assert find_result(view, "crash").id == "crash"
    with pytest.raises(InvalidInput, match=r"ID = 'overview.exakt'.*did you mean overview.exact"):
        find_result(view, "overview.exakt")
    with pytest.raises(InvalidInput, match=r"the record has broken.monte-carlo, crash, "):
        find_result(view, "zzzzzzzz")


def test_huge_epsilon_is_no_overflow(make: Any) -> None:
    result = make.computed("a", "verified")
    result["claim"]["epsilon"] = 1e300
    assert "e^1e+300" in make_view(make.record(result)).results[0].parts[0].texts[0]


def test_delta_is_told(make: Any) -> None:
    result = make.computed("a", "not refuted")
    result["claim"]["delta"] = 1e-5
    (view,) = make_view(make.record(result)).results
    assert view.claim == "1, δ = 1e-05"
    assert "and adds at most δ = 1e-05 to it" in view.parts[0].texts[0]
    assert any("ln((p1 - 1e-05) / p0)" in text for part in view.parts for text in part.texts)


def test_import_costs_nothing() -> None:
    heavy = "{'numpy', 'seaborn', 'matplotlib', 'jinja2', 'rich', 'pandas'}"
    names = ", ".join(
        "dpassay." + ".".join(path.with_suffix("").parts)
        for path in Path("reports").glob("*/[a-z]*.py")
    )
    code = f"import sys, dpassay.reports, {names}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_view_needs_nothing_but_the_record(small: Record) -> None:
    assert to_markdown(json.loads(json.dumps(small))) == to_markdown(small)


def test_a_sampler_without_coins_was_held_against_values_not_tested() -> None:
    from dpassay.api import audit
    from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged
    from dpassay.record.run_record import result_json
    from dpassay.reports.run.result import ResultView
    from dpassay.reports.run.story import parts_of

    parts = parts_of(
        ResultView(result_json(audit(Averaged(r=3)), 0.999), "", 0), {"confidence": 0.999}
    )
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
    sampled = make.sampled("a", "not refuted")
    notes = [
        make_view(make.record(sampled, *more)).notes
        for more in ((), (make.computed("b", "not refuted"),))
    ]
    alone, mixed = ([note for note in each if "'detectable'" in note.lower()] for each in notes)
    assert [note[:12] for note in alone] == ["'Detectable'"][: len(alone)]
    assert [note.startswith("For sampled results,") for note in mixed] == [True] * len(alone)
    assert alone


@pytest.mark.parametrize("kind", ["Stability", "ScoreStability", "Accuracy"])
def test_a_number_that_is_no_loss_is_not_called_one(make: Any, kind: str) -> None:
    result = make.computed("a", "not refuted", 0.1)
    result["claim"] |= {
        "kind": kind,
        "gamma": 0.5,
        "beta1": 1.0,
        "beta2": 1.0,
        "bound": 0.5,
        "unit": "score",
    }
    (shown,) = make_view(make.record(result)).results
    assert "loss" not in shown.query_table.columns
    assert "loss" not in shown.query_table.caption


def test_a_factor_of_any_size_is_written() -> None:
    assert factor(1e40, 1e-5) == "1e+45 ×"
    assert factor(2e6, 1.0) == "2e+06 ×"
    assert factor(999_999.0, 1.0) == "999999.00 ×"
