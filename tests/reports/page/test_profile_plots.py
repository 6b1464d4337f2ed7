from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

import pytest

from dpassay.reports.run.page.plots import profile_plot, trade_off_plot
from dpassay.reports.run.tables import ProfileView
from tests.reports.shared.test_chart import corners, labels, marked

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
        of="",
    )


def plot(width: float = 0.05, *, draw: Any = profile_plot, **changes: Any) -> str:
    claim: dict[str, Any] = {"slug": "held", "name": "profile-a", "title": "rr, query 3"}
    where = {name: changes.pop(name) for name in ("epsilon", "delta") if name in changes}
    return str(draw(view(width, **where), **claim | changes))


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


def test_small_numbers_have_logarithmic_axes() -> None:
    assert "logarithmic" not in plot() + plot(draw=trade_off_plot)
    assert "The axis of delta is logarithmic." in plot(delta=1e-5)
    assert "Both axes are logarithmic." in plot(epsilon=4.0, draw=trade_off_plot)


def test_the_claim_stands_where_its_numbers_are() -> None:
    """The cross lies on the curve: delta(.5) of randomised response at epsilon = 1 is .288."""
    delta = DELTA[EPSILON.index(0.5)]
    on_curve, off_curve = plot(0.0, epsilon=0.5, delta=delta), plot(0.0, epsilon=0.5, delta=0.1)
    corner = cross(on_curve)
    (line,) = corners(on_curve, "held")
    assert min(math.dist(corner, point) for point in line) < 0.3
    assert cross(off_curve)[0] == corner[0]
    assert cross(off_curve)[1] > corner[1] + 10


def cross(text: str) -> tuple[float, float]:
    """Place of the mark of the claim."""
    found = re.search(r'<use x="([\d.]+)" y="([\d.]+)"[^>]*/>', text)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (40.0, 0.0), (3.0, 1e-5), (5.0, 0.9)])
def test_claims_far_from_the_curves(epsilon: float, delta: float) -> None:
    for draw in (profile_plot, trade_off_plot):
        ET.fromstring(plot(epsilon=epsilon, delta=delta, draw=draw))


def test_strange_letters_in_the_title() -> None:
    ET.fromstring(plot(title="机制 $\\frac{$ <b>"))
