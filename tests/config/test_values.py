"""Values: TOML on the command line, in files and inside one another; older spellings too."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.config.values import (
    listed,
    named_table,
    named_text,
    spelled,
    table_of,
    value_of,
    written,
)
from dpassay.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", "5"),
        (" tree ", "tree"),
        ("my_module:Learner", "my_module:Learner"),
        ("1 0:1; 0 0:0", "1 0:1; 0 0:0"),
        ('"tree"', "tree"),
        ("'a text'", "a text"),
        ("[0.1, 1]", [0.1, 1]),
        ("[]", []),
        ('{name="soft-majority", r=5}', {"name": "soft-majority", "r": 5}),
        ('{name="interface", base={name="soft-majority", r=5}, m=2}',
         {"name": "interface", "base": {"name": "soft-majority", "r": 5}, "m": 2}),
    ],
)  # fmt: skip
def test_one_value(text: str, value: Any) -> None:
    assert value_of(text, "-p x") == value


@pytest.mark.parametrize("text", ["[1", "{a=}", '"open', "{a=1}\nb=2", "[1]\nseed = 3", "[" * 5000])
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^-p x = '"):
        value_of(text, "-p x")


def test_lists() -> None:
    assert listed("0.5,8") == ["0.5", "8"]
    assert listed("[0.5, 8]") == [0.5, 8]
    assert listed((1, 2)) == [1, 2]
    assert listed(3) == [3]


def test_tables() -> None:
    plain = table_of("epsilon=1,delta=1e-6", "--claim", "a claim")
    assert plain == {"epsilon": "1", "delta": "1e-6"}
    toml = table_of("{epsilon=1, delta=1e-6}", "--claim", "a claim")
    assert toml == {"epsilon": 1, "delta": 1e-6}
    for wrong in ("epsilon", "[1]", "=1"):
        with pytest.raises(InvalidInput, match="--claim"):
            table_of(wrong, "--claim", "a claim")


def test_a_base_has_one_text_however_it_is_spelled() -> None:
    """Records and random streams know it by this text, so it is the one of old records where that
    can be written."""
    short = "soft-majority,r=5,learner=tree"
    assert named_text(short, "base") == short
    assert named_text('{name="soft-majority", r=5, learner="tree"}', "base") == short
    assert named_text({"name": "soft-majority", "r": 5, "learner": "tree"}, "base") == short
    assert named_text({"name": "control"}, "base") == "control"
    assert (
        named_text("output-perturbation,lambdas=0.1;1", "base")
        == "output-perturbation,lambdas=0.1;1"
    )
    nested = {"name": "interface", "base": {"name": "soft-majority", "r": 5}, "m": 2}
    assert named_text(nested, "base") == '{name="interface", base={name="soft-majority", r=5}, m=2}'
    for awkward in ("a,b", "a=b", "{a", "[a", '"a', " a", "", "a\nb"):
        text = named_text({"name": "m", "p": awkward}, "base")
        assert named_table(text, "base") == ("m", {"p": awkward})


@pytest.mark.parametrize(
    "given",
    [
        "{r=5}",
        "{name=5}",
        "[1]",
        {"name": "m", "p": None},
        "m,r",
        "m,=5",
        "{name='m', day=2000-01-01}",
    ],
)
def test_what_is_no_base(given: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^base"):
        named_text(given, "base") if isinstance(given, dict) else named_table(given, "base")


def test_what_is_written_is_read_again() -> None:
    odd = "a \"b\" 'c' \\ \n \x7f é"
    values = [1, 0.1, 1e-300, True, odd, [1, [2.5]], {"a": 1, "b c": {"d-e": [False]}}]
    assert value_of(written(values), "x") == values
    assert [spelled(value) for value in (1, 1.0, True, "x", [1])] == ["1", "1.0", "true", "x", [1]]
