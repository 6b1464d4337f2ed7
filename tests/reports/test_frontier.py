"""The page of a comparison: headline, warnings, table, and a frontier that nothing beats."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpassay.reports.frontier.page import (
    Point,
    frontier,
    headlines,
    points_of,
    table_of,
    to_html,
    warnings,
)


def row(name: str, accuracy: float, loss: float, **more: Any) -> dict[str, Any]:
    told = {"mean": accuracy, "low": accuracy - 0.01, "high": accuracy + 0.02}
    claim = {"epsilon": 1.0, "delta": 0.0, "unit": "single prediction"}
    losses = {"worst": loss, "median": loss / 2, "anywhere": loss, "detectable": None}
    leak = {"claim": claim, "verdict": "not refuted", "exact": True, "guess": 0.6, "why": ""}
    behind = {"mean": 0.99 - accuracy, "low": 0.0, "high": 0.1}
    found = {"accuracy": told, "behind": behind, "leak": leak | losses | more}
    return {"name": name, "epsilon": 1.0} | found


DOCUMENT: dict[str, Any] = {
    "schema": "dpassay/frontier/1",
    "complete": True,
    "missing": [],
    "command": "dpassay compare-mechanisms",
    "data": {"name": "made", "records": 500},
    "splits": 3,
    "public": 100,
    "train": 280,
    "test": 120,
    "rows": [
        {"name": "non-private", "accuracy": {"mean": 0.99, "low": 0.98, "high": 1.01}},
        {"name": "majority", "accuracy": {"mean": 0.6, "low": 0.59, "high": 0.61}},
        row("good", 0.9, 0.9),
        row("careful", 0.8, 0.2),
        row("beaten", 0.7, 0.5),
        row("wrong", 0.95, 2.5, verdict="refuted"),
        row("drawn", 0.85, 0.0, exact=False, detectable=1.7, guess=None),
        row("unknown", 0.5, 0.0, verdict="not audited", exact=False, guess=None),
        {"name": "broken", "epsilon": 1.0, "error": "ValueError was <raised>"},
    ],
}


def test_the_headline_names_the_best_that_keeps_its_claim() -> None:
    (line,) = headlines(DOCUMENT)
    assert line == (
        "ε = 1: good answers 90.0 % right, 9.0 points behind no privacy; its worst examined record "
        "loses exactly 0.9"
    )
    assert warnings(DOCUMENT) == (
        "▲ wrong at ε = 1 loses 2.5: do not use it at this budget",
        "broken: error: ValueError was <raised>",
    )


def test_what_is_missing_is_said_first_and_qualifies_the_headline_of_its_loss() -> None:
    two = {"rows": [*DOCUMENT["rows"], row("good", 0.9, 0.9) | {"epsilon": 2.0}]}
    cut = DOCUMENT | two | {"complete": False, "missing": [{"name": "late", "epsilon": 2.0}]}
    one, other = headlines(cut)
    assert one == headlines(DOCUMENT)[0]
    assert other.endswith("loses exactly 0.9; the comparison is incomplete")
    said = "The comparison was interrupted and is incomplete. Missing: late at ε = 2."
    assert warnings(cut) == (said, *warnings(DOCUMENT))
    assert f"<p>{said}</p>" in to_html(cut, {})


def test_the_table_is_sorted_and_says_how_a_loss_is_known() -> None:
    rows = {each[0]: each for each in table_of(DOCUMENT, {"good 1": {"training": 0.25}}).rows}
    assert list(rows)[:3] == ["▲ wrong", "good", "drawn"]
    assert rows["good"][5] == "= 0.9"
    assert rows["good"][10] == "0.25 s"
    assert rows["drawn"][5] == "≥ 0 (would see 1.7)"
    assert rows["unknown"][5] == "–"
    assert rows["non-private"][3] == "99.0 % (98.0 to 100.0)"


def test_the_frontier_has_computed_losses_only() -> None:
    assert [each.name for each in frontier(points_of(DOCUMENT))] == ["careful", "good"]


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20), st.booleans(), st.booleans()), max_size=12
    )
)
def test_nothing_beats_the_frontier(numbers: list[tuple[int, int, bool, bool]]) -> None:
    points = [
        Point(
            name=str(k),
            epsilon=1.0,
            accuracy=(a / 20, 0.0, 1.0),
            loss=loss / 10,
            exact=exact,
            refuted=refuted,
        )
        for k, (a, loss, exact, refuted) in enumerate(numbers)
    ]
    places = {(each.accuracy[0], each.loss) for each in frontier(points)}
    known = {(a / 20, loss / 10) for a, loss, exact, refuted in numbers if exact and not refuted}
    assert places == {
        (accuracy, loss)
        for accuracy, loss in known
        if not any(
            a >= accuracy and less <= loss and (a, less) != (accuracy, loss) for a, less in known
        )
    }


def test_the_page_escapes_what_it_shows() -> None:
    page = to_html(DOCUMENT, {})
    assert "ValueError was &lt;raised&gt;" in page
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    assert len(list(ET.fromstring(svg).iter())) < 400
