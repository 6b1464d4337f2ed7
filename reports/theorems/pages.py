"""A run of theorems as a table for the terminal, one HTML page, and JUnit."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.reports import Format
from dpassay.reports.run.junit import document, element, testcase
from dpassay.reports.shared.statuses import ERROR, EXPECTED, HELD, INCONCLUSIVE, VERIFIED
from dpassay.reports.shared.templating import template
from dpassay.reports.theorems.statements import sentences
from dpassay.reports.theorems.view import CAVEAT, RowView, headline, rows_of

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]


def to_html(record: Raw) -> str:
    """Write a record as one self-contained page; equal records give equal pages."""
    return template("theorems.html.j2").render(
        headline=headline(record),
        sentences=sentences(record),
        rows=rows_of(record, drawn=True),
        caveat=CAVEAT,
        run=record["run"],
    )


def to_junit(record: Raw) -> str:
    """Write a record as JUnit XML, one case per row; what is known to be wrong passes if refuted.

    An interrupted run, and one of nothing, is an error.
    """
    cases = [_case(row) for row in rows_of(record)]
    if not record["run"]["complete"] or not cases:
        words = "Nothing was checked." if record["run"]["complete"] else "The run was interrupted."
        alarm = element("error", words, type="incomplete", message=words)
        cases.append(testcase("dpassay.theorem", "the run is complete", alarm))
    said = " ".join((f"{headline(record)}.", *sentences(record), CAVEAT))
    return document("dpassay theorem", cases, said)


def _case(row: RowView) -> ET.Element:
    story = f"{row.checks}\n{row.reason}\nclaimed {row.claimed}, true {row.found}\n{row.witness}"
    word = row.status.word
    if row.status in (VERIFIED, HELD, EXPECTED):
        outcome = element("system-out", f"{word}\n{story}")
    else:
        tag = "error" if row.status is ERROR else "failure"
        outcome = element(tag, story, type=word, message=f"{word}: {row.reason}")
    return testcase("dpassay.theorem", row.key, outcome)


def print_rows(record: Raw, console: Console) -> None:
    """Print the headline, and of each row its status, its numbers, and a witness or what failed."""
    from rich.text import Text

    console.print(Text(headline(record), style="bold"))
    for line in sentences(record):
        console.print(Text(line))
    for row in rows_of(record):
        console.print(Text(f"{row.status.symbol} {row.key}: {row.status.word}"))
        numbers = f"{row.quantity}: claimed {row.claimed}, true {row.found}"
        witness = f"witness: {row.witness}" if row.witness else ""
        why = row.reason if row.status in (ERROR, INCONCLUSIVE) else ""
        for line in filter(None, (numbers, witness, why)):
            console.print(Text(f"    {line}"), soft_wrap=True)
    console.print(Text(CAVEAT))


def _json(record: Raw) -> str:
    from dpassay.record.files import dumps

    return dumps(record)


FORMATS = {
    "html": Format("theorems.html", to_html),
    "junit": Format("theorems.xml", to_junit),
    "json": Format("theorems.json", _json),
}
"""What a run writes."""
