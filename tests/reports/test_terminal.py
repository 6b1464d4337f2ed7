from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from dpassay.errors import InvalidInput
from dpassay.reports.run.terminal import print_explanation

Record = dict[str, Any]


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=80, force_terminal=False, color_system=None)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_explanation_tells_everything(small: Record, console: Console) -> None:
    print_explanation(small, "broken.monte-carlo", console)
    text = printed(console)
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for words in (
        "▲ broken.monte-carlo: refuted",
        "at most e^1 ≈ 2.71828",
        "label of record 7 flipped",
        "The answer 1 was given in 2,500 of 5,000 runs on S and in 625 of 5,000 on S'.",
        (
            "weighted Stouffer of exact binomial tails, chosen before the certification trials; "
            "Bonferroni over the 2 certified"
        ),
        "this result received α = 0.00025",
        "6.25e-05 at each of 2 certified cells",
        "dpassay replay witnesses/broken.monte-carlo.json",
        "own 1",
    ):
        assert words in flat


def test_explanation_of_computed_numbers(small: Record, console: Console) -> None:
    print_explanation(small, "majority.exact", console)
    flat = " ".join(printed(console).split())
    for words in (
        "Nothing was spent",
        "ln(p1 / p0) = 0.995000",
        "Numerical error at most 1e-14",
        "Over datasets of any size, the worst loss is 0.995000",
        "Because it is so.",
        "can find differences",
    ):
        assert words in flat


def test_explanation_of_an_error_is_its_cause(small: Record, console: Console) -> None:
    print_explanation(small, "crash", console)
    assert "Cause of the error\nsample returned NaN" in printed(console)


def test_explanation_of_many_queries_is_short(make: Any, console: Console) -> None:
    result = make.computed("a", "not refuted")
    result["per_query"] = [make.cell(k, k / 1000, k / 1000, exact=k / 1000) for k in range(200)]
    print_explanation(make.record(result), "a", console)
    text = printed(console)
    assert "and 190 more in the record" in text
    assert text.index("0.199000") < text.index("0.190000")
    assert "0.189000" not in text


def test_hostile_explanation(hostile: Record, make: Any, console: Console) -> None:
    print_explanation(hostile, make.hostile, console)
    text = printed(console)
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_unknown_id(small: Record, console: Console) -> None:
    with pytest.raises(InvalidInput, match=r"did you mean overview\.exact"):
        print_explanation(small, "overview", console)
    assert printed(console) == ""
