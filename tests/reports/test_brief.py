"""In brief: the few words that page, terminal, card and comment share."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reports.run.lead import briefs, lead, leaks
from dpassay.reports.run.words import shares

Record = dict[str, Any]


def one(make: Any, result: Record, **run: Any) -> Any:
    (found,) = briefs(make.record(result, **run))
    return found


def test_a_sampled_refutation(make: Any) -> None:
    result = make.sampled("mine.own.monte-carlo", "refuted", lower=1.8967)
    found = one(make, result)
    assert (found.name, found.claimed, found.found) == ("mine", "ε = 1", "≥ 1.89")
    assert found.sides == (("S", 0.5), ("S'", 0.125))
    assert found.sight == "≥ 1.19"
    assert lead(make.record(result)) == "mine leaks at least 1.89 times what it claims"
    result["searched"]["first_proof"] = True  # and what is worst is not known
    assert lead(make.record(result)) == "mine leaks more than it claims (at least 1.89 times)"


def test_a_bound_barely_above_the_claim_is_seen_to_be_above(make: Any) -> None:
    found = one(make, make.sampled("mine", "refuted", lower=1.00004))
    assert float(found.found.removeprefix("≥ ")) > 1
    assert 1 < float(found.times) <= 1.00004


def test_what_was_found(make: Any) -> None:
    held = make.computed("mine", "not refuted", 0.9999999)
    assert one(make, held).found == "= 1"  # no leak is beyond a claim that holds
    held["claim"]["epsilon"] = 0.99999995
    assert one(make, held).claimed == "ε = 1"
    assert one(make, make.computed("mine", "refuted", 2.0)).times == "2"
    found = one(make, make.sampled("mine", "not refuted", lower=0.1239, upper=1.1111))
    assert (found.found, found.ratio, found.times) == ("0.123 to 1.12", 0.1239, "")
    part = one(make, make.computed("mine", "not refuted", 0.5) | {"looked_at": "the sign alone"})
    assert (part.found, part.at_most) == ("≥ 0.5", "")
    crash = one(make, make.result("crash", "error", reason="sample returned NaN"))
    assert (crash.found, crash.seen, crash.replay, crash.ratio) == ("", "", "", None)
    assert one(make, make.computed("mine", "not refuted", 0.0)).seen == ""


def test_what_leaks_and_what_has_an_error(make: Any) -> None:
    endless = one(make, make.computed("mine", "refuted", math.inf))
    assert (endless.times, leaks(endless)) == ("∞", "leaks ∞, and claims ε = 1")
    nothing, error = make.computed("a", "refuted", 0.25), make.computed("b", "refuted", 0.5)
    nothing["claim"]["epsilon"] = 0.0
    assert leaks(one(make, nothing)) == "leaks 0.25, and claims ε = 0"
    error["claim"] |= {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.25}
    assert leaks(one(make, error)) == "has 2 times the error that it claims"


def test_names_are_short_where_they_are_unique(make: Any) -> None:
    ids = ("a.own.exact", "b.printed.exact", "b.own.exact", "c.own.exact", "c.own.exact.2")
    results = [make.computed(name, "not refuted") for name in ids]
    results.append(make.computed("c.own.monte-carlo", "not refuted", mode="monte-carlo"))
    names = [each.name for each in briefs(make.record(*results))]
    assert names == ["a", "b.printed", "b.own", "c.own.exact", "c.own.2", "c.own.monte-carlo"]


def test_the_clearest_cell_is_shown_and_replayed(make: Any) -> None:
    result = make.computed("mine", "refuted", 2.0)
    clear = {"query": 1, "p1": 0.75, "p0": 0.25, "direction": "S' to S", "loss": 1.0986}
    result["clearest"] = result["witness"] | clear
    result["per_query"][1] |= clear | {"change": "record 3 replaced", "answer": "yes"}
    found = one(make, result)
    assert found.seen.endswith(
        'Another pair, record 3 replaced: at query 1 the answer "yes" went from 25 % to 75 %. '
        "There the loss is 1.09, and easier to see."
    )
    assert found.replay == "dpassay replay witnesses/mine.clearest.json --trust"


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ((), "Nothing was audited"),
        ((("a", "not refuted"),), "No leak above what a claims was found"),
        ((("a", "refuted"), ("b", "refuted")), "2 of 2 claims refuted: a, b"),
        ((("a", "error"), ("b", "not refuted")), "1 of 2 claims could not be audited: a"),
        ((("a", "inconclusive"),), "1 of 1 claim undecided: a"),
        ((("a", "verified"),), "a: verified on every dataset of the domain"),
    ],
)
def test_the_lead(make: Any, results: tuple[tuple[str, str], ...], said: str) -> None:
    made = [make.computed(name, verdict, 2.0) for name, verdict in results]
    assert lead(make.record(*made)) == said


def test_the_lead_tells_of_a_dataset_that_was_not_audited(make: Any) -> None:
    result = make.computed("mine", "not refuted", 0.5, any_size=make.any_size(1.5))
    assert lead(make.record(result)) == (
        "mine: a dataset that was not audited breaks the claim, by the mechanism's law"
    )


def test_the_lead_of_the_catalogue_counts_what_papers_print(make: Any) -> None:
    wrong = make.computed("a", "refuted", 2.0, expected="refuted")
    ours = make.computed("b", "refuted", 2.0, expected="refuted")
    ours["claim"]["status"] = "own"
    weak = make.computed("d", "inconclusive", 0.5)
    record = make.record(wrong, ours, make.computed("c", "not refuted"), weak, catalogue=True)
    assert lead(record) == (
        "1 of 3 published claims is wrong; 1 held where we looked; 1 claim undecided"
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_two_shares_are_told_apart(p: float, q: float) -> None:
    if p != q and abs(p - q) > 1e-6:
        assert len(set(shares(p, q))) == 2


def test_what_was_looked_at_and_what_is_known_from_above(make: Any) -> None:
    result = make.sampled("mine", "refuted", lower=1.8967, upper=2.1111)
    result["searched"]["parts"] = [{"kind": "data", "pairs": 3, "queries": 2}]
    found = one(make, result)
    assert found.at_most == "≤ 2.12 at the 2 certified cells"
    assert found.looked == "3 pairs × 2 queries"
    result["searched"]["parts"] += [{"kind": "own", "pairs": 1, "queries": 1}] * 2
    assert one(make, result).looked == "3 pairs × 2 queries, 2 worst cases of its own"
    exact = one(make, make.computed("mine", "refuted", 2.0))
    assert (exact.at_most, exact.looked) == ("", "3 pairs of neighbours, 2 queries")
    assert one(make, make.result("mine", "error")).looked == ""


def test_an_excess_shows_only_where_the_numerical_error_leaves_it_visible(make: Any) -> None:
    result = make.computed("mine", "inconclusive", 1.0)
    assert one(make, result).sight == "any excess"
    assert one(make, result | {"error": 0.1, "detectable": 1.1001}).sight == "≥ 1.11"


def test_a_module_of_the_users_is_replayed_where_it_can_be_imported(make: Any) -> None:
    result = make.sampled("mine:f", "refuted")
    result["witness"]["target"] = "mine:f"
    assert one(make, result).replay == "dpassay replay REPORT/witnesses/mine%3Af.json --trust"


@pytest.mark.parametrize(
    ("epsilon", "delta", "p1", "p0"),
    [(0.672548, 0.001, 0.0415, 0.0181), (1.0, 0.001, 0.00136, 0.0), (7.0, 0.01, 0.0214, 9.44e-06)],
)
def test_the_shares_of_a_refuted_claim_break_it_as_they_are_written(
    make: Any, epsilon: float, delta: float, p1: float, p0: float
) -> None:
    result = make.computed("mine", "refuted", 2.0)
    result["claim"] |= {"epsilon": epsilon, "delta": delta}
    result["witness"] |= {"p1": p1, "p0": p0}
    one_side, other = (float(text.removesuffix(" %")) / 100 for text in one(make, result).shown)
    assert one_side > math.exp(epsilon) * other + delta
