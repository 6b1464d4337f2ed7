"""What a report says of what was searched: pairs, queries, cells, and own worst cases."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import numpy as np
import pytest

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.engine.wording import query_words
from dpassay.pairs import replace_one
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema
from dpassay.reports.run.view import make_view
from dpassay.targets.groups import PairGroup, groups_for
from dpassay.targets.resolve import resolve
from tests.reports.sentences.told import FACTS, computed_record, only, told


def test_nothing_is_asked() -> None:
    record = computed_record("projected-walk-error", ("n", 20))
    (result,) = record["results"]
    assert result["searched"]["asked"] is False
    jsonschema.validate(record, read_schema("record"))
    shown = make_view(record).results[0]
    assert "query" not in told(shown, "Witness")
    said = (
        "1 pair of neighbours (of own worst case 1), in both directions: 2 cells. There are "
        "no queries, since what was"
    )
    assert told(shown, "What was searched").startswith(f"{said} looked at depends on none. ")
    for group in groups_for(resolve("projected-walk-error", {"n": 20}), None):
        assert not group.asked


@pytest.mark.parametrize("given", [(("release", "vector"),), (("release", "bins"),)])
def test_released_weights_depend_on_no_query(given: tuple[tuple[str, Any], ...]) -> None:
    """Twenty queries were counted, and twenty equal rows printed, of weights that are released
    once."""
    target = resolve("output-perturbation", dict(given) | {"n": 20})
    X, y = np.linspace(1.0, 2.0, 20)[:, None], np.arange(20) % 2
    pairs = replace_one(X, y, neighbours="flip")
    data = PairGroup(pairs=pairs, queries=X.copy(), kind="data", reason=pairs.how)
    record = make_record(FACTS, assay([target], data, Settings(mode="exact")))
    jsonschema.validate(record, read_schema("record"))
    privacy = [each for each in record["results"] if each["claim"]["kind"] == "DP"]
    for result in make_view(record | {"results": privacy}).results:
        assert [row[0] for row in result.query_table.rows if row[1] == "data"] == ["–"]
        assert "At query" not in told(result, "Witness")
        searched = told(result, "What was searched")
        assert searched.startswith(
            "22 pairs of neighbours (20 of the data; 1 of each of own worst cases 1 to 2), in both"
        )
        assert (
            "44 cells. There are no queries, since what was looked at depends on none." in searched
        )
    chosen = groups_for(resolve("algorithm-2-over-algorithm-3"), None)
    assert len(chosen) == 4
    assert not any(group.asked for group in chosen)
    uneven = resolve("output-perturbation", {"release": "bins", "edges": "0;1", "n": 20})
    assert all(group.asked for group in groups_for(uneven, data))


def test_pairs_and_cells_add_up() -> None:
    """796 + 1 was 799, and nothing said that each pair of a worst case is looked at together
    with the others too."""
    for name in ("soft-majority", "histogram", "distance-by-margin"):
        for entry in computed_record(name)["results"]:
            searched = entry["searched"]
            parts = searched["parts"]
            assert sum(part["pairs"] for part in parts) == searched["pairs"]
            assert sum(2 * part["pairs"] * part["queries"] for part in parts) == searched["cells"]
            assert len(parts) == len(searched["how"])
    scores = [
        each
        for each in computed_record("histogram")["results"]
        if each["claim"]["kind"] == "ScoreStability"
    ]
    said = told(
        make_view(computed_record("histogram") | {"results": scores[:1]}).results[0],
        "What was searched",
    )
    assert said.startswith(
        "3 pairs of neighbours (of own worst case 1, one of them whichever of the others is "
        "worse for the string), in both"
    )


def test_an_enumerated_domain_asks_every_pair_everywhere(make: Any) -> None:
    result = make.computed("a", "verified", mode="exhaustive")
    result["searched"] |= {"datasets": 8, "how": ["all datasets", "own worst case: one"]}
    said = told(only(make.record(result)), "What was searched")
    assert said.startswith(
        "8 datasets, 3 pairs of neighbours and 2 queries, each pair at every query, in both "
        "directions: 12 cells, and the mechanism's own worst cases besides. "
    )


def test_what_shows_nothing_against_a_claim_is_said_to(make: Any) -> None:
    """An own worst case for the score stood among those for the weights, as '1 or 2' of
    probability 1 on both sides."""
    view = make_view(computed_record("theorem-4-score-at-zero"))
    for result in view.results:
        lost = "DP" if result.unit == "loss in nats" else "score"
        silent, loud = (2, 1) if lost == "DP" else (1, 2)
        searched = told(result, "What was searched")
        assert f"Own worst case {silent} (against this claim it shows nothing): for the" in searched
        assert f"Own worst case {loud}: for the" in searched
        row = result.query_table.rows[silent - 1]
        assert row[3:7] == ("–", "–", "none", "–")
        assert row[7].startswith("record ")


def test_no_witness_where_nothing_was_found() -> None:
    """'0 or 2 has probability 1 on both sides' was called a witness."""
    record = computed_record("distance-to-instability", ("r", 3))
    held = [each for each in record["results"] if each["exact"] == 0]
    assert held
    for result in make_view(record | {"results": held}).results:
        assert told(result, "Witness").startswith("There is none: at δ = 0.001, the claim's, ")
        assert "Replay" not in {part.title for part in result.parts}
    assert all(
        "no event leaks more than δ = 0.001 allows, here or at any other audited cell"
        in each["witness"]["words"]
        for each in held
    )


def test_query_points_that_are_alike_are_one_row(make: Any) -> None:
    result = make.computed("a", "not refuted")
    losses = [0.5, 0.25, 0.5, 0.5, 0.0, 0.0]
    result["per_query"] = [
        make.cell(query, loss, loss, exact=loss) for query, loss in enumerate(losses)
    ]
    shown = only(make.record(result))
    assert [row[0] for row in shown.query_table.rows] == ["0, 2 to 3", "1", "4 to 5"]
    assert len(shown.queries) == 6
    assert shown.query_shortlist[1] == 0


def test_two_changes_of_each_record_are_two_pairs() -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    hows = {
        which: replace_one(X, y, pool=(X, y), neighbours=which).how
        for which in ("one", "flip", "one+flip", "all")
    }
    assert hows["one+flip"] == (
        "each of 2 records replaced once by one drawn from a pool of 2, and its label flipped "
        "once (4 pairs)"
    )
    assert [
        hows[which].endswith(f"({pairs} pairs)")
        for which, pairs in (("one", 2), ("flip", 2), ("all", 6))
    ] == [True] * 3


def test_cells_are_no_product(make: Any) -> None:
    said = told(only(make.record(make.computed("a", "not refuted"))), "What was searched")
    assert said.startswith(
        "3 pairs of neighbours and 2 queries, each pair at its own queries, in both "
        "directions: 12 cells."
    )


@pytest.mark.parametrize("name", ["soft-majority", "histogram", "interface"])
def test_a_query_has_one_name(name: str) -> None:
    """The witness said 'query 0' where table and profile said 'own 2'."""
    record = computed_record(name)
    for result in make_view(record).results:
        labels = {query_words(row[0]) for row in result.query_table.rows}
        for title in ("Witness", "Privacy profile"):
            said = re.findall(
                r"(?:[Aa]t |\()(own worst case \d(?:, query \d)?)", told(result, title)
            )
            assert set(said) <= labels
            assert said or "query" not in told(result, title)
            assert "query 0 " not in told(result, title).replace(", query 0 ", "")


def test_own_worst_cases_have_names(make: Any) -> None:
    result = make.computed("a", "not refuted")
    result["searched"]["how"] = ["all pairs", "own worst case: one", "own worst case: two"]
    where = [("data", 0), ("own", 0), ("own", 0), ("own", 1)]
    result["per_query"] = [
        make.cell(query, 0.5, 0.5, exact=0.5, group=group) for group, query in where
    ]
    shown = only(make.record(result))
    assert [row[0] for row in shown.query_table.rows] == [
        "0",
        "own 1",
        "own 2, query 0",
        "own 2, query 1",
    ]
    assert "Own worst case 1: one. Own worst case 2: two." in told(shown, "What was searched")
