"""The terminal's summary of a run: what was refuted, undecided or failed in full, the rest short.

A name, a number or a command is never broken.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.numerics import percent
from dpassay.reports.run.brief import Brief, briefs, lead
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.search_words import is_searched
from dpassay.reports.run.view import CAVEAT
from dpassay.reports.run.words import FOLDER
from dpassay.reports.shared.numbers import INFINITY
from dpassay.reports.shared.statuses import (
    ALL,
    ERROR,
    EXPECTED,
    HELD,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    VERIFIED,
)

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    "refuted": "bold red",
    "error": "bold magenta",
    "missed": "bold magenta",
    "inconclusive": "yellow",
    "expected": "red",
    "held": "blue",
    "verified": "green",
}
IN_FULL = (REFUTED, ERROR, MISSED, INCONCLUSIVE)
"""Statuses that somebody has to act on."""
FEW = 8
"""So many results all have a line of their own."""
GAP = 2
INDENT = 4


def print_summary(
    record: Mapping[str, Any],
    console: Console,
    *,
    everything: bool = False,
    directory: Path | None = None,
) -> None:
    """Print what was found, worst first, and what limits it."""
    # the worst first
    found = sorted(briefs(record), key=lambda each: (each.status.rank, -(each.least or 0.0)))
    shown = [each for each in found if everything or len(found) <= FEW or each.status in IN_FULL]
    _wrapped(console, lead(record), style="bold")
    rows = [row_of(each, record["run"]["confidence"]) for each in shown]
    aligned = _widths(rows, console.width)
    for each, row in zip(shown, rows, strict=True):
        _say(console, *_head(row, aligned, STYLES[each.status.slug]))
        for line in _below(each):
            _wrapped(console, line, INDENT)
        if each.status is REFUTED and each.replay and directory is not None:
            beside = each.replay.replace(FOLDER, "", 1)  # as it is typed beside the folder
            here = beside.replace("witnesses/", f"{directory.as_posix()}/witnesses/", 1)
            _say(console, f"{' ' * INDENT}{here}")
    rest = Counter(each.status.word for each in found)
    _wrapped(
        console,
        "; ".join(f"{rest[status.word]} {status.word}" for status in ALL if rest[status.word]),
    )
    if len(shown) < len(found):
        _wrapped(console, "-v lists them all; `dpassay explain ID` tells one in full")
    if said := ended(record["run"]):
        _wrapped(console, said)
    if any(each.status in {HELD, MISSED} for each in found):
        sight = any(each.status is HELD and each.sampled for each in shown)
        sought = [is_searched(each) for each in record["results"]]
        examined = (
            "at the pairs that the search began with"
            if sought and all(sought)
            else "at the examined pairs and queries"
        )
        where = f" 'Would see' holds {examined}." if sight else ""
        _wrapped(console, f"{CAVEAT}{where}")


def row_of(brief: Brief, confidence: float) -> tuple[str, ...]:
    """Return the cells of a line: who, what is claimed, what was found, and the verdict."""
    who = f"{brief.status.symbol} {brief.name}"
    if brief.status is ERROR:
        return who, f"claims {brief.claimed}", "", "error"
    many = f" ({brief.times}×)" if brief.times not in {"", INFINITY} else ""
    refuted = brief.status in {REFUTED, EXPECTED}
    verb = "told apart," if brief.certain else brief.verb if refuted else "found"
    found = f"{verb} {brief.found.removeprefix('= ')}{many}"
    how = f"{percent(confidence)} confidence" if brief.sampled else "computed"
    verdict = {
        REFUTED: f"refuted, {how}",
        EXPECTED: f"refuted, {how}, as declared",
        HELD: _sight(brief),
        VERIFIED: "verified on the whole domain",
    }.get(brief.status, brief.status.word)
    return who, f"claims {brief.claimed}", found, verdict


def _sight(brief: Brief) -> str:
    """Say what would have been refuted of a result that was not."""
    if brief.part and not brief.sampled:
        return f"not refuted ({brief.part} only)"
    if not brief.sight:
        return "not refuted"
    if brief.exceeds:
        return "a dataset that was not audited breaks it"
    shown = brief.sight.startswith("≥")
    return f"would see {brief.sight}" if shown else f"{brief.sight} would show"


def _below(brief: Brief) -> Iterator[str]:
    """Yield what stands below the line of a result; most where somebody has to act on it."""
    if brief.about:
        yield f"about: {brief.about}"
    if brief.status is REFUTED:
        yield from filter(None, (brief.pair, brief.seen))
    elif brief.status in IN_FULL:
        yield f"{brief.reason}."
    yield from brief.lines


def _widths(rows: Sequence[tuple[str, ...]], width: int) -> list[int] | None:
    """Return the widths of columns where lines fit; None where a row takes two lines."""
    if not rows:
        return None
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return widths if sum(widths) + GAP * (len(widths) - 1) <= width else None


def _head(row: tuple[str, ...], widths: list[int] | None, style: str) -> tuple[str, str]:
    if widths is not None:
        cells = (cell.ljust(room) for cell, room in zip(row, widths, strict=True))
        return (" " * GAP).join(cells).rstrip(), style
    who, claims, found, verdict = row
    return f"{who}{' ' * GAP}{verdict}\n{' ' * INDENT}{claims}{' ' * GAP}{found}".rstrip(), style


def _wrapped(console: Console, text: str, indent: int = 0, style: str = "") -> None:
    lines = textwrap.wrap(
        text,
        console.width,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    _say(console, "\n".join(lines), style)


def _say(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is: no markup, no emoji code, no link, no break of ours in it."""
    from rich.text import Text

    console.print(Text(text, style=style), soft_wrap=True)
