"""What is let pass of a comparison with a baseline, what is kept of one, and when it is stale."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from dpassay.config.mechanisms import Suppression
from dpassay.errors import InvalidInput
from dpassay.record.baseline import judge, require_same, without_curves
from dpassay.record.compare import compare
from dpassay.record.comparer import Comparison
from tests.record.made_runs import (
    REFUTED,
    SEARCHED,
    Record,
    exact,
    record,
    sampled,
)

SUPPRESSED = Suppression(
    result="m.own.monte-carlo", kind="rose", reason="looked at", expires=date(2026, 11, 30)
)


def regressed() -> Comparison:
    return compare(record(sampled()), record(sampled(7000, 3000)))


def test_a_suppression_lets_pass_until_its_day() -> None:
    on_the_day, after = (
        judge(regressed(), [SUPPRESSED], day) for day in (date(2026, 11, 30), date(2026, 12, 1))
    )
    assert on_the_day.open == ()
    assert on_the_day.as_json()["suppressed"][0]["reason"] == "looked at"
    assert [change.kind for change in after.open] == ["rose"]
    assert after.notes == ("expired on 2026-11-30: rose of m.own.monte-carlo",)


@pytest.mark.parametrize("other", [{"kind": "blinder"}, {"result": "n.own.monte-carlo"}])
def test_a_suppression_lets_nothing_else_pass(other: Record) -> None:
    each = replace(SUPPRESSED, **other)
    found = judge(regressed(), [each], date(2026, 11, 21))
    assert len(found.open) == 1
    assert "not needed any more" in found.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "kind", "size"),
    [
        (sampled(), sampled(7000, 3000), "rose", 0.77),
        (sampled(), sampled(7500, 2000, lower=1.3, **REFUTED), "refuted", 1.3),
        (sampled(), sampled(searched=SEARCHED | {"pairs": 9}), "blinder", 1.13),
        (sampled(), sampled(650, 350, n=1000), "blinder", 1.48),
        (exact(), exact(searched=SEARCHED | {"pairs": 9}), "blinder", 1.0),
    ],
)
def test_a_suppression_holds_up_to_a_size(old: Record, new: Record, kind: str, size: float) -> None:
    found, today = compare(record(old), record(new)), date(2026, 11, 21)
    held, enough, short = (
        next(change for change in each.let_pass if change[0].kind == kind)
        if each.let_pass
        else each
        for each in (
            judge(found, [replace(SUPPRESSED, result=new["id"], kind=kind, up_to=up_to)], today)
            for up_to in (None, 1.05 * size, 0.9 * size)
        )
    )
    assert isinstance(held, tuple)
    assert isinstance(enough, tuple)
    assert not isinstance(short, tuple)
    assert kind in [change.kind for change in short.open]
    assert "does not hold any more" in short.notes[0]


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (
            record(sampled(), data={"name": "a", "split": {"seed": 1}}),
            "data.split.seed = 1, the record 0",
        ),
        (record(sampled(), data=None), "it has data = none, the record "),
        (record(sampled(name="other")), "none of the results"),
    ],
)
def test_a_baseline_of_other_data_or_mechanisms_is_stale(old: Record, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^baseline = 'b.json': is stale.*{said}"):
        require_same(old, record(sampled()), Path("b.json"))


def test_a_baseline_is_a_record_without_its_curves() -> None:
    kept = without_curves(record(sampled()))
    assert kept["results"][0]["per_query"][0]["profile"] is None
    assert compare(kept, record(sampled())).changes == ()
