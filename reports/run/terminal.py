"""The explanation of one result in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpassay.reports.run.summary import STYLES
from dpassay.reports.run.view import find_result, make_view
from dpassay.reports.shared.terminal import print_table, say

if TYPE_CHECKING:
    from rich.console import Console


def print_explanation(record: Mapping[str, Any], result_id: str, console: Console) -> None:
    """Print one result in full."""
    view = make_view(record)
    result = find_result(view, result_id)
    say(
        console,
        f"{result.status.symbol} {result.id}: {result.status.word}",
        STYLES[result.status.slug],
    )
    for part in result.parts:
        say(console, "")
        say(console, part.title, "bold")
        for text in part.texts:
            say(console, text)
        if part.command is not None:
            say(console, f"  {part.command}")
    if result.query_shortlist:
        say(console, "")
        say(console, result.query_shortlist.caption, "bold")
        print_table(console, result.query_shortlist)
        if result.more:
            say(console, f"and {result.more} more in the record")
    say(console, "")
    say(console, view.caveat, "bold")
