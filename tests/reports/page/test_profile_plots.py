from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

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


def drawn(text: str, style: str) -> list[str]:
    """Return the paths of those classes."""
    return [
        path.attrib["d"]
        for path in ET.fromstring(text).iter(f"{SVG}path")
        if path.attrib["class"] == style
    ]


def numbers(path: str) -> list[tuple[float, float]]:
    found = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path)]
    return list(zip(found[::2], found[1::2], strict=True))


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


def test_colours_come_from_the_page() -> None:
    for slug in ("held", "refuted", "inconclusive"):
        text = plot(slug=slug)
        assert f'class="{slug} area"' in text
        assert not re.search(r"style=|fill=|stroke=|#[0-9a-f]{6}", text)


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.3])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("width", [0.0, 0.05])
def test_a_picture_has_few_elements(width: float, epsilon: float, delta: float) -> None:
    """Itself, title, description, grid, axes, claim, a band (3), a mark or guessing: 10 and words.

    At most four round numbers on each axis, and three more texts: a catalogue has hundreds of them.
    """
    for draw in (profile_plot, trade_off_plot):
        assert len(re.findall("<[a-z]", plot(width, draw=draw, epsilon=epsilon, delta=delta))) <= 21


def test_no_two_plots_share_an_id() -> None:
    ids = [re.findall(r' id="([^"]+)"', plot(name=name)) for name in ("profile-a", "profile-b")]
    assert not set(ids[0]) & set(ids[1])
    assert len(ids[0]) == len(set(ids[0]))


def test_a_band_is_filled_and_a_computed_curve_is_a_line() -> None:
    for draw in (profile_plot, trade_off_plot):
        assert len(drawn(plot(0.05, draw=draw), "held area")) == 1
        for width in (0.0, 1e-9):
            assert not drawn(plot(width, draw=draw), "held area")
            assert len(drawn(plot(width, draw=draw), "held curve")) == 1


def labels(text: str) -> str:
    return "\n".join(str(element.text) for element in ET.fromstring(text).iter(f"{SVG}text"))


def test_labels_are_text() -> None:
    assert all(each in labels(plot()) for each in ("ε in nats", "δ(ε)", "✕ claim (1, 0)"))
    sampled, exact = (labels(plot(width, draw=trade_off_plot)) for width in (0.05, 0.0))
    words = ("false positives", "least false negatives", "claim", "guessing", "certified")
    assert all(each in sampled for each in words)
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
    corner = cross(on_curve)
    (line,) = drawn(on_curve, "held curve")
    assert min(math.dist(corner, point) for point in numbers(line)) < 0.2
    assert cross(off_curve)[0] == corner[0]
    assert cross(off_curve)[1] > corner[1] + 10


def cross(text: str) -> tuple[float, float]:
    """Place of the mark of the claim."""
    (found,) = drawn(text, "bold")
    return numbers(found)[0]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (40.0, 0.0), (3.0, 1e-5), (5.0, 0.9)])
def test_claims_far_from_the_curves(epsilon: float, delta: float) -> None:
    for draw in (profile_plot, trade_off_plot):
        ET.fromstring(plot(epsilon=epsilon, delta=delta, draw=draw))


def test_strange_letters_in_the_title() -> None:
    ET.fromstring(plot(title="机制 $\\frac{$ <b>"))
