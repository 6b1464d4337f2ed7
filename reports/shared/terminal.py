"""What every report prints: texts in which nothing is markup, and tables, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpassay.reports.shared.tables import TextTable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def plain_text(text: str, style: str = "") -> Text:
    """Wrap a text so that rich reads no markup, emoji code or link in it."""
    from rich.text import Text

    return Text(text, style=style, overflow="fold")


def say(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print a paragraph, its lines broken where the terminal ends."""
    from rich.padding import Padding

    shown = plain_text(text, style)
    console.print(Padding(shown, (0, 0, 0, indent), expand=False) if indent else shown)


def print_table(console: Console, data: TextTable, styles: tuple[str, ...] = ()) -> None:
    """Print a table without its caption; `styles` are those of the first cells, row by row."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title, right in zip(data.columns, data.numeric, strict=True):
        table.add_column(plain_text(title), justify="right" if right else "left", overflow="fold")
    for number, (first, *others) in enumerate(data.rows):
        style = styles[number] if styles else ""
        table.add_row(plain_text(first, style), *map(plain_text, others))
    console.print(table)
