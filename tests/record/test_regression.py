"""Two records held against each other: regressions, differences that are none, suppressions."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.cli.main import main
from dpassay.config.mechanisms import KINDS, Suppression
from dpassay.data import Labelled
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.pairs import FlipLabel
from dpassay.record.baseline import judge, require_same, without_curves
from dpassay.record.compare import compare
from dpassay.record.comparer import ALPHA
from dpassay.record.kinds import RUNS
from dpassay.record.rebound import at_alpha, bounds_at_alpha, detectable_at_alpha, upper_at_alpha
from dpassay.record.run_record import result_json
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import NAMES, Method, lower_bound
from dpassay.stats.scales import scale_of
from tests.core.toys import Sampled, flip_group, target_of
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


def searched(**changed: object) -> Record:
    return sampled(searched=SEARCHED | changed)


NEWS = ("elsewhere", "fell", "tightened", "recovered", "reworded", "new")
OLD, RISEN, FEW = sampled(), sampled(7000, 3000), sampled(650, 350, n=1000, detectable=1.4)
BROKEN, WRONG = sampled(7500, 2000, **REFUTED), sampled(expected="refuted", **REFUTED)
FAILED = sampled(verdict="error", per_query=[])
UNSURE = sampled(verdict="inconclusive")
WEAKER = claim(epsilon=0.9, delta=0.1)
REGRESSED = {
    "a claim is refuted": (OLD, BROKEN, "refuted rose"),
    "refuted already": (BROKEN, BROKEN, "refuted"),
    "the mechanism fails": (OLD, FAILED, "failed"),
    "failed already": (FAILED, FAILED, "failed"),
    "a wrong claim is not refuted": (WRONG, sampled(expected="refuted"), "failed"),
    "the claim is weaker": (OLD, sampled(claim=claim(epsilon=2.0)), "weakened"),
    "the claim is weaker in delta": (OLD, sampled(claim=claim(delta=0.1)), "weakened"),
    "stronger in one, weaker in the other": (OLD, sampled(claim=WEAKER), "weakened"),
    "the bound rose": (OLD, RISEN, "rose"),
    "the exact leak rose": (exact(0.6), exact(0.66), "rose"),
    "computed, above the sampled": (OLD, exact(0.9), "rose"),
    "sampled, above the computed": (exact(0.5, detectable=1.2), RISEN, "blinder rose"),
    "fewer pairs": (OLD, searched(pairs=9), "blinder"),
    "fewer queries": (exact(), exact(searched=SEARCHED | {"queries": 0}), "blinder"),
    "elsewhere": (OLD, searched(how=["otherwise"], keys=["data:!"]), "blinder"),
    "one of two alike": (
        searched(how=["a", "a"], keys=["a", "a"]),
        searched(how=["a"], keys=["a"]),
        "blinder",
    ),
    "the name stands for another target": (
        OLD,
        sampled(witness=WITNESS | {"target": "stub:predict"}),
        "repointed",
    ),
    "the target of a wrong claim": (
        WRONG,
        WRONG | {"witness": WITNESS | {"target": None}},
        "repointed",
    ),
    "at its complement, the other way round": (
        OLD,
        at(RISEN, event=[0], direction="S' to S"),
        "rose",
    ),
    "an event of numbers and its complement": (
        at(OLD, event={"at_least": 2.0}),
        at(RISEN, event={"below": 2.0}),
        "rose",
    ),
    "where all was computed, at another cell": (exact(0.6), at(exact(0.9), pair=4), "rose"),
    "sampled above all that was computed": (exact(0.5), at(RISEN, pair=4), "blinder rose"),
    "at the delta of the new claim": (
        OLD,
        sampled(9000, 1000, claim=claim(delta=0.1)),
        "weakened rose",
    ),
    "fewer trials": (OLD, FEW, "blinder"),
    "sampled, and was computed": (exact(0.6), OLD, "blinder"),
    "inconclusive": (exact(), exact(verdict="inconclusive"), "blinder"),
}
MORE = searched(how=["by hand", "own worst case"], keys=["data:?", "own"])
NOT_REGRESSED = {
    "the same": (OLD, OLD, ""),
    "the coins are told in other words": (
        OLD,
        sampled(claim=claim(coins="in other words")),
        "reworded",
    ),
    "other counts of the same leak": (OLD, sampled(6550, 3450), ""),
    "within noise": (sampled(650, 350, n=1000), sampled(690, 310, n=1000), ""),
    "significant, within the tolerance": (exact(0.6), exact(0.64), ""),
    "only a smaller share of alpha": (OLD, sampled(detectable=1.4, lower=0.1, alpha=1e-9), ""),
    "so small that it is inconclusive": (OLD, UNSURE | {"detectable": 1.6}, ""),
    "one trial less, and a smaller share": (OLD, sampled(n=9999, detectable=1.6), ""),
    "looked at more": (OLD, MORE, ""),
    "a cell that was not certified": (OLD, at(RISEN, pair=4), "elsewhere"),
    "another query": (OLD, at(RISEN, query=1), "elsewhere"),
    "other data": (OLD, at(RISEN, data="0ddba11"), "elsewhere"),
    "computed elsewhere": (
        exact(0.6),
        at(exact(0.9, searched=SEARCHED | {"pairs": 20}), pair=4),
        "elsewhere",
    ),
    "another threshold": (
        at(OLD, event={"below": 2.0}),
        at(RISEN, event={"below": 2.5}),
        "elsewhere",
    ),
    "lower, at another cell": (RISEN, at(OLD, pair=4), ""),
    "lower everywhere, at another cell": (RISEN, at(exact(0.6), pair=4), "fell"),
    "more trials": (FEW, OLD, ""),
    "computed, and was sampled": (OLD, exact(0.62), ""),
    "more pairs": (OLD, searched(pairs=11), ""),
    "inconclusive already": (UNSURE, UNSURE, ""),
    "conclusive again": (UNSURE, OLD, ""),
    "wrong as declared": (WRONG, sampled(8000, 2000, expected="refuted", **REFUTED), ""),
    "another reason or source": (
        OLD,
        sampled(reason="other words", claim=claim(source="elsewhere")),
        "",
    ),
    "the bound fell": (RISEN, OLD, "fell"),
    "the unit is told in other words": (OLD, sampled(claim=claim(unit="a prediction")), "reworded"),
    "the claim is stronger": (OLD, sampled(claim=claim(epsilon=0.9)), "tightened"),
    "not refuted any more": (BROKEN, OLD, "recovered fell"),
    "audited again": (FAILED, OLD, "recovered"),
}


@pytest.mark.parametrize("case", REGRESSED | NOT_REGRESSED)
def test_what_is_different_and_whether_it_is_worse(case: str) -> None:
    old, new, expected = (REGRESSED | NOT_REGRESSED)[case]
    assert sorted(kinds(old, new)) == sorted(expected.split())
    assert set(expected.split()) <= set(KINDS if case in REGRESSED else NEWS)


def test_every_kind_is_tested() -> None:
    seen = {kind for _, _, found in (REGRESSED | NOT_REGRESSED).values() for kind in found.split()}
    assert seen | {"vanished", "new"} == {*KINDS, *NEWS}


@pytest.mark.parametrize(
    "change", [{"parameters": {"r": 6}}, {"mechanism": "other"}, {"claim": claim(status="printed")}]
)
def test_another_entry_is_new_and_the_old_one_vanished(change: Record) -> None:
    vanished, new = compare(record(OLD), record(sampled(**change))).changes
    assert (vanished.kind, new.kind) == ("vanished", "new")
    assert ("the mechanism is there" in vanished.words) == ("mechanism" not in change)


def test_two_entries_about_the_same_are_kept_apart() -> None:
    found = compare(record(OLD, RISEN), record(OLD, RISEN))
    assert found.changes == ()
    assert len(found.unchanged) == 2


def test_a_tighter_delta_hides_no_rise() -> None:
    """Counts give the loss at any delta; a computed loss is of one only."""
    old, new = claim(delta=1e-5), claim(delta=9.99e-6)
    for risen in (sampled(7000, 3000, claim=new), exact(0.9, claim=new)):
        assert kinds(sampled(claim=old), risen) == ["rose", "tightened"]
    (change,) = compare(record(exact(0.6, claim=old)), record(exact(0.9, claim=new))).changes
    assert change.kind == "tightened"
    assert "whether it rose was NOT looked at" in change.words


@pytest.mark.parametrize(("new", "words"), [
    (at(RISEN, pair=4), "at a cell that the old record had not certified, and was at most"),
    (at(RISEN, pair=4), "at those it lists; whether it rose there is not known; the claim allows"),
    (searched(how=["b"], keys=["b"]), "looked elsewhere: 'b' instead of 'by hand'"),
])  # fmt: skip
def test_words_of_what_was_looked_at_elsewhere(new: Record, words: str) -> None:
    (change,) = compare(record(OLD), record(new)).changes
    assert words in change.words
    assert change.words.startswith("looked elsewhere: ") is (change.words == words)


def test_tolerance_is_a_part_of_the_claim() -> None:
    small = claim(epsilon=0.1)
    for old, new, found in (
        (exact(0.6), exact(0.66), []),
        (exact(0.06, claim=small), exact(0.066, claim=small), []),
        (exact(0.06, claim=small), exact(0.068, claim=small), ["rose"]),
    ):
        assert kinds(old, new, tolerance=0.07) == found


@pytest.mark.parametrize("part", [-0.1, 1.001, float("inf"), float("nan")])
def test_a_tolerance_that_is_no_part_is_named(part: float) -> None:
    with pytest.raises(InvalidInput, match="tolerance = "):
        compare(record(OLD), record(OLD), tolerance=part)


def test_other_mechanisms_change_nothing_for_one() -> None:
    """Those of all cases at once, one that is new, and one that is gone."""
    named = {"mechanism": "one of many"}
    olds, news = list[Record](), list[Record]()
    for i, (old, new, _) in enumerate(REGRESSED.values()):
        olds.append(old | {"mechanism": f"m{i}", "id": f"m{i}"})
        news.append(new | {"mechanism": f"m{i}", "id": f"m{i}"})
    together = compare(record(*olds, exact() | named), record(exact(name="other"), *news))
    for i, (old, new) in enumerate(zip(olds, news, strict=True)):
        alone = compare(record(old), record(new)).changes
        assert tuple(each for each in together.changes if each.mechanism == f"m{i}") == alone


@pytest.mark.slow
def test_a_run_with_another_mechanism_gives_the_same_comparison(tmp_path: Path) -> None:
    """The share of alpha differs, and every bound; bounds at the common alpha do not."""
    for folder, targets in (("one", []), ("two", ["projected-walk"])):
        words = ["run", "soft-majority", *targets, "--mode=monte-carlo", "--profile=quick", "-q"]
        assert main([*words, "--out", str(tmp_path / folder)]) in (0, 4)
    one, two = (RUNS.read(tmp_path / folder / "record.json") for folder in ("one", "two"))
    shared = [result for result in two["results"] if result["mechanism"] == "soft-majority"]
    mine, theirs = one["results"][0], shared[0]
    assert mine["lower"] > theirs["lower"]
    assert compare(one, one | {"results": shared}).changes == ()
    read = DP(epsilon=mine["claim"]["epsilon"])
    assert bounds_at_alpha(mine, read, ALPHA) == bounds_at_alpha(theirs, read, ALPHA)


TODAY, LAST = date(2026, 11, 21), date(2026, 11, 30)
SUPPRESSED = Suppression(result="m.own.monte-carlo", kind="rose", reason="looked at", expires=LAST)
WORSE = compare(record(sampled()), record(RISEN))


def test_a_suppression_lets_pass_until_its_day() -> None:
    on_the_day, after = (judge(WORSE, [SUPPRESSED], day) for day in (LAST, date(2026, 12, 1)))
    assert on_the_day.open == ()
    assert on_the_day.as_json()["suppressed"][0]["reason"] == "looked at"
    assert [change.kind for change in after.open] == ["rose"]
    assert after.notes == ("expired on 2026-11-30: rose of m.own.monte-carlo",)


@pytest.mark.parametrize("other", [{"kind": "blinder"}, {"result": "n.own.monte-carlo"}])
def test_a_suppression_lets_nothing_else_pass(other: Record) -> None:
    found = judge(WORSE, [replace(SUPPRESSED, **other)], TODAY)
    assert len(found.open) == 1
    assert "not needed any more" in found.notes[0]


@pytest.mark.parametrize(("old", "new", "kind", "size"), [
    (sampled(), RISEN, "rose", 0.77),
    (sampled(), sampled(7500, 2000, lower=1.3, **REFUTED), "refuted", 1.3),
    (sampled(), sampled(searched=SEARCHED | {"pairs": 9}), "blinder", 1.13),
    (sampled(), sampled(650, 350, n=1000), "blinder", 1.48),
    (exact(), exact(searched=SEARCHED | {"pairs": 9}), "blinder", 1.0),
])  # fmt: skip
def test_a_suppression_holds_up_to_a_size(old: Record, new: Record, kind: str, size: float) -> None:
    found = compare(record(old), record(new))
    each = replace(SUPPRESSED, result=new["id"], kind=kind)
    for up_to in (None, 1.05 * size):
        held = judge(found, [replace(each, up_to=up_to)], TODAY)
        assert kind in [change.kind for change, _ in held.let_pass]
    short = judge(found, [replace(each, up_to=0.9 * size)], TODAY)
    assert short.let_pass == ()
    assert kind in [change.kind for change in short.open]
    assert "does not hold any more" in short.notes[0]


@pytest.mark.parametrize(("old", "said"), [
    (record(sampled(), data={"name": "a", "split": {"seed": 1}}), "data.split.seed = 1, the rec"),
    (record(sampled(), data=None), "it has data = none, the record "),
    (record(sampled(name="other")), "none of the results"),
])  # fmt: skip
def test_a_baseline_of_other_data_or_mechanisms_is_stale(old: Record, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^baseline = 'b.json': is stale.*{said}"):
        require_same(old, record(sampled()), Path("b.json"))


def test_a_baseline_is_a_record_without_its_curves() -> None:
    kept = without_curves(record(sampled()))
    assert kept["results"][0]["per_query"][0]["profile"] is None
    assert compare(kept, record(sampled())).changes == ()


Points = NDArray[np.float64]


@pytest.mark.slow
def test_a_rise_that_is_none_is_rarely_called_one() -> None:
    """At leaks that are equal, P[rose or fell] <= 4 alpha: here alpha = .05, and no tolerance."""
    rng, runs = np.random.default_rng(20261121), 300
    alarms = 0
    for _ in range(runs):
        one, other = (sampled(*rng.binomial(1000, (0.6, 0.3)).tolist(), n=1000) for _ in range(2))
        alarms += bool(kinds(one, other, tolerance=0.0, alpha=0.05))
    assert alarms <= binom.ppf(0.99, runs, 4 * 0.05)
    old, seen = sampled(300, 150, n=500), 0
    for _ in range(50):
        seen += bool(kinds(old, sampled(*rng.binomial(500, (0.8, 0.15)).tolist(), n=500)))
    assert seen >= 45  # ln(.6/.3) = .69 against ln(.8/.15) = 1.67: it can fail


class Influential(Sampled):
    """Coins that lean by the label of record 57, at query 0 alone.

    A loss of .22 that the screening finds often, not always.
    """

    def prepare(self, data: Labelled) -> int:
        return int(data.y[57])

    def sample(
        self, state: int, queries: Points, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        p = np.full(len(queries), 0.5)
        p[0] += 0.055 if state else -0.055
        return (rng.random((size, len(queries))) < p).astype(np.int64)


@pytest.mark.slow
def test_one_law_screened_differently_never_rises() -> None:
    """Of five quick runs no pair may be red.

    Some bound of one of them fails with probability at most 5 * 2 alpha = .001.
    """
    data = flip_group(records=100, queries=5, changes=tuple(FlipLabel(i) for i in range(100)))
    target = target_of(Influential(table=((0.5, 0.5), (0.5, 0.5))), name="m")
    known: dict[str, Any] = {"mode": "monte-carlo", "budget": 5000, "executor": "inline"}
    made = []
    for seed in range(5):
        results = assay([target], data, Settings(seed=seed, **known))
        made.append(record(*(result_json(result, 0.999) for result in results)))
    certified = {each["results"][0]["per_query"][0]["pair"] for each in made}
    assert len(certified) > 1
    pairs = itertools.permutations(made, 2)
    found = {change.kind for one, other in pairs for change in compare(one, other).changes}
    # the same pairs were `rose` when the largest bounds were held against each other
    assert found == {"elsewhere"}


COUNTS = {"x": 700, "n1": 1000, "y": 200, "n0": 1000}
CLAIM = DP(epsilon=1.0)


def cell(method: str, counts: dict[str, int] | None = COUNTS) -> dict[str, Any]:
    return {"query": 3, "method": method, "counts": counts, "histograms": None}


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize(
    "claim", [CLAIM, DP(epsilon=1.0, delta=0.05), Stability(gamma=0.1)], ids=str
)
def test_the_same_test_on_the_same_counts(method: Method, claim: Claim) -> None:
    found = [at_alpha(cell(method), claim, alpha) for alpha in (1e-6, 1e-3, 0.05)]
    assert found == sorted(found)
    expected = lower_bound(method, Counts(**COUNTS), scale=scale_of(claim), alpha=1e-3)
    assert found[1] == expected.value


def test_a_cell_that_was_computed_has_no_error_probability() -> None:
    for each in (CLAIM, PredictionStability(gamma=0.1)):
        with pytest.raises(InvalidInput, match="cell of query 3: was not sampled"):
            at_alpha(cell("exact", None), each, 0.05)


@pytest.mark.parametrize("alpha", [0.0, 0.26, 1.0, -1.0, math.nan])
def test_an_error_probability_that_not_every_test_is_proven_at(alpha: float) -> None:
    one = cell("fisher")
    result = {"exact": None, "per_query": [one], "searched": {"certified_cells": 4}}
    empty: dict[str, Any] = {"results": []}
    for bound in (
        lambda: at_alpha(one, CLAIM, alpha),
        lambda: upper_at_alpha(one, CLAIM, alpha),
        lambda: bounds_at_alpha(result, CLAIM, alpha),
        lambda: compare(empty, empty, alpha=alpha),
    ):
        with pytest.raises(InvalidInput, match=r"^alpha = .*: must be in \(0, 0\.25\]$"):
            bound()


@pytest.mark.parametrize("method", NAMES)
def test_the_largest_error_probability_gives_bounds(method: Method) -> None:
    lower, upper = at_alpha(cell(method), CLAIM, 0.25), upper_at_alpha(cell(method), CLAIM, 0.25)
    assert lower < math.log(3.5) < upper


@pytest.mark.parametrize(
    "claim", [CLAIM, Stability(gamma=0.1), PredictionStability(gamma=0.1)], ids=str
)
def test_fewer_trials_see_less(claim: Claim) -> None:
    answers = {"one": [1], "other": [1], "spreads": [0.1, 0.1], "limits": [0.0, 1.0]}
    one = {"histograms": answers if isinstance(claim, PredictionStability) else None}
    result = {"per_query": [one], "searched": {"certified_cells": 4}}
    found = [detectable_at_alpha(result, claim, draws, 1e-4) for draws in (100_000, 10_000, 1_000)]
    assert claim.promised < found[0] < found[1] < found[2]


def test_the_upper_bound_covers_event_complement_and_both_directions() -> None:
    """Non-coverage of the largest of the four leaks, counted exactly over all count pairs."""
    n, alpha, p1, p0 = 30, 0.05, 0.7, 0.2
    true = max(np.log(p1 / p0), np.log((1 - p0) / (1 - p1)))
    weights = np.outer(binom.pmf(range(n + 1), n, p1), binom.pmf(range(n + 1), n, p0))
    missed = 0.0
    for x, y in np.argwhere(weights > 1e-5).tolist():
        counts = {"x": x, "n1": n, "y": y, "n0": n}
        missed += weights[x, y] * (upper_at_alpha(cell("fisher", counts), CLAIM, alpha) < true)
    assert missed + 1e-5 * (n + 1) ** 2 <= alpha
