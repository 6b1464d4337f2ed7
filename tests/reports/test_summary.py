"""The terminal's summary: what somebody has to act on in full, nothing broken."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dpassay.reports.run.terminal import FEW, print_explanation, print_summary
from dpassay.reports.run.view import make_view
from tests.reports.conftest import HOSTILE

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


def test_every_status_has_its_line(small: Record, hostile: Record) -> None:
    lines = printed(small)
    assert max(map(len, lines)) <= 80
    assert "■ crash     claims ε = 1                        error" in lines
    assert "    sample returned NaN." in lines
    for words in ("verified on the whole domain", "inconclusive", "as declared", "interrupted"):
        assert any(words in line for line in lines), words
    text = "\n".join(printed(hostile))
    assert "[red]" in text
    assert "\x1b" not in text


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


@pytest.mark.parametrize("width", [30, 80])
def test_no_number_is_ever_cut(make: Any, width: int) -> None:
    lines = printed(make.record(make.computed("a" * 300, "refuted", 1.0000000123)), width)
    assert "…" not in "".join(lines)
    assert "1.00000001" in " ".join(lines)


def test_what_a_claim_is_about_is_said_unless_it_is_a_single_prediction(make: Any) -> None:
    other = make.computed("histogram.printed", "not refuted", 1.0)
    assert not any("about" in line for line in printed(make.record(other)))
    other["claim"]["unit"] = "all noisy counts"
    assert "    about: all noisy counts" in printed(make.record(other))


def explained(record: Record, name: str) -> str:
    """The explanation of a result, no line of which is too long."""
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=False, color_system=None)
    print_explanation(record, name, console)
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    return text


def test_explanation_tells_everything(small: Record) -> None:
    """What the parts of a result say stands in report.md too, and there word for word."""
    text = " ".join(explained(small, "broken.monte-carlo").split())
    for part in make_view(small).results[0].parts:
        assert part.title in text
        assert all(" ".join(said.split()) in text for said in part.texts)
    for words in (
        "▲ broken.monte-carlo: refuted",
        "dpassay replay witnesses/broken.monte-carlo.json",
        "own 1",
    ):
        assert words in text
    assert "Cause of the error\nsample returned NaN" in explained(small, "crash")


def test_explanation_of_many_queries_is_short(make: Any) -> None:
    result = make.computed("a", "not refuted")
    result["per_query"] = [make.cell(k, k / 1000, k / 1000, exact=k / 1000) for k in range(200)]
    text = explained(make.record(result), "a")
    assert "and 190 more in the record" in text
    assert text.index("0.199000") < text.index("0.190000")
    assert "0.189000" not in text


def test_hostile_explanation(hostile: Record) -> None:
    text = explained(hostile, HOSTILE)
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
