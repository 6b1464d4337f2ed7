from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from dpassay.errors import InvalidInput
from dpassay.reports.run.terminal import print_explanation, print_summary

Record = dict[str, Any]


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=80, force_terminal=False, color_system=None)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_summary_at_80_columns(small: Record, console: Console) -> None:
    print_summary(small, console)
    text = printed(console)
    assert max(map(len, text.splitlines())) <= 80
    assert "Not refuted does not mean private." in text
    for words in (
        "▲ refuted",
        "■ error",
        "★ verified",
        "◆ inconclusive",
        "broken.monte-carlo",
        "1.234567",
        "≤ ∞",
        "= 2.000000",
    ):
        assert words in text


def test_long_ids_break_at_their_joints(make: Any, console: Console) -> None:
    print_summary(
        make.record(make.computed("soft-majority-overview.printed.monte-carlo", "not refuted")),
        console,
    )
    words = {word for line in printed(console).splitlines() for word in line.split()}
    assert {"soft-majority-", "overview.printed.", "monte-carlo"} <= words


def test_numbers_keep_their_line_beside_long_ids(make: Any, console: Console) -> None:
    name = "soft-majority-overview.corrected.monte-carlo"
    blind = make.sampled(name, "not refuted", lower=0.402344, upper=1.645652, expected="refuted")
    print_summary(make.record(blind), console)
    assert "overview.corrected. " in printed(console)
    blind["claim"]["delta"] = 1e-5
    print_summary(make.record(blind), console)
    row = next(line for line in printed(console).splitlines() if "δ" in line)
    assert "1, δ = 1e-05  0.402344   ≤ 1.645652    1.181583" in row


def test_a_claim_of_three_numbers_leaves_all_numbers_whole(make: Any, console: Console) -> None:
    long = make.computed("theorem-4-score-at-zero.printed.exact.2", "not refuted", 0.000123)
    long["claim"] |= {
        "kind": "ScoreStability",
        "beta1": 143.445,
        "beta2": 0.523026,
        "delta": 1 / 300,
    }
    print_summary(make.record(long, make.computed("other", "refuted", 9.277792)), console)
    words = printed(console).split()
    assert {
        "143.445,",
        "0.523026,",
        "0.003334",
        "0.000123",
        "9.277792",
        "detectable",
        "exact/upper",
    } <= set(words)


def test_no_number_is_ever_cut(make: Any) -> None:
    for width in (30, 60, 80, 200):
        console = Console(file=io.StringIO(), width=width, color_system=None)
        print_summary(make.record(make.computed("a" * 300, "refuted", 1.0000000123)), console)
        assert "…" not in printed(console)
        if width >= 80:
            assert "1.00000001" in printed(console)


def test_hostile_summary(hostile: Record, console: Console) -> None:
    print_summary(hostile, console)
    text = printed(console)
    assert "[red]" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


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
        "None was spent",
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


def test_nothing_audited(make: Any, console: Console) -> None:
    print_summary(make.record(), console)
    assert printed(console).startswith("Nothing was audited\n")


def test_a_row_says_what_its_claim_is_about(make: Any, console: Console) -> None:
    """A single prediction is said once; anything else stands in the row."""
    other = make.computed("histogram.printed", "not refuted", 1.0)
    print_summary(make.record(make.computed("majority", "not refuted", 1.0), other), console)
    assert "unless its row says otherwise" in printed(console)
    other["claim"]["unit"] = "all noisy counts"
    print_summary(make.record(other), console)
    last = printed(console).rpartition("status")[2]
    assert "(all noisy" in last.replace("\n", "")
    assert "unless its row says otherwise" not in last
