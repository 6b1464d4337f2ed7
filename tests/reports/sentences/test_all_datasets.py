"""What a report says of all datasets, and which claims it calls tight or loose."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema
from dpassay.reports.run.view import make_view
from dpassay.targets.resolve import resolve
from tests.reports.sentences.told import (
    FACTS,
    Record,
    beside,
    computed,
    computed_record,
    of_score,
    only,
    told,
)


@pytest.mark.parametrize(
    ("parameters", "over"),
    [
        ({}, "datasets of any size"),
        ({"adversary": "repeat"}, "datasets of any size (adversary 'repeat')"),
        ({"n": 398, "fixed": None}, "datasets of any size"),
        ({"fixed": 7}, "all datasets that the mechanism takes (n = 7)"),
    ],
)
def test_the_worst_case_is_of_what_is_taken(make: Any, parameters: Record, over: str) -> None:
    """A parameter n does not say it: some mechanisms use it otherwise."""
    result = make.computed(
        "a", "not refuted", 0.7, any_size=make.any_size(0.7), parameters=parameters
    )
    if "fixed" in parameters:
        result["fixed_n"] = parameters.pop("fixed")
    result = beside(result, 0.5, any_size=make.any_size(0.5))
    view = make_view(make.record(result))
    said = told(view.results[0])
    assert f"Over {over}, the worst loss is 0.700000" in said
    assert f"Over {over} it is 0.500000" in said
    assert over in view.findings.rows[0]
    assert said.count("any size") == 2 * over.count("any size")


@pytest.mark.parametrize("name", ["erm-laplace", "erm-regulariser-on-the-sum"])
def test_it_is_of_exact_minimisers_where_a_solver_comes_near_them(name: str) -> None:
    record = computed_record(name)
    jsonschema.validate(record, read_schema("record"))
    view, clause = (
        make_view(record),
        "of exact minimisers (released weights lie within 1e-06 of them)",
    )
    rows = [row for row in view.findings.rows if "all datasets" in row[6]]
    assert rows
    assert all(clause in row[6] for row in rows)
    for result in view.results:
        assert clause + ", the worst " in told(result, "Worst over all datasets")


def test_one_query_is_repeated() -> None:
    record = computed_record("interface", ("base", "soft-majority,r=3"))
    assert "this number is for one repeated query" in record["results"][0]["any_size"]["argument"]


@pytest.mark.parametrize(
    ("delta", "loss", "said"),
    [
        (0.001, 0.995, "tight in ε at this δ"),
        (0.001, 0.5, "loose in ε at this δ"),
        (0.001, 0.0, "loose in ε: at this δ the loss is 0"),
        (0.0, 0.995, "tight"),
        (0.0, 0.0, "loose"),
    ],
)
def test_epsilon_alone_was_compared(make: Any, delta: float, loss: float, said: str) -> None:
    result = make.computed("a", "not refuted", loss, any_size=make.any_size(loss))
    result["claim"]["delta"] = delta
    found = make_view(make.record(result)).findings
    assert found is not None
    assert found.rows[0][1] == said


def test_what_is_tight_or_loose_is_so_at_these_parameters(make: Any) -> None:
    tight = make.computed("a", "not refuted", 0.995, any_size=make.any_size(0.995))
    loose = make.computed("b", "not refuted", 0.5, any_size=make.any_size(0.5))
    words = make_view(make.record(tight, loose)).findings_words
    assert any(
        "at these parameters" in text and "at that δ is at least 99 % of the claimed ε" in text
        for text in words
    )
    assert any(text.startswith("Loose: at these parameters") for text in words)


@pytest.mark.parametrize("share", [0.001, 0.00995])
def test_strings_have_no_epsilon_that_could_be_loose(make: Any, share: float) -> None:
    """Their δ is what is bounded, and no slack beside it."""
    result = of_score(make, share, share)
    result["mode"] = "exhaustive"
    finding = only(make.record(result)).finding
    assert finding is not None
    assert finding.told == finding.kind == ("loose" if share < 0.005 else "tight")


def test_the_worst_of_a_domain_is_not_the_worst_of_all_datasets() -> None:
    """Unless the mechanism's own argument says so of datasets of any size."""
    small = Settings(mode="exhaustive", domain=Domain(n=3, points=2))
    target = resolve("soft-majority", {"r": 3})
    record = make_record(FACTS, assay([target], None, small))
    for size, mark in ((True, ""), (False, "≥ ")):
        if not size:
            for result in record["results"]:
                result["any_size"] = result["other"]["any_size"] = None
        table = make_view(record).notions
        (row,) = table.rows
        for name in ("ε", "γ"):
            shown = row[table.columns.index(name)]
            assert shown.startswith("≥") == bool(mark), shown
        assert "an enumerated domain" in " ".join(table.caption.split())


def test_the_loss_is_one_at_a_delta(make: Any) -> None:
    (refuted,) = (each for each in computed("distance-by-margin") if each.verdict == "refuted")
    assert refuted.outcome.reason.startswith("the worst loss at δ = 0.001 at the audited cells is ")
    result = make.computed("a", "not refuted", 0.5, any_size=make.any_size(0.5))
    result["claim"]["delta"] = 0.001
    assert "the worst loss at δ = 0.001 is" in told(
        only(make.record(result)), "Worst over all datasets"
    )
