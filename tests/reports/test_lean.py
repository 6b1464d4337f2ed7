"""Lean pictures look the same and weigh less."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl

from dpassay.reports.shared.figures import as_svg, axes_in, figure_of
from dpassay.reports.shared.lean import lean


def picture(name: str = "p1") -> str:
    with figure_of(2.0) as figure:
        axes = axes_in(figure, (0.5, 0.5, 2.0, 1.0), 2.0)
        axes.plot([1 / 3, 2 / 3], [0.1234567, 0.7654321], "o-")
        return as_svg(figure, name=name, title="A <b>", description="B")


def test_it_is_smaller_and_has_the_same_letters() -> None:
    whole, small = picture(), lean(picture())
    assert len(small) < 0.5 * len(whole)
    shown = [
        [element.text for element in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        for text in (whole, small)
    ]
    assert shown[0] == shown[1]
    assert shown[0]


def test_what_is_referred_to_is_there_and_coordinates_are_short() -> None:
    small = lean(picture())
    ids = re.findall(r' id="([^"]+)"', small)
    assert len(ids) == len(set(ids))
    assert {*re.findall(r'href="#([^"]+)"', small), *re.findall(r"url\(#([^)]+)\)", small)} <= {
        *ids
    }
    assert not re.search(r"\d\.\d{3}", re.sub(r"<style>.*?</style>", "", small))


def test_users_settings_change_nothing_and_are_left_alone() -> None:
    expected = picture()
    with mpl.rc_context({"axes.labelpad": 20, "xtick.minor.visible": True, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        assert picture() == expected
        assert dict(mpl.rcParams) == before
