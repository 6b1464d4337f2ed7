"""The terminal's summary: what somebody has to act on in full, nothing broken."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dpassay.reports.run.terminal import FEW, print_summary

Record = dict[str, Any]


def printed(record: Record, width: int = 80, **options: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False, color_system=None)
    print_summary(record, console, **options)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_a_leak_and_what_held_at_80_columns(make: Any) -> None:
    record = make.record(
        make.sampled("other.own.monte-carlo", "not refuted", lower=0.92, upper=1.109),
        make.sampled("my-api.own.monte-carlo", "refuted", lower=1.8967),
    )
    assert printed(record, directory=Path("report")) == [
        "my-api leaks at least 1.89 times what it claims",
        "▲ my-api  claims ε = 1  leaks ≥ 1.89 (1.89×)  refuted, 99.9 % confidence",
        "    Label of record 7 flipped: at query 0 the answer 1 went from 50 % to 12 % of",
        "    5,000 runs. That is about 4 times as often; 2.72 times is allowed.",
        "    dpassay replay report/witnesses/my-api.own.monte-carlo.json --trust",
        "● other   claims ε = 1  found 0.92 to 1.11    would see ≥ 1.19",
        "1 refuted; 1 not refuted",
        "data: iris, 150 records, 100 of them in training",
        "Not refuted does not mean private. 'Would see' holds at the examined pairs and",
        "queries.",
    ]


def test_there_is_no_caveat_where_everything_was_refuted(make: Any) -> None:
    lines = printed(make.record(make.sampled("a", "refuted")))
    assert not any("private" in line for line in lines)
    assert not any("replay" in line for line in lines), "no folder, no file to replay"


def test_every_status_has_its_line(small: Record) -> None:
    lines = printed(small)
    assert max(map(len, lines)) <= 80
    assert "■ crash     claims ε = 1                        error" in lines
    assert "    sample returned NaN." in lines
    for words in ("verified on the whole domain", "inconclusive", "as declared", "interrupted"):
        assert any(words in line for line in lines), words


def test_a_name_is_never_broken_and_takes_its_own_line_where_it_is_long(make: Any) -> None:
    name = "soft-majority-overview.corrected.monte-carlo-with-much-more-behind-it"
    results = [make.computed(f"{name}.{k}", "refuted", 2.0) for k in range(2)]
    for result in results:
        result["mechanism"] = "same"
    lines = printed(make.record(*results))
    for k in range(2):
        at = lines.index(f"▲ {name}.{k}  refuted, computed")
        assert lines[at + 1] == "    claims ε = 1  leaks 2 (2×)"


def test_many_results_are_counted_and_listed_on_demand(make: Any) -> None:
    held = [make.computed(f"m{k}", "not refuted", 0.5) for k in range(FEW)]
    record = make.record(*held, make.sampled("bad", "refuted"))
    lines = printed(record)
    assert not any(line.startswith("●") for line in lines)
    assert f"1 refuted; {FEW} not refuted" in lines
    assert sum(line.startswith("●") for line in printed(record, everything=True)) == FEW


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_no_number_is_ever_cut(make: Any, width: int) -> None:
    lines = printed(make.record(make.computed("a" * 300, "refuted", 1.0000000123)), width)
    assert "…" not in "".join(lines)
    assert "1.00000001" in " ".join(lines)


def test_what_a_claim_is_about_is_said_unless_it_is_a_single_prediction(make: Any) -> None:
    other = make.computed("histogram.printed", "not refuted", 1.0)
    assert not any("about" in line for line in printed(make.record(other)))
    other["claim"]["unit"] = "all noisy counts"
    assert "    about: all noisy counts" in printed(make.record(other))


def test_hostile_text_is_printed_as_it_is(hostile: Record) -> None:
    text = "\n".join(printed(hostile))
    assert "[red]" in text
    assert "\x1b" not in text


def test_nothing_audited(make: Any) -> None:
    assert printed(make.record())[0] == "Nothing was audited"
