"""The explanation of one result in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.reports.run.summary import STYLES
from dpassay.reports.run.view import find_result, make_view
from dpassay.reports.shared.tables import Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


def print_explanation(record: Mapping[str, Any], result_id: str, console: Console) -> None:
    """Print one result in full."""
    view = make_view(record)
    result = find_result(view, result_id)
    _say(
        console,
        f"{result.status.symbol} {result.id}: {result.status.word}",
        STYLES[result.status.slug],
    )
    for part in result.parts:
        _say(console, "")
        _say(console, part.title, "bold")
        for text in part.texts:
            _say(console, text)
        if part.command is not None:
            _say(console, f"  {part.command}")
    if result.query_shortlist is not None:
        _say(console, "")
        _say(console, result.query_shortlist.caption, "bold")
        console.print(_table(result.query_shortlist))
        if result.more:
            _say(console, f"and {result.more} more in the record")
    _say(console, "")
    _say(console, view.caveat, "bold")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(_text(text, style), overflow="fold", no_wrap=False)


def _text(text: str, style: str = "") -> Any:
    """Wrap a text so that rich reads no markup, emoji code or link in it."""
    from rich.text import Text

    return Text(text, style=style, overflow="fold")


def _table(data: Table) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title, right in zip(data.columns, data.numeric, strict=True):
        table.add_column(_text(title), justify="right" if right else "left", overflow="fold")
    for row in data.rows:
        table.add_row(*map(_text, row))
    return table
