"""What a report says of a loss and of a change of probabilities, side by side."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpassay.reports.run.markdown import text_md, to_markdown
from dpassay.reports.run.view import make_view
from tests.reports.sentences.told import beside, computed_record, told


def test_the_change_measured_beside_a_loss_is_of_single_answers() -> None:
    view = make_view(computed_record("example61-noisy-max", ("n", 20)))
    said = told(view.results[0]) + told(view.results[1])
    assert "change of one answer's probability" in said
    assert (
        "Only single answers were looked at; the probability of a set of answers may "
        "change by more."
    ) in said
    assert (
        "for γ, only single answers, while an event of several answers may change more"
        in view.notions.caption
    )
    assert view.notions.rows[0][6].startswith("≥ ")
    two = make_view(computed_record("soft-majority", ("r", 3)))
    assert "single answers" not in told(two.results[0])
    assert not two.notions.rows[0][6].startswith("≥")  # of datasets of any size


@pytest.mark.parametrize(
    ("status", "said"), [("corrected", "γ = 0.5, corrected"), ("printed", "γ = 0.5")]
)
def test_a_corrected_constant_is_no_promise_of_the_paper(make: Any, status: str, said: str) -> None:
    one, other = (
        make.computed("a", "not refuted", 0.25, any_size=make.any_size(0.25)) for _ in "ab"
    )
    make.of_kind(other, "Stability", 0.5)["claim"]["status"] = status
    measured = (beside(one, witness=None), beside(other, kind="DP", witness=None))
    notions = make_view(make.record(*measured)).notions
    row = dict(zip(notions.columns, notions.rows[0], strict=True))
    assert row["γ claimed"] == said


def test_a_lower_bound_goes_down(make: Any) -> None:
    """0.7500009 would be shown as 0.750001."""
    result = beside(make.computed("a", "not refuted", 0.7500009), 0.2500009)
    notions = make_view(make.record(result)).notions
    assert (notions.rows[0][3], notions.rows[0][6]) == ("≥ 0.750000", "≥ 0.250000")


def test_a_witness_of_another_number_says_which(make: Any) -> None:
    audited = make.computed("a", "refuted", 1.5, any_size=make.any_size(2.0))
    result = beside(audited, any_size=make.any_size(0.5))
    view = make_view(make.record(result))
    assert (
        view.notions.rows[0][4]
        == view.findings.rows[0][7]
        == "witnesses/a.json (audited: 1.500000)"
    )
    assert view.notions.rows[0][7] == "witnesses/b.json (audited: 0.250000)"
    assert "The worst audited cell: S: 8 records" in told(view.results[0])
    result["any_size"]["exact"] = 1.5
    same = make_view(make.record(result)).notions
    assert same is not None
    assert same.rows[0][4] == "witnesses/a.json"


@pytest.mark.parametrize("loss", [1.5, math.inf])
def test_the_worst_of_the_audited_cells_is_a_lower_bound(make: Any, loss: float) -> None:
    """One number must not be 'true 1.500000' in the findings and '≥ 1.500000' in 'Both
    notions'."""
    result = beside(make.computed("a", "refuted", loss if math.isfinite(loss) else "inf"))
    view = make_view(make.record(result))
    known = ("≥ 1.500000", "≥ 1.50 ×") if math.isfinite(loss) else ("∞", "∞ ×")
    assert view.findings.rows[0][3:5] == known
    assert view.notions.rows[0][3] == known[0]
    if math.isfinite(loss):
        result["any_size"] = make.any_size(loss)
        over_all = make_view(make.record(result)).findings
        assert over_all is not None
        assert over_all.rows[0][3:5] == ("1.500000", "1.50 ×")


@pytest.mark.parametrize(
    ("status", "claimed"), [("printed", "1"), ("own", "1, own"), ("corrected", "1, corrected")]
)
def test_a_claim_that_no_paper_prints_is_marked(make: Any, status: str, claimed: str) -> None:
    result = beside(make.computed("a", "not refuted"))
    result["claim"]["status"] = status
    notions = make_view(make.record(result)).notions
    assert notions.rows[0][2] == claimed


def test_markdown_has_the_captions(make: Any) -> None:
    record = make.record(beside(make.computed("a", "refuted", 1.5)))
    view, text = make_view(record), to_markdown(record)
    for table in (view.summary, view.findings, view.notions):
        assert f"{text_md(table.caption)}\n\n| " in text
