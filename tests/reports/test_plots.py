from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import matplotlib as mpl
import pytest

from dpassay.reports.run.plots import interval_plot, query_plot
from dpassay.reports.run.view import make_view

Record = dict[str, Any]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def plots(small: Record) -> list[str]:
    view = make_view(small)
    return [interval_plot(view), *(query_plot(result) for result in view.results if result.queries)]


def test_plots_are_well_formed_and_inlineable(plots: list[str]) -> None:
    for text in plots:
        root = ET.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert root.attrib["viewBox"].startswith("0 0 ")
        assert not text.startswith("<?xml")
        assert "<metadata" not in text
        assert "Date" not in text


def test_colours_come_from_the_page(plots: list[str]) -> None:
    for text in plots:
        assert "currentColor" in text
        assert not re.search(r"#0[01]0[0-9]0[0-9]", text)
        assert not re.search(r"(?<!, )#(?:000000|ffffff)\b", text)


def test_labels_are_text(plots: list[str]) -> None:
    labels = [element.text for element in ET.fromstring(plots[0]).iter(f"{SVG}text")]
    assert labels[-1] == "walk.exhaustive"
    assert "broken.monte-carlo" in labels


def test_no_two_plots_share_an_id(plots: list[str]) -> None:
    ids = [found for text in plots for found in re.findall(r' id="([^"]+)"', text)]
    assert len(ids) == len(set(ids))


def test_users_settings_are_left_alone(small: Record) -> None:
    before = dict(mpl.rcParams)
    interval_plot(make_view(small))
    assert dict(mpl.rcParams) == before


def test_infinite_and_missing_numbers_are_drawn(make: Any) -> None:
    endless = make.computed("endless", "refuted", "inf")
    view = make_view(make.record(endless, make.result("crash", "error")))
    assert "endless" in interval_plot(view)
    assert query_plot(view.results[0])


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
    quiet["per_query"] = [quiet["per_query"][1]]
    view = make_view(make.record(quiet))
    assert "quiet" in interval_plot(view)
    assert query_plot(view.results[0])


def test_strange_letters_in_labels(make: Any) -> None:
    view = make_view(make.record(make.computed("机制 $\\frac{$ <b> \x00", "not refuted")))
    text = interval_plot(view)
    assert "机制 $\\frac{$ &lt;b&gt;" in text
    ET.fromstring(text)


def test_bars_end_where_the_numbers_are(make: Any) -> None:
    view = make_view(
        make.record(
            make.computed("half", "not refuted", 0.5), make.computed("whole", "not refuted", 1.0)
        )
    )
    bars = [
        [float(number) for number in re.findall(r"[-\d.]+", path)]
        for path in re.findall(
            r'<path d="([^"]+)"[^>]*fill: var\(--held[^>]*opacity: 0.32', interval_plot(view)
        )
    ]
    whole, half = (max(bar[::2]) - min(bar[::2]) for bar in bars)
    assert half / whole == pytest.approx(0.5, abs=1e-4)
