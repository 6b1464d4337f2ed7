"""The wording of errors: argument, value, what is allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.errors import DpassayError, InvalidInput, TargetError, printable, require
from dpassay.record.files import dumps, write_text

OBEYED = "\0\x07\x08\x1b\r\x7f\x85\x9b\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ud800"


def test_nothing_happens_where_the_condition_holds() -> None:
    require(True, "r", 1, "an integer")


def test_argument_value_and_range() -> None:
    with pytest.raises(InvalidInput) as refusal:
        require(False, "r", 0, "an integer >= 1")
    assert str(refusal.value) == "r = 0: must be an integer >= 1"


def test_a_long_value_is_cut_at_80_characters() -> None:
    with pytest.raises(InvalidInput) as refusal:
        require(False, "y", "z" * 500, "short")
    shown = str(refusal.value).removeprefix("y = ").removesuffix(": must be short")
    assert len(shown) == 80
    assert shown.endswith("...")


def test_kinds_of_error() -> None:
    assert issubclass(InvalidInput, DpassayError)
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(TargetError, DpassayError)
    assert not issubclass(TargetError, InvalidInput)


def test_what_a_terminal_obeys_is_replaced_in_texts_and_escaped_in_documents(
    tmp_path: Path,
) -> None:
    """Line ends, tabs and all that is only shown stay."""
    plain = "a\tb\n\u00e9\u00a0\u4e2d\U0001f600 =<&"
    assert printable(plain, line=False) == plain
    assert printable(plain) == plain.translate({9: "\ufffd", 10: "\ufffd"})
    assert printable(OBEYED) == "\ufffd" * len(OBEYED)
    assert printable("::error::a\n  ::b ##vso[c] a::b ##[d]\n## e", line=False) == (
        "\ufffd:error::a\n  \ufffd:b #\ufffdvso[c] a::b #\ufffd[d]\n## e"
    )
    text = dumps({"a": OBEYED + plain, "##vso[a]": "##[a]"})
    assert "##" not in text
    assert printable(text, line=False) == text
    assert json.loads(text) == {"a": OBEYED + plain, "##vso[a]": "##[a]"}
    write_text(tmp_path / "page.md", OBEYED + plain)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "\ufffd" * len(OBEYED) + plain
