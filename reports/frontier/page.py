"""The HTML page and the terminal table of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.reports.frontier.figure import frontier_plot
from dpassay.reports.frontier.view import CAVEAT, headlines, points_of, table_of, warnings
from dpassay.reports.shared.templating import template

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]

SHORT = (0, 1, 3, 5, 8)
"""Columns that a terminal of 80 columns has room for, without what stands in brackets."""


def to_html(document: Raw, costs: Raw) -> str:
    """Write a comparison as one self-contained HTML page; equal arguments give equal bytes.

    `costs` are seconds, by `dpassay.reports.frontier.view.key_of` a row.
    """
    return template("frontier.html.j2").render(
        headlines=headlines(document),
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
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    for line in headlines(document):
        console.print(Text(line, style="bold"))
    for line in warnings(document):
        console.print(Text(line))
    data = table_of(document, costs)
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for k in SHORT:
        table.add_column(
            data.columns[k], justify="right" if data.numeric[k] else "left", overflow="fold"
        )
    for row in data.rows:
        table.add_row(*(Text(row[k].partition(" (")[0]) for k in SHORT))
    console.print(table)
    console.print(Text(CAVEAT))
