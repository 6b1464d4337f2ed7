"""What a chart draws: the same bytes every time, small, in the colours of the page."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

from dpassay.reports.shared.chart import (
    CLAIMED,
    PALETTE,
    Look,
    band,
    drawing,
    frame,
    line,
    marks,
    note,
    rule,
    spans,
    svg,
)

SVG = "{http://www.w3.org/2000/svg}"
HELD = PALETTE["held"]
FOREIGN = '机制 $\\frac{$ <b> "0.123456" #0072b2\x1b'
Places = list[tuple[float, float]]


def picture(name: str = "p", text: str = "words") -> str:
    """A unit square of a panel with something of everything, and an empty one beside it."""
    with drawing(2.5, panels=2, foot=0.4) as (axes, other):
        frame(axes, (0, 1), (0, 1), names=("x", ""), title="0.12345", claim="claimed")
        frame(other, (0.01, 1), logarithmic="x", x_ticks={0.1: "a"})
        line(axes, [(0, 0), (1 / 3, 2 / 3), (1, 1)], Look(HELD), "line")
        line(axes, [(0.5, float("inf"))], Look(PALETTE["error"]))
        band(axes, [0, 1], [0, 0.5], [0.5, 1], HELD)
        marks(axes, [(0.25, 0.5), (0.75, 0.25)], Look(PALETTE["refuted"], marker="^"), "marks")
        marks(axes, [(0.5, 0.5)], Look(PALETTE["verified"], marker="o", hollow=True))
        marks(axes, [], Look(PALETTE["missed"], marker="x"))
        spans(axes, [(0.5, 0, 1), (0.75, 0, 0.5)], Look(PALETTE["inconclusive"]))
        rule(axes, 0.5, CLAIMED)
        note(axes, text, (0.5, 0.5))
        return svg(axes, name=name, title=text, description=text)


def coloured(text: str, slug: str, tag: str) -> Iterator[ET.Element]:
    """Find the elements of a kind that have the colour of a status, or are in a group that has."""

    def walk(element: ET.Element, inherited: bool) -> Iterator[ET.Element]:
        paints = [element.get(each) for each in ("fill", "stroke") if element.get(each)]
        own = f"var(--{slug})" in paints if paints else inherited
        if own and element.tag == f"{SVG}{tag}":
            yield element
        for child in element:
            yield from walk(child, own)

    yield from walk(ET.fromstring(text), inherited=False)


def marked(text: str, slug: str) -> Places:
    """Return where marks of a colour stand, in points from above."""
    found = coloured(text, slug, "use")
    return [(float(each.get("x", 0)), float(each.get("y", 0))) for each in found]


def corners(text: str, slug: str) -> list[Places]:
    """Return the corners of every path of a colour that consists of straight lines."""
    return [_corners(each.attrib["d"]) for each in coloured(text, slug, "path")]


def _corners(path: str) -> Places:
    x = y = 0.0
    found: Places = []
    for command, rest in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", path):
        numbers = [float(each) for each in re.findall(r"-?(?:\d*\.\d+|\d+)", rest)]
        step = 1 if command in "hvHV" else 2
        for k in range(0, len(numbers), step):
            right = numbers[k] if command not in "vV" else x * command.isupper()
            down = numbers[k] if command in "vV" else numbers[k + 1] if step == 2 else None
            down = y * command.isupper() if down is None else down
            x, y = (right, down) if command.isupper() else (x + right, y + down)
            found.append((x, y))
    return found


def labels(text: str) -> list[str]:
    return [str(element.text) for element in ET.fromstring(text).iter(f"{SVG}text")]


def test_it_is_told_in_words_and_looks_like_the_page() -> None:
    text = picture()
    root = ET.fromstring(text)
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    told = {"role": "img", "aria-labelledby": "p-title p-desc", "class": "plot wide"}
    assert root.attrib == told | {"id": "p", "viewBox": "0 0 691.2 208.8"}  # no width of its own
    assert not re.search(r"<style|#[0-9a-f]{3}|font-family|<metadata|<!|<\?xml", text)
    used = {"held", "refuted", "verified", "inconclusive", "claim", "faint"}
    assert set(re.findall(r"var\(--(\w+)\)", text)) == used
    assert "currentColor" in text
    assert len(set(PALETTE.values())) == len(PALETTE)


def test_text_is_text_whatever_it_says() -> None:
    text = picture(text=FOREIGN)
    root = ET.fromstring(text)
    assert root[0].text == root[1].text == FOREIGN.replace("\x1b", "\N{REPLACEMENT CHARACTER}")
    assert FOREIGN[:-1] in labels(picture(text=FOREIGN[:-1]))
    assert {"0.12345", "claimed", "a", "line", "marks", "0", "1"} <= set(labels(picture()))


def test_numbers_are_short_and_ids_are_its_own() -> None:
    one, other = picture("p1"), picture("p2")
    assert not re.search(r"\d\.\d{5}", re.sub(r">[^<]+<", "><", one))
    ids, others = (re.findall(r' id="([^"]+)"', text) for text in (one, other))
    assert not set(ids) & set(others)
    assert len(ids) == len(set(ids))
    targets = {"".join(pair) for pair in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', one)}
    assert targets
    assert targets <= set(ids)


def test_marks_and_lines_stand_where_their_numbers_are() -> None:
    text = picture()
    ((left, bottom), middle, (right, top)) = corners(text, "held")[0]
    third = left + (right - left) / 3, bottom + 2 * (top - bottom) / 3
    assert middle == pytest.approx(third, abs=0.3)
    expected = [
        (left + x * (right - left), bottom + y * (top - bottom))
        for x, y in ((0.25, 0.5), (0.75, 0.25))
    ]
    found = [each for each in marked(text, "refuted") if each[1] < bottom]
    assert [pytest.approx(each, abs=0.3) for each in expected] == found


def test_users_settings_change_nothing_and_are_left_alone() -> None:
    expected = picture()
    with mpl.rc_context({"axes.labelpad": 20, "xtick.minor.visible": True, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        assert picture() == expected
        assert dict(mpl.rcParams) == before


def test_its_bytes_are_the_same_in_a_fresh_process(tmp_path: Path) -> None:
    code = (
        "import hashlib; from tests.reports.shared.test_chart import picture; "
        "print(hashlib.sha256(picture().encode()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(tmp_path), "PYTHONHASHSEED": "7"},
    )
    assert done.stdout.split() == [hashlib.sha256(picture().encode()).hexdigest()]
