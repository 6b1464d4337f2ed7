"""Two records held against each other.

Every kind of regression, and every kind of difference that is none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpassay.claims import DP
from dpassay.config.mechanisms import KINDS
from dpassay.errors import InvalidInput
from dpassay.record.compare import compare
from dpassay.record.comparer import ALPHA
from dpassay.record.kinds import RUNS
from dpassay.record.rebound import bounds_at_alpha
from tests.record.made_runs import (
    REFUTED,
    SEARCHED,
    WITNESS,
    Record,
    at,
    claim,
    exact,
    kinds,
    record,
    sampled,
)

NEWS = ("elsewhere", "fell", "tightened", "recovered", "reworded", "new")

REGRESSED = {
    "a claim is refuted": (sampled(), sampled(7500, 2000, **REFUTED), ["refuted", "rose"]),
    "refuted already": (
        sampled(7500, 2000, **REFUTED),
        sampled(7500, 2000, **REFUTED),
        ["refuted"],
    ),
    "the mechanism fails": (sampled(), sampled(verdict="error", per_query=[]), ["failed"]),
    "failed already": (
        sampled(verdict="error", per_query=[]),
        sampled(verdict="error", per_query=[]),
        ["failed"],
    ),
    "a wrong claim is not refuted": (
        sampled(expected="refuted", **REFUTED),
        sampled(expected="refuted"),
        ["failed"],
    ),
    "the claim is weaker": (sampled(), sampled(claim=claim(epsilon=2.0)), ["weakened"]),
    "the claim is weaker in delta": (sampled(), sampled(claim=claim(delta=0.1)), ["weakened"]),
    "stronger in one, weaker in the other": (
        sampled(),
        sampled(claim=claim(epsilon=0.9, delta=0.1)),
        ["weakened"],
    ),
    "the bound rose": (sampled(), sampled(7000, 3000), ["rose"]),
    "the exact leak rose": (exact(0.6), exact(0.66), ["rose"]),
    "the computed leak rose above the sampled": (sampled(), exact(0.9), ["rose"]),
    "the sampled leak rose above the computed": (
        exact(0.5, detectable=1.2),
        sampled(7000, 3000),
        ["blinder", "rose"],
    ),
    "fewer pairs": (sampled(), sampled(searched=SEARCHED | {"pairs": 9}), ["blinder"]),
    "fewer queries": (exact(), exact(searched=SEARCHED | {"queries": 0}), ["blinder"]),
    "elsewhere": (
        sampled(),
        sampled(searched=SEARCHED | {"how": ["otherwise"], "keys": ["data:!"]}),
        ["blinder"],
    ),
    "one of two alike": (
        sampled(searched=SEARCHED | {"how": ["a", "a"], "keys": ["a", "a"]}),
        sampled(searched=SEARCHED | {"how": ["a"], "keys": ["a"]}),
        ["blinder"],
    ),
    "the name stands for another target": (
        sampled(),
        sampled(witness=WITNESS | {"target": "stub:predict"}),
        ["repointed"],
    ),
    "the target of a wrong claim": (
        sampled(expected="refuted", **REFUTED),
        sampled(expected="refuted", witness=WITNESS | {"target": None}, **REFUTED),
        ["repointed"],
    ),
    "the leak rose at its complement, the other way round": (
        sampled(),
        at(sampled(7000, 3000), event=[0], direction="S' to S"),
        ["rose"],
    ),
    "it rose where all was computed, at another cell": (
        exact(0.6),
        at(exact(0.9), pair=4),
        ["rose"],
    ),
    "sampled above all that was computed": (
        exact(0.5),
        at(sampled(7000, 3000), pair=4),
        ["blinder", "rose"],
    ),
    "at the delta of the new claim": (
        sampled(),
        sampled(9000, 1000, claim=claim(delta=0.1)),
        ["weakened", "rose"],
    ),
    "fewer trials": (sampled(), sampled(650, 350, n=1000, detectable=1.4), ["blinder"]),
    "sampled, and was computed": (exact(0.6), sampled(), ["blinder"]),
    "inconclusive": (exact(), exact(verdict="inconclusive"), ["blinder"]),
}
NOT_REGRESSED = {
    "the same": (sampled(), sampled(), []),
    "other counts of the same leak": (sampled(), sampled(6550, 3450), []),
    "above the tolerance, within noise": (
        sampled(n=1000, x=650, y=350),
        sampled(n=1000, x=690, y=310),
        [],
    ),
    "significant, within the tolerance": (exact(0.6), exact(0.64), []),
    "only the share of alpha is smaller": (
        sampled(),
        sampled(detectable=1.4, lower=0.1, alpha=1e-9),
        [],
    ),
    "so much smaller that it is inconclusive": (
        sampled(),
        sampled(verdict="inconclusive", detectable=1.6),
        [],
    ),
    "one trial less, and a smaller share": (
        sampled(),
        sampled(6500, 3500, n=9999, detectable=1.6),
        [],
    ),
    "looked at more": (
        sampled(),
        sampled(
            searched=SEARCHED | {"how": ["by hand", "own worst case"], "keys": ["data:?", "own"]}
        ),
        [],
    ),
    "a cell that was not certified": (sampled(), at(sampled(7000, 3000), pair=4), ["elsewhere"]),
    "another query": (sampled(), at(sampled(7000, 3000), query=1), ["elsewhere"]),
    "other data": (sampled(), at(sampled(7000, 3000), data="0ddba11"), ["elsewhere"]),
    "computed elsewhere": (
        exact(0.6),
        at(exact(0.9, searched=SEARCHED | {"pairs": 20}), pair=4),
        ["elsewhere"],
    ),
    "another threshold": (
        at(sampled(), event={"below": 2.0}),
        at(sampled(7000, 3000), event={"below": 2.5}),
        ["elsewhere"],
    ),
    "lower, at another cell": (sampled(7000, 3000), at(sampled(), pair=4), []),
    "lower everywhere, at another cell": (sampled(7000, 3000), at(exact(0.6), pair=4), ["fell"]),
    "more trials": (sampled(650, 350, n=1000, detectable=1.4), sampled(), []),
    "computed, and was sampled": (sampled(), exact(0.62), []),
    "more pairs": (sampled(), sampled(searched=SEARCHED | {"pairs": 11}), []),
    "inconclusive already": (sampled(verdict="inconclusive"), sampled(verdict="inconclusive"), []),
    "conclusive again": (sampled(verdict="inconclusive"), sampled(), []),
    "wrong as declared": (
        sampled(expected="refuted", **REFUTED),
        sampled(8000, 2000, expected="refuted", **REFUTED),
        [],
    ),
    "another reason or source": (
        sampled(),
        sampled(reason="other words", claim=claim(source="elsewhere")),
        [],
    ),
    "the bound fell": (sampled(7000, 3000), sampled(), ["fell"]),
    "the unit is told in other words": (
        sampled(),
        sampled(claim=claim(unit="a prediction")),
        ["reworded"],
    ),
    "the claim is stronger": (sampled(), sampled(claim=claim(epsilon=0.9)), ["tightened"]),
    "not refuted any more": (sampled(7500, 2000, **REFUTED), sampled(), ["recovered", "fell"]),
    "audited again": (sampled(verdict="error", per_query=[]), sampled(), ["recovered"]),
}


@pytest.mark.parametrize("case", REGRESSED)
def test_regressions(case: str) -> None:
    old, new, expected = REGRESSED[case]
    assert sorted(kinds(old, new)) == sorted(expected)
    assert set(expected) <= set(KINDS)


@pytest.mark.parametrize("case", NOT_REGRESSED)
def test_differences_that_are_none(case: str) -> None:
    old, new, expected = NOT_REGRESSED[case]
    assert sorted(kinds(old, new)) == sorted(expected)
    assert set(expected) <= set(NEWS)


def test_every_kind_is_tested() -> None:
    seen = {
        kind
        for cases in (REGRESSED, NOT_REGRESSED)
        for _, _, found in cases.values()
        for kind in found
    }
    assert seen | {"vanished", "new"} == {*KINDS, *NEWS}


@pytest.mark.parametrize(
    "change", [{"parameters": {"r": 6}}, {"mechanism": "other"}, {"claim": claim(status="printed")}]
)
def test_another_entry_is_new_and_the_old_one_vanished(change: Record) -> None:
    assert kinds(sampled(), sampled(**change)) == ["vanished", "new"]
    vanished = compare(record(sampled()), record(sampled(**change))).changes[0]
    assert ("the mechanism is there" in vanished.words) == ("mechanism" not in change)


def test_two_entries_about_the_same_are_kept_apart() -> None:
    found = compare(record(sampled(), sampled(7000, 3000)), record(sampled(), sampled(7000, 3000)))
    assert found.changes == ()
    assert len(found.unchanged) == 2


def test_a_tighter_delta_hides_no_rise() -> None:
    """Counts give the loss at any delta, so both are held against each other at the new one.

    A computed loss is of one only.
    """
    old = claim(delta=1e-5)
    assert kinds(sampled(claim=old), sampled(7000, 3000, claim=claim(delta=9.99e-6))) == [
        "rose",
        "tightened",
    ]
    assert kinds(sampled(claim=old), exact(0.9, claim=claim(delta=9.99e-6))) == [
        "rose",
        "tightened",
    ]
    (change,) = compare(
        record(exact(0.6, claim=old)), record(exact(0.9, claim=claim(delta=9.99e-6)))
    ).changes
    assert change.kind == "tightened"
    assert "whether it rose was NOT looked at" in change.words


def test_an_event_of_numbers_and_its_complement_are_one_cell() -> None:
    one, other = (
        at(sampled(), event={"at_least": 2.0}),
        at(sampled(7000, 3000), event={"below": 2.0}),
    )
    assert kinds(one, other) == ["rose"]


def test_the_words_of_what_was_not_certified_before() -> None:
    (change,) = compare(record(sampled()), record(at(sampled(7000, 3000), pair=4))).changes
    assert "at a cell that the old record had not certified" in change.words
    assert "whether it rose there is not known" in change.words


def test_the_words_of_what_looked_elsewhere() -> None:
    (change,) = compare(
        record(sampled()), record(sampled(searched=SEARCHED | {"how": ["b"], "keys": ["b"]}))
    ).changes
    assert change.words == "looked elsewhere: 'b' instead of 'by hand'"


def test_tolerance_is_a_part_of_the_claim() -> None:
    assert kinds(exact(0.6), exact(0.66), tolerance=0.07) == []
    assert (
        kinds(
            exact(0.06, claim=claim(epsilon=0.1)),
            exact(0.066, claim=claim(epsilon=0.1)),
            tolerance=0.07,
        )
        == []
    )
    assert kinds(
        exact(0.06, claim=claim(epsilon=0.1)),
        exact(0.068, claim=claim(epsilon=0.1)),
        tolerance=0.07,
    ) == ["rose"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("tolerance", part) for part in (-0.1, 1.001, float("inf"), float("nan"))),
        ("alpha", 0.0),
        ("alpha", 1.0),
    ],
)
def test_bad_options_are_named(option: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"{option} = "):
        compare(record(sampled()), record(sampled()), **{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("old", [sampled(), exact(0.6)], ids=["sampled", "exact"])
@pytest.mark.parametrize("new", [case[1] for case in REGRESSED.values()], ids=list(REGRESSED))
def test_adding_or_removing_another_mechanism_changes_nothing_for_the_others(
    old: Record, new: Record
) -> None:
    other = exact(0.3, name="other")
    alone = compare(record(old), record(new))
    for before, after in (
        (record(old, other), record(new)),
        (record(old), record(new, other)),
        (record(other, old), record(other, new)),
    ):
        found = compare(before, after)
        assert tuple(change for change in found.changes if change.mechanism == "m") == alone.changes


@pytest.mark.slow
def test_a_run_with_another_mechanism_gives_the_same_comparison(tmp_path: Path) -> None:
    """The share of alpha differs, and with it every recorded bound.

    The bounds at the common alpha do not.
    """
    from dpassay.cli.main import main

    common = ["--mode=monte-carlo", "--profile=quick", "-q"]
    for folder, targets in (
        ("one", ["soft-majority"]),
        ("two", ["soft-majority", "projected-walk"]),
    ):
        assert main(["run", *targets, *common, "--out", str(tmp_path / folder)]) in (0, 4)

    one, two = (RUNS.read(tmp_path / folder / "record.json") for folder in ("one", "two"))
    shared = [result for result in two["results"] if result["mechanism"] == "soft-majority"]
    assert one["results"][0]["lower"] > shared[0]["lower"]
    assert [change.kind for change in compare(one, one | {"results": shared}).changes] == []
    read = DP(epsilon=one["results"][0]["claim"]["epsilon"])
    assert bounds_at_alpha(one["results"][0], read, ALPHA) == bounds_at_alpha(
        shared[0], read, ALPHA
    )
