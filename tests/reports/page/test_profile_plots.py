from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import pytest

from dpassay.reports.run.page.profile_plots import profile_plot, trade_off_plot
from dpassay.reports.run.profiles import ProfileView

SVG = "{http://www.w3.org/2000/svg}"
EPSILON = [k / 10 for k in range(31)]
LEVELS = [k / 20 for k in range(21)]
E = math.e
DELTA = [max(0.0, (E - math.exp(epsilon)) / (1 + E)) for epsilon in EPSILON]
TESTS = [max(0.0, 1 - E * level, (1 - level) / E) for level in LEVELS]


def curves(width: float) -> tuple[dict[str, Sequence[float]], dict[str, Sequence[float]]]:
    """Randomised response at epsilon = 1, give or take half a width."""

    def band(middle: list[float]) -> dict[str, Sequence[float]]:
        return {
            "lower": [max(0.0, value - width / 2) for value in middle],
            "upper": [min(1.0, value + width / 2) for value in middle],
        }

    return {"epsilon": EPSILON} | band(DELTA), {"false_positive": LEVELS} | band(TESTS)


def view(width: float, epsilon: float = 1.0, delta: float = 0.0) -> ProfileView:
    profile, trade_off = curves(width)
    allowed = [max(0.0, 1 - delta - math.exp(epsilon) * level) for level in LEVELS]
    return ProfileView(
        label="3",
        profile=profile,
        trade_off=trade_off,
        epsilon=epsilon,
        delta=delta,
        claimed={"false_negative": allowed},
        words=(),
        tables=(),
    )


def plot(width: float = 0.05, *, draw: Any = profile_plot, **changes: Any) -> str:
    claim: dict[str, Any] = {"slug": "held", "name": "profile-a", "title": "rr, query 3"}
    where = {name: changes.pop(name) for name in ("epsilon", "delta") if name in changes}
    return str(draw(view(width, **where), **claim | changes))


def used(text: str, style: str) -> list[tuple[str, str]]:
    """Places of the shapes that are drawn in a style, whose text begins so."""
    classes = re.findall(rf"\.(s\d+)\{{{style}", text)
    return [
        (place["x"], place["y"])
        for element in ET.fromstring(text).iter(f"{SVG}use")
        if (place := element.attrib)["class"] in classes
    ]


def filled(text: str) -> list[tuple[str, str]]:
    """The area between two curves; the patch of the key is no such `use` of a shape."""
    return used(text, r"fill:var\(--held, #0072b2\);fill-opacity:0.32")


@pytest.mark.parametrize("width", [0.0, 0.05])
def test_the_plot_is_well_formed_and_inlineable(width: float) -> None:
    text = plot(width)
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["id"] == "profile-a"
    title, described = list(root)[:2]
    assert title.tag == f"{SVG}title"
    assert title.text == "Privacy profile: rr, query 3"
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
    for draw in (profile_plot, trade_off_plot):
        assert len(filled(plot(0.05, draw=draw))) == 1
        assert not filled(plot(0.0, draw=draw))
        assert not filled(plot(1e-9, draw=draw))


def labels(text: str) -> set[str | None]:
    return {element.text for element in ET.fromstring(text).iter(f"{SVG}text")}


def test_labels_are_text() -> None:
    assert {"ε in nats", "δ(ε)", "claim (1, 0)"} <= labels(plot())
    sampled, exact = (labels(plot(width, draw=trade_off_plot)) for width in (0.05, 0.0))
    assert {"false positives", "least false negatives", "claim", "guessing", "certified"} <= sampled
    assert "computed" in exact
    assert "certified" not in exact


def test_small_numbers_have_logarithmic_axes() -> None:
    assert "logarithmic" not in plot() + plot(draw=trade_off_plot)
    assert "The axis of delta is logarithmic." in plot(delta=1e-5)
    assert "Both axes are logarithmic." in plot(epsilon=4.0, draw=trade_off_plot)


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
    assert min(math.hypot(x - corner[0], y - corner[1]) for x, y in points) < 0.2
    assert crosses(off_curve)[0] == crosses(on_curve)[0]
    assert float(crosses(off_curve)[1]) > corner[1] + 10


def crosses(text: str) -> tuple[str, str]:
    """Place of the only marker that has the colour of the text."""
    (found,) = used(text, "fill:currentColor")
    return found


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (40.0, 0.0), (3.0, 1e-5), (5.0, 0.9)])
def test_claims_far_from_the_curves(epsilon: float, delta: float) -> None:
    for draw in (profile_plot, trade_off_plot):
        ET.fromstring(plot(epsilon=epsilon, delta=delta, draw=draw))


def test_strange_letters_in_the_title() -> None:
    ET.fromstring(plot(title="机制 $\\frac{$ <b>"))
