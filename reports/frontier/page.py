"""The HTML page and the terminal table of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.reports.frontier.figure import frontier_plot
from dpassay.reports.frontier.view import CAVEAT, headlines, points_of, table_of, warnings
from dpassay.reports.shared.templating import page
from dpassay.reports.shared.terminal import print_table, say

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]

SHORT = ("mechanism", "claims ε", "accuracy", "loses", "best guess")
"""Columns that a terminal of 80 columns has room for, without what stands in brackets."""


def to_html(document: Raw, costs: Raw) -> str:
    """Write a comparison as one self-contained HTML page; equal arguments give equal bytes.

    `costs` are seconds, by `dpassay.reports.frontier.view.key_of` a row.
    """
    lead, *others = headlines(document)
    data = document["data"]
    return page(
        "frontier",
        lead=lead,
        origin=(f"dpassay compare-mechanisms: {data['name']}, {data['records']:,} records",),
        headlines=others,
        warnings=warnings(document),
        caveat=CAVEAT,
        plot=_plot(document),
        table=table_of(document, costs),
        document=document,
    )


def _plot(document: Raw) -> str:
    """Draw what was measured; nothing if that was interrupted before the first mechanism."""
    points = points_of(document)
    if not points and not document["complete"]:
        return ""
    reached = {
        row["name"]: row["accuracy"]["mean"] for row in document["rows"] if "epsilon" not in row
    }
    return frontier_plot(points, reached["non-private"], reached["majority"])


def print_comparison(document: Raw, costs: Raw, console: Console) -> None:
    """Print the headlines, what is wrong, and one row per mechanism."""
    for line in headlines(document):
        say(console, line, "bold")
    for line in warnings(document):
        say(console, line)
    table = table_of(document, costs).only(SHORT)
    rows = tuple(tuple(cell.partition(" (")[0] for cell in row) for row in table.rows)
    print_table(console, replace(table, rows=rows))
    say(console, CAVEAT)
