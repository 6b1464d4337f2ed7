"""The terminal: a summary of a run, and one result in full.

What was refuted, undecided or failed stands in full, the rest short; a name, a number or a command
is never broken.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.numerics import percent
from dpassay.reports.run.lead import briefs, lead
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.scope import data_words
from dpassay.reports.run.view import CAVEAT, find_result, make_view
from dpassay.reports.run.words import FOLDER, ended
from dpassay.reports.shared.numbers import INFINITY
from dpassay.reports.shared.statuses import (
    ALL,
    ERROR,
    EXPECTED,
    HELD,
    MISSED,
    REFUTED,
    UNDECIDED,
    VERIFIED,
    WRONG,
)
from dpassay.reports.shared.terminal import print_table, say

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
IN_FULL = {REFUTED} | UNDECIDED  # statuses that somebody has to act on
FEW = 8  # so many results all have a line of their own
GAP, INDENT = " " * 2, " " * 4


def print_summary(
    record: Mapping[str, Any],
    console: Console,
    *,
    everything: bool = False,
    directory: Path | None = None,
) -> None:
    """Print what was found, worst first, and what limits it."""
    found = sorted(briefs(record), key=lambda each: (each.status.rank, -(each.ratio or 0.0)))
    shown = [each for each in found if everything or len(found) <= FEW or each.status in IN_FULL]
    _wrapped(console, lead(record), style="bold")
    rows = [row_of(each, record["run"]["confidence"]) for each in shown]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    fits = sum(widths) + len(GAP) * (len(widths) - 1) <= console.width
    for each, row in zip(shown, rows, strict=True):
        who, claims, told, verdict = row
        head = f"{who}{GAP}{verdict}\n{INDENT}{claims}{GAP}{told}"
        if fits:
            head = GAP.join(cell.ljust(room) for cell, room in zip(row, widths, strict=True))
        _say(console, head.rstrip(), STYLES[each.status.slug])
        for line in _below(each):
            _wrapped(console, line, INDENT)
        if each.status is REFUTED and each.replay and directory is not None:
            beside = each.replay.replace(FOLDER, "", 1)  # as it is typed beside the folder
            here = beside.replace("witnesses/", f"{directory.as_posix()}/witnesses/", 1)
            _say(console, f"{INDENT}{here}")
    rest = Counter(each.status for each in found)
    _wrapped(console, "; ".join(f"{rest[each]} {each.word}" for each in ALL if rest[each]))
    if len(shown) < len(found):
        _wrapped(console, "-v lists them all; `dpassay explain ID` tells one in full")
    if said := data_words(record["run"]["data"]):
        _wrapped(console, f"data: {said}")
    if said := ended(record["run"]):
        _wrapped(console, said)
    if any(each.status in {HELD, MISSED} for each in found):
        where = "at the examined pairs and queries"
        if found and all(each.sought for each in found):
            where = "at the pairs that the search began with"
        sight = any(each.status is HELD and each.sampled for each in shown)
        _wrapped(console, CAVEAT + f" 'Would see' holds {where}." * sight)


def row_of(r: ResultView, confidence: float) -> tuple[str, ...]:
    """Return the cells of a line: who, what is claimed, what was found, and the verdict."""
    who = f"{r.status.symbol} {r.name}"
    if r.status is ERROR:
        return who, f"claims {r.claimed}", "", "error"
    many = f" ({r.times}×)" if r.times not in {"", INFINITY} else ""
    verb = "told apart," if r.certain else r.verb if r.status in WRONG else "found"
    how = f"{percent(confidence)} confidence" if r.sampled else "computed"
    sight = f"would see {r.sight}" if r.sight.startswith("≥") else f"{r.sight} would show"
    sight = "a dataset that was not audited breaks it" if r.exceeds else sight
    sight = sight if r.sight else "not refuted"
    verdict = {
        REFUTED: f"refuted, {how}",
        EXPECTED: f"refuted, {how}, as declared",
        HELD: f"not refuted ({r.part} only)" if r.part and not r.sampled else sight,
        VERIFIED: "verified on the whole domain",
    }.get(r.status, r.status.word)
    return who, f"claims {r.claimed}", f"{verb} {r.found.removeprefix('= ')}{many}", verdict


def _below(r: ResultView) -> Iterator[str]:
    """Yield what stands below the line of a result; most where somebody has to act on it."""
    if r.about:
        yield f"about: {r.about}"
    if r.status is REFUTED:
        yield from filter(None, (r.pair, r.seen))
    elif r.status in IN_FULL:
        yield f"{r.reason}."
    yield from r.lines


def _wrapped(console: Console, text: str, indent: str = "", style: str = "") -> None:
    lines = textwrap.wrap(
        text,
        console.width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    _say(console, "\n".join(lines), style)


def _say(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is: no markup, no emoji code, no link, no break of ours in it."""
    from rich.text import Text

    console.print(Text(text, style=style), soft_wrap=True)


def print_explanation(record: Mapping[str, Any], result_id: str, console: Console) -> None:
    """Print one result in full."""
    result = find_result(make_view(record), result_id)
    status = result.status
    say(console, f"{status.symbol} {result.id}: {status.word}", STYLES[status.slug])
    for part in result.parts:
        say(console, "")
        say(console, part.title, "bold")
        for text in part.texts:
            say(console, text)
        if part.command is not None:
            say(console, f"  {part.command}")
    table, more = result.query_shortlist
    if table:
        say(console, "")
        say(console, table.caption, "bold")
        print_table(console, table)
        if more:
            say(console, f"and {more} more in the record")
    say(console, "")
    say(console, CAVEAT, "bold")
