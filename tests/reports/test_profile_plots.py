from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import matplotlib as mpl
import pytest

from dpassay.reports.run.profile_plots import profile_plot

SVG = "{http://www.w3.org/2000/svg}"
EPSILON = [k / 10 for k in range(31)]
LEVELS = [k / 20 for k in range(21)]
E = math.e
DELTA = [max(0.0, (E - math.exp(epsilon)) / (1 + E)) for epsilon in EPSILON]
TESTS = [max(0.0, 1 - E * level, (1 - level) / E) for level in LEVELS]


def curves(width: float) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Randomised response at epsilon = 1, give or take half a width."""

    def band(middle: list[float]) -> dict[str, list[float]]:
        return {
            "lower": [max(0.0, value - width / 2) for value in middle],
            "upper": [min(1.0, value + width / 2) for value in middle],
        }

    return {"epsilon": EPSILON} | band(DELTA), {"false_positive": LEVELS} | band(TESTS)


def plot(width: float = 0.05, **changes: Any) -> str:
    claim: dict[str, Any] = {
        "epsilon": 1.0,
        "delta": 0.0,
        "slug": "held",
        "name": "profile-a",
        "title": "rr, query 3",
    }
    return profile_plot(*curves(width), **claim | changes)


def filled(text: str) -> list[str]:
    """The areas between two curves; the patch of the key is no such `use` of a shape."""
    return re.findall(r"<use [^>]*style=\"fill: var\(--held[^>]*opacity: 0.32", text)


@pytest.mark.parametrize("width", [0.0, 0.05])
def test_the_plot_is_well_formed_and_inlineable(width: float) -> None:
    text = plot(width)
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["id"] == "profile-a"
    title, described = list(root)[:2]
    assert title.tag == f"{SVG}title"
    assert title.text == "Privacy profile and trade-off function: rr, query 3"
    assert described.text is not None
    assert "claim (1, 0)" in described.text
    assert ("computed" in described.text) == (width == 0)
    assert "<metadata" not in text
    assert "Date" not in text


def test_its_bytes_are_the_same_every_time() -> None:
    assert plot() == plot()


def test_users_settings_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    plot()
    assert dict(mpl.rcParams) == before


def test_colours_come_from_the_page() -> None:
    for slug in ("held", "refuted", "inconclusive"):
        text = plot(slug=slug)
        assert f"var(--{slug}, #" in text
        assert "currentColor" in text
        assert not re.search(r"#0[01]0[0-9]0[0-9]", text)
        assert not re.search(r"(?<!, )#(?:000000|ffffff)\b", text)


def test_no_two_plots_share_an_id() -> None:
    ids = [re.findall(r' id="([^"]+)"', plot(name=name)) for name in ("profile-a", "profile-b")]
    assert not set(ids[0]) & set(ids[1])
    assert len(ids[0]) == len(set(ids[0]))


def test_a_band_is_filled_and_a_computed_curve_is_a_line() -> None:
    assert len(filled(plot(0.05))) == 2
    assert not filled(plot(0.0))
    assert not filled(plot(1e-9))


def test_labels_are_text() -> None:
    sampled, exact = (
        {element.text for element in ET.fromstring(plot(width)).iter(f"{SVG}text")}
        for width in (0.05, 0.0)
    )
    assert {
        "ε in nats",
        "δ(ε)",
        "false positives",
        "claim (1, 0)",
        "guessing",
        "certified band",
    } <= sampled
    assert "computed" in exact
    assert "certified band" not in exact


def test_the_claim_stands_where_its_numbers_are() -> None:
    """The cross lies on the curve: delta(.5) of randomised response at epsilon = 1 is .288."""
    delta = DELTA[EPSILON.index(0.5)]
    on_curve, off_curve = plot(0.0, epsilon=0.5, delta=delta), plot(0.0, epsilon=0.5, delta=0.1)
    corner = [float(number) for number in crosses(on_curve)]
    line = [
        float(number)
        for number in re.findall(
            r"[-\d.]+", max(re.findall(r'<path d="([^"]+)"', on_curve), key=len)
        )
    ]
    points = list(zip(line[::2], line[1::2], strict=True))
    assert min(math.hypot(x - corner[0], y - corner[1]) for x, y in points) < 0.1
    assert crosses(off_curve)[0] == crosses(on_curve)[0]
    assert float(crosses(off_curve)[1]) > corner[1] + 10


def crosses(text: str) -> tuple[str, str]:
    """Place of the only marker that has the colour of the text."""
    found = [
        (use[1], use[2])
        for use in re.finditer(
            r'<use [^>]*x="([\d.]+)" y="([\d.]+)" style="fill: currentColor', text
        )
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (40.0, 0.0), (3.0, 1e-5), (5.0, 0.9)])
def test_claims_far_from_the_curves(epsilon: float, delta: float) -> None:
    ET.fromstring(plot(epsilon=epsilon, delta=delta))


def test_strange_letters_in_the_title() -> None:
    ET.fromstring(plot(title="机制 $\\frac{$ <b>"))
