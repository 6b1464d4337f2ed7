"""A long report is cut by whole sections, and what is cut is said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reports.run.markdown import LIMIT, to_markdown
from dpassay.reports.shared.shortening import Frames, ReportPiece, shortened
from dpassay.reports.shared.statuses import ALL, HELD, REFUTED, VERIFIED, Status

Record = dict[str, Any]
VERDICTS = ("verified", "not refuted", "refuted")


def size(text: str) -> int:
    return len(text.encode())


def line(text: str) -> str:
    """The line that says what is missing."""
    (found,) = re.findall(r"(?m)^\*\*Shortened\.\*\* .*$", text)
    return str(found)


def many(make: Any, number: int) -> Record:
    return make.record(  # type: ignore[no-any-return]
        *(make.computed(f"r{place}", VERDICTS[place % 3]) for place in range(number))
    )


def test_what_fits_is_whole_and_tiny_limits_are_kept(small: Record) -> None:
    whole = to_markdown(small, limit=10**9)
    assert to_markdown(small, limit=size(whole) + 1) == to_markdown(small) == whole
    assert "Shortened" not in whole
    for limit in (*range(0, 120, 30), *range(120, 4000, 485), size(whole)):
        text = to_markdown(small, limit=limit)
        assert size(text) < max(limit, 1)
        assert not text or text.startswith("# 2 of 7 published claims are wrong")


def test_tables_of_query_points_go_first_and_the_worst_stays(make: Any) -> None:
    results = [make.computed(name, verdict) for name, verdict in zip("abc", VERDICTS, strict=True)]
    for result in results:
        result["per_query"] = [
            make.cell(query, 0.5, 0.5, exact=0.5) | {"change": f"record {query}"}
            for query in range(50)
        ]
    whole = to_markdown(make.record(*results))
    cut = to_markdown(make.record(*results), limit=size(whole))
    assert re.findall("<summary>Every query point of (.)", cut) == ["c", "b"]
    assert re.findall("(?m)^### . (.)", cut) == ["c", "b", "a"]
    assert line(cut).endswith(
        "The query points of 1 result are left out. The pages and record.json hold them all."
    )
    assert cut.replace(line(cut) + "\n\n", "") in whole


def rows_of(text: str) -> list[str]:
    """The symbols of the rows of a digest's table."""
    return re.findall(r"(?m)^\| \w+ \| (\S) ε = ", text)


def sections_of(text: str) -> list[str]:
    return re.findall(r"(?m)^### (\S) r\d+: ", text)


def test_many_results(make: Any) -> None:
    """The worst first, in a section and in the table; the line counts all others."""
    text = to_markdown(many(make, 600), limit=25_000)
    rows, sections = rows_of(text), sections_of(text)
    assert size(text) < 25_000
    assert set(sections) == {"▲"}
    assert 10 < len(sections) < 200
    assert rows[:200] == ["▲"] * 200
    assert f"{200 - len(sections)} results are left out here, all refuted." in line(text)
    assert f"The table lacks its last {600 - len(rows)} rows, " in line(text)
    assert line(text).count("200 verified") == 1
    assert size("\n".join(re.findall(r"(?m)^\|.*", text))) < 13_750
    assert "<details>" not in text


def test_a_giant_section_is_not_passed_over_for_a_better_result(make: Any) -> None:
    giant = make.computed("giant", "refuted")
    giant["reason"] = "x" * 2 * LIMIT
    record = make.record(
        giant,
        *(make.computed(f"a{k}", "refuted") for k in range(2)),
        *(make.computed(f"b{k}", "not refuted") for k in range(100)),
    )
    text = to_markdown(record)
    assert "###" not in text
    assert len(rows_of(text)) == 103
    assert "3 results are left out here, all refuted." in line(text)


def test_the_findings_and_the_command_go_if_they_leave_no_room(make: Any) -> None:
    results = [
        make.computed(f"r{k}" + "x" * 2000, "verified", loss=1.0, any_size=make.any_size(1.0))
        for k in range(10)
    ]
    text = to_markdown(make.record(*results, command="y" * 40_000), limit=100_000)
    assert "## Findings" not in text
    assert "## Reproduce" not in text
    assert "Left out: how to reproduce, the findings." in line(text)
    assert "### ★ r0" in text


