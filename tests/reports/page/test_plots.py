from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from dpassay.reports.run.page.catalogue import Dot, dot_of, overview_plot
from dpassay.reports.run.page.plots import query_plot, sight_plot
from dpassay.reports.run.tables import LISTED
from dpassay.reports.run.view import make_view
from tests.reports.shared.test_chart import labels, marked

Record = dict[str, Any]

SVG = "{http://www.w3.org/2000/svg}"
ROWS = (
    ("walk", [Dot(kind="tight", ratio=1.0)]),
    ("broken", [Dot(kind="refuted", ratio=math.inf), Dot(kind="seen", ratio=0.0)]),
)


def dot(make: Any, result: Record) -> Dot | None:
    return dot_of(make_view(make.record(result)).results[0])


def draw(result: Any, name: str = "p0q") -> str:
    return query_plot(result, claimed="1", name=name)


@pytest.fixture
def plots(small: Record) -> list[str]:
    view = make_view(small)
    return [
        overview_plot(ROWS, name="overview"),
        sight_plot([(0.2, 1.25), (0.01, math.inf)], claim=1.0, name="sight", of="walk"),
        *(
            draw(result, f"p{place}q")
            for place, result in enumerate(view.results)
            if result.queries
        ),
    ]


def test_labels_are_text_within_the_picture(plots: list[str]) -> None:
    found = labels(plots[0])
    assert {"walk", "broken", "the claim", "leak ÷ claim", "∞"} <= set(found)
    assert found.count("0") == 1
    for text in plots:
        root = ET.fromstring(text)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for element in root.iter(f"{SVG}text"):
            assert 0 <= float(element.attrib["x"]) <= width
            assert 0 <= float(element.attrib["y"]) <= height


def test_infinite_and_missing_numbers_are_drawn(make: Any) -> None:
    endless = make.computed("endless", "refuted", "inf")
    crash = make.result("crash", "error")
    view = make_view(make.record(endless, crash))
    assert draw(view.results[0])
    found = dot(make, endless)
    assert found is not None
    assert (found.kind, found.ratio) == ("refuted", math.inf)
    assert dot(make, crash) is None


def test_a_claim_of_nothing_where_nothing_is_found_has_an_axis(make: Any) -> None:
    none = {
        "kind": "ScoreStability",
        "epsilon": None,
        "gamma": None,
        "beta1": 1.0,
        "beta2": 1.0,
        "delta": 0.0,
    }
    quiet = make.computed("quiet", "not refuted", 0.0)
    quiet["claim"] |= none
    assert draw(make_view(make.record(quiet)).results[0])
    assert dot(make, quiet) is None
    quiet["claim"]["delta"] = 0.5
    found = dot(make, quiet)
    assert found is not None
    assert found.ratio == 0


def test_strange_letters_in_labels() -> None:
    name = "机制 $\\frac{$ <b> \x00"
    text = overview_plot([(name, [Dot(kind="loose", ratio=0.5)])], name="overview")
    assert "机制 $\\frac{$ &lt;b&gt;" in text
    ET.fromstring(text)


def test_a_finding_gives_the_mark_and_what_was_only_audited_is_at_least(make: Any) -> None:
    kinds = {
        "refuted": make.computed("a", "refuted", 2.0),
        "tight": make.computed("b", "not refuted", 0.995, any_size=make.any_size(0.995)),
        "loose": make.computed("c", "not refuted", 0.5, any_size=make.any_size(0.5)),
        "seen": make.computed("d", "not refuted", 0.5),
        "exceeded": make.computed("e", "not refuted", 0.5, any_size=make.any_size(2.0)),
    }
    for kind, result in kinds.items():
        found = dot(make, result)
        assert found is not None
        assert found.kind == kind
        at = result["any_size"]["exact"] if result["any_size"] else result["exact"]
        assert found.ratio == pytest.approx(at)


def test_ratios_stand_where_their_logarithms_are() -> None:
    rows = [(str(ratio), [Dot(kind="tight", ratio=ratio)]) for ratio in (0.1, 1.0, 10.0)]
    at = [x for x, _ in marked(overview_plot(rows, name="overview"), "held")]
    assert at[1] - at[0] == pytest.approx(at[2] - at[1], abs=0.15)
    assert at[1] - at[0] > 20


def test_queries_stand_worst_first_and_as_high_as_they_leak(make: Any) -> None:
    result = make.computed("half", "not refuted", 1.0)
    result["per_query"] = [make.cell(k, leak, leak, exact=leak) for k, leak in enumerate((0.5, 1))]
    (first, second) = sorted(marked(draw(make_view(make.record(result)).results[0]), "held"))
    assert first[1] < second[1]
    result["per_query"].append(make.cell(2, 0.0, 0.0, exact=0.0))
    high, half, none = sorted(marked(draw(make_view(make.record(result)).results[0]), "held"))
    assert (none[1] - half[1]) / (none[1] - high[1]) == pytest.approx(0.5, abs=0.01)


def test_very_many_queries_are_an_area_and_their_worst_are_listed(make: Any) -> None:
    """No mark for each of them, no row for each of them."""
    result = make.computed("half", "not refuted", 1.0)
    leaks = [k / 10_000 for k in range(5000)]
    result["per_query"] = [make.cell(k, leak, leak, exact=leak) for k, leak in enumerate(leaks)]
    shown = make_view(make.record(result)).results[0]
    drawn = draw(shown)
    assert marked(drawn, "held") == []
    assert len(drawn) < 8_000
    assert "5,000 queries" in drawn
    table = shown.query_table
    assert [row[0] for row in table.rows] == [str(k) for k in range(4999, 4999 - LISTED, -1)]
    assert table.caption.endswith("the 500 worst of 5,000, the file of cells has all")


def test_a_query_weighs_little(make: Any) -> None:
    """A catalogue has hundreds of pictures."""
    weights = []
    for queries in (100, 200):
        result = make.sampled("many", "not refuted", 0.4)
        cell = result["per_query"][0]
        result["per_query"] = [
            cell | {"query": k, "lower": k / 400, "upper": [0.9, "inf"][k % 2], "own": k < 2}
            for k in range(queries)
        ]
        weights.append(len(draw(make_view(make.record(result)).results[0])))
    assert weights[1] - weights[0] < 130 * 100
