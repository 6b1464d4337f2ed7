"""Rows of a result: one for each query point, and the tables that are made of them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpassay.engine.wording import query_label
from dpassay.numerics import VISIBLE
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.words import change_words, event_words, no_event
from dpassay.reports.shared.numbers import MISSING, above, below, clean, count, exact, plain, value
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]

GROUPS = {
    "data": "data",
    "own": "own worst case",
    "learned": "learned direction",
    "searched": "searched",
    "domain": "domain",
}


LISTED = 500
"""Of more query points the worst are listed: nobody reads ten thousand rows."""


_EXACT = "query | group | exact: | p1: | p0: | event | direction | change"
_SAMPLED = (
    "query | group | lower: | upper: | in event, one side: | in event, other side: | event | "
    "direction | change"
)
_SHORT = ("query", "exact", "lower", "upper", "event", "what", "direction", "change")
_MEANS = {
    "p1": "value, one side",
    "p0": "value, other side",
    "in event, one side": "mean, one side",
    "in event, other side": "mean, other side",
    "event": "what",
}
"""Titles where the claim is about values or their means, and there is no event."""


_STRINGS = {(0,): "good", (1,): "bad"}
"""Events of random strings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryView:
    """The worst cell of one query point, for the plot and for the table."""

    label: str  # its number, or the point itself in an enumerated domain
    own: bool  # whether it belongs to the mechanism's own worst cases
    lower: float  # in the units of the claim; may be inf
    upper: float
    exact: float | None  # None where it was sampled
    means: bool  # about predictions, means or errors: there are no events
    cells: tuple[str, ...]  # its row in the table
    of: int = 1  # query points that it stands for; see `merged`

    @property
    def size(self) -> float:
        """What is known of the leak: the exact value, else the lower bound."""
        return self.lower if self.exact is None else self.exact

    @property
    def has_pair(self) -> bool:
        """Whether its row names a pair: not where all pairs are alike, since none leaks."""
        return self.cells[-1] != MISSING


def query_views(result: Raw) -> tuple[QueryView, ...]:
    """Return the worst cell of every query point, in the record's order."""
    cells, asked = result["per_query"], (result["searched"] or {}).get("asked", True)
    return tuple(
        _query_view(cell, result["claim"], label if asked or not label.isdecimal() else MISSING)
        for cell, label in zip(cells, labels(cells), strict=True)
    )


def merged(queries: Sequence[QueryView]) -> tuple[QueryView, ...]:
    """Put query points of the data together that differ in their number only.

    At the place of the first.
    """
    same: dict[tuple[str, ...], list[QueryView]] = {}
    for query in queries:
        alike = query.cells[1:] if query.label.isdecimal() else query.cells
        same.setdefault(alike, []).append(query)
    return tuple(each[0] if len(each) == 1 else _together(each) for each in same.values())


def _together(queries: Sequence[QueryView]) -> QueryView:
    numbers = {int(query.label) for query in queries}
    starts = sorted(number for number in numbers if number - 1 not in numbers)
    ends = sorted(number for number in numbers if number + 1 not in numbers)
    runs = (
        f"{first}" if first == last else f"{first} to {last}"
        for first, last in zip(starts, ends, strict=True)
    )
    label = ", ".join(runs)
    return replace(queries[0], label=label, cells=(label, *queries[0].cells[1:]), of=len(queries))


def query_table(queries: Sequence[QueryView], *, sampled: bool, caption: str) -> TextTable:
    """Put query points into a table; exact numbers and sampled ones have different columns."""
    if (total := sum(query.of for query in queries)) > LISTED < len(queries):
        queries = worst_rows(queries, LISTED)
        caption = f"{caption}; the {LISTED} worst of {total:,}, the file of cells has all"
    table = TextTable.of(
        caption, _SAMPLED if sampled else _EXACT, (query.cells for query in queries)
    )
    if not any(query.means for query in queries):
        return table
    return replace(table, columns=tuple(_MEANS.get(title, title) for title in table.columns))


def worst_rows(queries: Sequence[QueryView], limit: int) -> tuple[QueryView, ...]:
    """Return the `limit` query points of the largest leak."""
    return tuple(sorted(queries, key=lambda query: (query.size, query.upper), reverse=True)[:limit])


def shortlist(
    queries: Sequence[QueryView], *, sampled: bool, limit: int, caption: str
) -> TextTable:
    """Put the `limit` query points of the largest leak into a table of 80 columns."""
    table = query_table(worst_rows(queries, limit), sampled=sampled, caption=caption)
    return table.only(_SHORT)


def _query_view(cell: Raw, claim: Raw, label: str) -> QueryView:
    words = words_of(claim)
    claimed = words.promised
    lower, upper, leak = (value(cell[name]) for name in ("lower", "upper", "exact"))
    least, most = below(lower, claimed), above(upper)
    value_of = words.amount if words.computed else "mean" if cell["histograms"] else "prediction"
    event = event_words(cell["event"]) or value_of
    event += f" ({clean(cell['answer'])})" if "answer" in cell else ""
    if words.strings:
        event = _STRINGS.get(tuple(cell["event"]), event)
    counts, nothing = cell["counts"], no_event(leak, cell["event"])
    where = cell["direction"], change_words(cell)
    if nothing:
        event, where = "none", (MISSING, where[1] if cell["group"] == "own" else MISSING)
    if cell["histograms"] is not None:
        numbers: tuple[str, ...] = (least, most, plain(cell["p1"]), plain(cell["p0"]))
    elif counts is None:
        vague = leak is not None and leak - (lower or 0.0) > VISIBLE * max(1.0, leak)
        known = least if leak is None else exact(leak, claimed, exceeds=(lower or 0.0) > claimed)
        known = f"≥ {least}" if vague else known
        unknown = upper is not None and math.isfinite(upper) and upper > VISIBLE
        if leak == 0 and (unknown or words.at_most(value(cell["p1"]), upper)):
            known = f"≤ {most}"
        one = known if vague and words.strings else plain(cell["p1"])
        numbers = (known, MISSING, MISSING) if nothing else (known, one, plain(cell["p0"]))
    else:
        numbers = (
            least,
            most,
            f"{count(counts['x'])} of {count(counts['n1'])}",
            f"{count(counts['y'])} of {count(counts['n0'])}",
        )
    return QueryView(
        label=label,
        own=cell["group"] == "own",
        lower=lower or 0.0,
        upper=upper if upper is not None else float("inf"),
        exact=leak,
        means=cell["event"] == [],
        cells=(label, GROUPS[cell["group"]], *numbers, event, *where),
    )


def labels(cells: Sequence[Raw]) -> Iterator[str]:
    """Name the query points.

    The mechanism's own worst cases are numbered, as many of them have one query only.
    """
    starts = [
        place for place, cell in enumerate(cells) if cell["group"] == "own" and cell["query"] == 0
    ]
    for place, cell in enumerate(cells):
        number = max(1, bisect_right(starts, place))
        several = _several(cells, place)
        yield query_label(
            cell["group"], cell["query"], own=number, several=several, point=cell["point"]
        )


def _several(cells: Sequence[Raw], place: int) -> bool:
    """Whether the own worst case of a cell has other queries."""
    after = cells[place + 1] if place + 1 < len(cells) else None
    return cells[place]["query"] > 0 or (
        after is not None and after["group"] == "own" and after["query"] > 0
    )
