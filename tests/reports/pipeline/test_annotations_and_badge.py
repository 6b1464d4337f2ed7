from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from dpassay.reports.run.pipeline.annotations import MOST, command, to_annotations
from dpassay.reports.run.pipeline.badge import AMBER, GREEN, GREY, RED, to_endpoint, to_svg
from tests.reports.conftest import HOSTILE

Record = dict[str, Any]
COMMAND = re.compile(r"::(error|warning) ([^:\n]*)::([^\n]*)\n")


def told(record: Record) -> list[tuple[str, dict[str, str], str]]:
    """Read annotations as GitHub's runner does."""
    text = to_annotations(record)
    assert COMMAND.sub("", text) == "", "nothing but whole commands"
    return [
        (name, dict(pair.split("=", 1) for pair in said.split(",")), message)
        for name, said, message in COMMAND.findall(text)
    ]


def test_nothing_is_said_of_what_passed(make: Any) -> None:
    assert to_annotations(make.record(make.sampled("a", "not refuted"))) == ""


def test_file_line_level_and_words(make: Any) -> None:
    places = [
        {"role": "definition", "file": "a,b:c%.py", "line": 7},
        {"role": "claim", "file": "dpassay.toml", "line": 9},
    ]
    record = make.record(
        make.sampled("dunno", "inconclusive"),
        make.sampled("leaky", "refuted", 1.9, places=places),
        make.result("e", "error", places=[{"role": "package", "file": "x.py", "line": 1}]),
    )
    first, second, third = told(record)
    assert first[:2] == (
        "error",
        {"title": "leaky%2C ε = 1%3A refuted", "file": "a%2Cb%3Ac%25.py", "line": "7"},
    )
    assert "leaky leaks at least 1.9 times what it claims" in first[2]
    assert "99.9 %25 confidence" in first[2]
    assert second[:2] == ("error", {"title": "e%2C ε = 1%3A error"}), "no file of the project"
    assert third[0] == "warning"


def test_no_text_begins_another_command(make: Any) -> None:
    evil = f"x\n::stop-commands::t\r\n::set-output name=a::b\u2028{HOSTILE}%0A::error::"
    record = make.record(
        make.sampled(evil, "refuted", 1.9, places=[{"role": "claim", "file": evil, "line": 2}]),
        make.result("e", "error", reason=evil),
    )
    assert [name for name, _, _ in told(record)] == ["error", "error"]
    assert len(to_annotations(record).splitlines()) == 2
    assert command("error", "a\r\n%", file="x:y,z") == "::error file=x%3Ay%2Cz::a%0D%0A%25"


@pytest.mark.parametrize(("number", "last"), [(10, "claims"), (11, "2 more results"), (40, "31")])
def test_ten_at_most(make: Any, number: int, last: str) -> None:
    record = make.record(*(make.sampled(f"m{k}", "refuted", 1.9) for k in range(number)))
    lines = told(record)
    assert len(lines) == min(number, MOST)
    assert last in lines[-1][2]


def test_an_interrupted_run_is_told(make: Any) -> None:
    ((name, said, words),) = told(make.record(make.sampled("a", "not refuted"), complete=False))
    assert (name, said) == ("error", {"title": "dpassay"})
    assert "interrupted" in words


@pytest.mark.parametrize(
    ("results", "complete", "message", "colour"),
    [
        (["not refuted", "not refuted"], True, "2 of 2 not refuted where looked", GREEN),
        (["not refuted", "refuted", "error"], True, "1 of 3 refuted", RED),
        (["not refuted", "refuted"], False, "1 of 2 refuted", RED),
        (["error", "inconclusive"], True, "1 of 2 failed", RED),
        (["blind"], True, "1 of 1 known wrong, not refuted", RED),
        (["inconclusive", "not refuted"], True, "1 of 2 inconclusive", AMBER),
        (["not refuted"], False, "interrupted", GREY),
        ([], True, "nothing audited", GREY),
        (["known"], True, "1 of 1 refuted as declared", GREY),
        (["known", "not refuted"], True, "1 of 1 not refuted where looked", GREEN),
    ],
)
def test_the_badge_says_no_more_than_the_record(
    make: Any, results: list[str], complete: bool, message: str, colour: str
) -> None:
    declared = {"known": ("refuted", "refuted"), "blind": ("not refuted", "refuted")}
    made = []
    for number, verdict in enumerate(results):
        word, expected = declared.get(verdict, (verdict, None))
        build = make.result if word == "error" else make.sampled
        made.append(build(f"m{number}", word, expected=expected))
    record = make.record(*made, complete=complete)
    assert json.loads(to_endpoint(record)) == {
        "schemaVersion": 1,
        "label": "dpassay",
        "message": message,
        "color": colour,
    }
    picture = ET.fromstring(to_svg(record))
    assert picture.attrib["aria-label"] == f"dpassay: {message}"
    assert f"#{colour}" in to_svg(record)
    texts = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["dpassay", message]


def luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", [RED, AMBER, GREY, GREEN, "333333"])
def test_white_on_every_colour_can_be_read(colour: str) -> None:
    assert 1.05 / (luminance(colour) + 0.05) >= 5