FRAMES: Frames = {"row": ("t\n", "\n"), "result": ("## Results\n\n", "")}


def pieces(*, row: int = 10, section: int = 0, table: int = 0) -> list[ReportPiece]:
    """Ten equal results, and nothing else."""
    made = [ReportPiece("row", "r" * row, HELD)] * 10
    for _ in range(10):
        made.append(ReportPiece("result", "s" * section, HELD))
        made += [ReportPiece("table", "q" * table)] if table else []
    return made


def test_a_large_part_stays_if_it_is_enough_that_tables_go() -> None:
    made = [ReportPiece("the findings", "f" * 1000), *pieces(section=10, table=1000)]
    text = shortened("# h\n\n", made, FRAMES, 1500)
    assert "f" * 1000 in text
    assert "q" * 1000 not in text
    assert text.count("s" * 10) == text.count("r" * 10) == 10


def test_rows_take_what_the_sections_do_not() -> None:
    text = shortened("# h\n\n", pieces(row=100, section=1000), FRAMES, 1300)
    assert text.count("r" * 100) == 10
    assert "sss" not in text


def test_a_tiny_limit_leaves_the_headline_of_an_empty_record(make: Any) -> None:
    headline = "# Nothing was audited\n\n"
    assert to_markdown(make.record(), limit=len(headline) + 1) == headline
    assert to_markdown(make.record(), limit=len(headline)) == ""
    assert line(to_markdown(make.record(), limit=200)).startswith(
        "**Shortened.** Left out: how to reproduce."
    )


LENGTH = st.integers(0, 400)
RESULT = st.tuples(st.sampled_from(ALL), LENGTH, LENGTH, LENGTH)


@given(
    results=st.lists(RESULT, max_size=12),
    parts=st.tuples(*[LENGTH] * 4),
    limit=st.integers(1, 6000),
)
def test_every_shortening(
    results: list[tuple[Status, int, int, int]], parts: tuple[int, ...], limit: int
) -> None:
    """Pieces of any sizes.

    Below the limit, worst first without gaps, and the line's numbers are those of what is missing.
    """
    results = sorted(results, key=lambda result: result[0].rank)
    headline = "h" * parts[0] + "\n"
    made = [
        ReportPiece("the notes", "o" * parts[1] + "\n"),
        *(
            ReportPiece("row", f"<row {k}>" + "é" * result[1], result[0])
            for k, result in enumerate(results)
        ),
        ReportPiece("how to reproduce", "p" * parts[2] + "\n"),
        ReportPiece("the findings", "f" * parts[3] + "\n"),
    ]
    for k, result in enumerate(results):
        made.append(ReportPiece("result", f"<section {k}>" + "é" * result[2], result[0]))
        made += [ReportPiece("table", f"<table {k}>" + "é" * result[3])] if result[3] else []
    text = shortened(headline, made, FRAMES, limit)
    assert size(text) < limit
    kept = {
        kind: [int(k) for k in re.findall(rf"<{kind} (\d+)>", text)]
        for kind in ("row", "section", "table")
    }
    assert kept["row"] == list(range(len(kept["row"])))
    assert kept["section"] == list(range(len(kept["section"])))
    assert not kept["table"] or len(kept["section"]) == len(results)
    if "The pages and record.json" in text:
        for kind, pattern in (
            ("section", r"(\d+) results? (?:is|are) left out here, "),
            ("row", r"its last (\d+) rows?, "),
        ):
            said = re.search(pattern, text)
            assert len(results) - len(kept[kind]) == (int(said[1]) if said else 0)


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        ([VERIFIED], "1 result is left out here, verified."),
        ([HELD, HELD], "2 results are left out here, all not refuted."),
        ([REFUTED, HELD, HELD], "3 results are left out here, 1 refuted; 2 not refuted."),
    ],
)
def test_verdicts_of_what_is_left_out(statuses: list[Status], words: str) -> None:
    made = [ReportPiece("result", "s" * 1000, status) for status in statuses]
    assert words in shortened("# h\n\n", made, FRAMES, 500)
