"""The terminal's summary of a run, and the explanation of one result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.claims import SINGLE
from dpassay.reports.run.view import ResultView, View, find_result, make_view
from dpassay.reports.shared.tables import Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

STYLES = {
    "refuted": "bold red",
    "error": "bold magenta",
    "missed": "bold magenta",
    "inconclusive": "yellow",
    "expected": "red",
    "held": "blue",
    "verified": "green",
}
STATUS_WIDTH = 14
MIN_ID = 12
GAP = 2


def print_summary(record: Mapping[str, Any], console: Console) -> None:
    """Print the headline, one row per result, what limits it all, and the caveat.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.
    console : rich.console.Console
        Where to; its width and its colours are respected. Readable from 80 columns on.
    """
    view = make_view(record)
    _say(console, view.headline, "bold")
    if view.results:
        console.print(_summary(view, console.width))
        if any(result.released == SINGLE for result in view.results):
            _say(console, f"Each claim is about a {SINGLE} unless its row says otherwise.")
    for note in view.notes:
        _say(console, note)
    _say(console, view.caveat, "bold")


def print_explanation(record: Mapping[str, Any], result_id: str, console: Console) -> None:
    """Print one result in full.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.
    result_id : str
        As in the record.
    console : rich.console.Console
        Where to.

    Raises
    ------
    InvalidInput
        If the record has no such result.
    """
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
        console.print(_filled(result.query_shortlist))
        if result.more:
            _say(console, f"and {result.more} more in the record")
    _say(console, "")
    _say(console, view.caveat, "bold")


def _summary(view: View, width: int) -> RichTable:
    rows = [(result.claim, result.lower, result.top, result.detectable) for result in view.results]
    titles = ("claim", "lower", "exact/upper", "detectable")
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    left = width - STATUS_WIDTH - sum(widths) - GAP * (len(titles) + 2)
    # a claim of several numbers takes more lines, between them: no number is broken
    if left < MIN_ID:
        words = [len(word) for row in rows for word in row[0].split()]
        widths[0] = max(len(titles[0]), *words, widths[0] + left - MIN_ID)
        left = width - STATUS_WIDTH - sum(widths) - GAP * (len(titles) + 2)
    room = max(MIN_ID, min(left, max(len(result.id) for result in view.results)))
    table = _table(("status", "result", *titles), (False, False, True, True, True, True))
    for column, fixed in zip(table.columns, (STATUS_WIDTH, room, *widths), strict=True):
        column.width = fixed
    for result, cells in zip(view.results, rows, strict=True):
        status = _text(f"{result.status.symbol} {result.status.word}", STYLES[result.status.slug])
        table.add_row(status, *map(_text, (_named(result, room), *cells)))
    return table


def _named(result: ResultView, room: int) -> str:
    """Id of a result, and what its claim is about unless that is a single prediction."""
    name = _fold(result.id, room)
    return name if result.released == SINGLE else f"{name}\n({result.released})"


def _fold(name: str, room: int) -> str:
    """Break a long id where it has joints, which rich would break anywhere."""
    lines = [""]
    for piece in re.findall(r"[^.\-_:]*[.\-_:]?", name):
        if len(lines[-1]) + len(piece) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(_text(text, style), overflow="fold", no_wrap=False)


def _text(text: str, style: str = "") -> Any:
    """Wrap a text so that rich reads no markup, emoji code or link in it."""
    from rich.text import Text

    return Text(text, style=style, overflow="fold")


def _table(columns: tuple[str, ...], numeric: tuple[bool, ...]) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title, right in zip(columns, numeric, strict=True):
        table.add_column(_text(title), justify="right" if right else "left", overflow="fold")
    return table


def _filled(data: Table) -> RichTable:
    table = _table(data.columns, data.numeric)
    for row in data.rows:
        table.add_row(*map(_text, row))
    return table
