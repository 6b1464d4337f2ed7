from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import pytest

from dpassay.reports.run.page.catalogue import Dot, dot_of, overview_plot
from dpassay.reports.run.page.plots import profile_plot, query_plot, sight_plot, trade_off_plot
from dpassay.reports.run.tables import LISTED, ProfileView
from dpassay.reports.run.view import make_view
from tests.reports.shared.test_chart import corners, labels, marked

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
    results = enumerate(make_view(small).results)
    return [
        overview_plot(ROWS, name="overview"),
        sight_plot([(0.2, 1.25), (0.01, math.inf)], claim=1.0, name="sight", of="walk"),
        *(draw(result, f"p{place}q") for place, result in results if result.queries),
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


def test_a_claim_of_nothing_where_nothing_is_found_has_an_axis(make: Any) -> None:
    quiet = make.computed("quiet", "not refuted", 0.0)
    quiet["claim"] |= {"kind": "ScoreStability", "epsilon": None, "beta1": 1.0, "beta2": 1.0}
    assert draw(make_view(make.record(quiet)).results[0])
    assert dot(make, quiet) is None
    quiet["claim"]["delta"] = 0.5
    found = dot(make, quiet)
    assert found is not None
    assert found.ratio == 0


def test_a_finding_gives_the_mark_and_what_was_only_audited_is_at_least(make: Any) -> None:
    kinds = {
        "refuted": make.computed("a", "refuted", 2.0),
        "tight": make.computed("b", "not refuted", 0.995, any_size=make.any_size(0.995)),
        "loose": make.computed("c", "not refuted", 0.5, any_size=make.any_size(0.5)),
        "seen": make.computed("d", "not refuted", 0.5),
        "exceeded": make.computed("e", "not refuted", 0.5, any_size=make.any_size(2.0)),
    }
    for kind, result in kinds.items():
        at = (result["any_size"] or result)["exact"]
        assert dot(make, result) == Dot(kind=kind, ratio=at)
    endless = make.computed("endless", "refuted", "inf")
    assert draw(make_view(make.record(endless)).results[0])
    assert dot(make, endless) == Dot(kind="refuted", ratio=math.inf)
    assert dot(make, make.result("crash", "error")) is None


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


EPSILON = [k / 10 for k in range(31)]
LEVELS = [k / 20 for k in range(21)]
E = math.e
DELTA = [max(0.0, (E - math.exp(epsilon)) / (1 + E)) for epsilon in EPSILON]
TESTS = [max(0.0, 1 - E * level, (1 - level) / E) for level in LEVELS]


def curves(width: float) -> tuple[dict[str, Sequence[float]], dict[str, Sequence[float]]]:
    """Randomised response at epsilon = 1, give or take half a width."""

    def band(middle: list[float]) -> dict[str, Sequence[float]]:
        lower = [max(0.0, value - width / 2) for value in middle]
        return {"lower": lower, "upper": [min(1.0, value + width / 2) for value in middle]}

    return {"epsilon": EPSILON} | band(DELTA), {"false_positive": LEVELS} | band(TESTS)


def view(width: float, epsilon: float = 1.0, delta: float = 0.0) -> ProfileView:
    profile, trade_off = curves(width)
    allowed = [max(0.0, 1 - delta - math.exp(epsilon) * level) for level in LEVELS]
    claim: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    claim |= {"claimed": {"false_negative": allowed}}
    return ProfileView(label="3", profile=profile, trade_off=trade_off, words=(), of="", **claim)


def plot(width: float = 0.05, *, draw: Any = profile_plot, **changes: Any) -> str:
    claim: dict[str, Any] = {"slug": "held", "name": "profile-a", "title": "rr, query 3"}
    where = {name: changes.pop(name) for name in ("epsilon", "delta") if name in changes}
    return str(draw(view(width, **where), **claim | changes))


def test_the_plot_is_told_in_words() -> None:
    for width in (0.0, 0.05):
        title, described = (str(each.text) for each in list(ET.fromstring(plot(width)))[:2])
        assert title == "Privacy profile: rr, query 3"
        assert "claim (1, 0)" in described
        assert ("computed" in described) == (width == 0)
    assert "logarithmic" not in plot() + plot(draw=trade_off_plot)
    assert "The axis of delta is logarithmic." in plot(delta=1e-5)
    assert "Both axes are logarithmic." in plot(epsilon=4.0, draw=trade_off_plot)


def test_a_band_is_filled_and_a_computed_curve_is_a_line() -> None:
    for draw in (profile_plot, trade_off_plot):
        sampled = plot(0.05, draw=draw)
        assert len(corners(sampled, "held")) == 2
        assert len(marked(sampled, "held")) == 1
        for width in (0.0, 1e-9):
            exact = plot(width, draw=draw, slug="refuted")
            assert len(corners(exact, "refuted")) == 1
            assert marked(exact, "refuted") == []


def test_labels_are_text() -> None:
    assert all(each in labels(plot()) for each in ("ε in nats", "δ(ε)", "✕ claim (1, 0)"))
    sampled, exact = ("\n".join(labels(plot(width, draw=trade_off_plot))) for width in (0.05, 0.0))
    words = ("false positives", "least false negatives", "claim", "guessing", "certified")
    assert all(each in sampled for each in words)
    assert "computed" in exact
    assert "certified" not in exact


def test_the_claim_stands_where_its_numbers_are() -> None:
    """The cross lies on the curve: delta(.5) of randomised response at epsilon = 1 is .288."""
    places = []
    for delta in (DELTA[EPSILON.index(0.5)], 0.1):
        drawn = plot(0.0, epsilon=0.5, delta=delta)
        ((x, y),) = re.findall(r'<use x="([\d.]+)" y="([\d.]+)"[^>]*/>', drawn)[:1]
        (line,) = corners(drawn, "held")
        places.append((float(x), float(y), min(math.dist((float(x), float(y)), at) for at in line)))
    (on, high, near), (off, low, _) = places
    assert near < 0.3
    assert on == off
    assert low > high + 10


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (40.0, 0.0), (5.0, 0.9)])
def test_claims_far_from_the_curves(epsilon: float, delta: float) -> None:
    for draw in (profile_plot, trade_off_plot):
        ET.fromstring(plot(epsilon=epsilon, delta=delta, draw=draw))
