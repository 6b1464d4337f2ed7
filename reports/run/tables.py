"""The query points of a result, and the privacy profile of the worst: rows, curves, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.numerics import DOWN, NEAREST, UP, VISIBLE, rounded, written
from dpassay.record.curves import WITNESSED
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.words import change_words, event_words, labels, no_event
from dpassay.reports.shared.numbers import (
    MISSING,
    above,
    allowance,
    below,
    clean,
    count,
    exact,
    plain,
    promise,
    value,
)
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]
GROUPS = {
    "data": "data",
    "own": "own worst case",
    "learned": "learned direction",
    "searched": "searched",
    "domain": "domain",
}
LISTED = 500  # of more query points the worst are listed: nobody reads ten thousand rows
SHORTLIST = 10  # query points that a short table shows
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
_STRINGS = {(0,): "good", (1,): "bad"}  # events of random strings
NARROW = 1e-5  # a band that is no wider than this part of itself has the width of roundings
LEVEL = 0.05
"""False positive rate that the sentence speaks of: the recorded one next to it, of those at which
a test does better than the claim allows where there are such."""


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
        """Return the exact leak, or its lower bound."""
        return self.lower if self.exact is None else self.exact

    @property
    def has_pair(self) -> bool:
        """Return whether its row names a pair; where none leaks, all pairs are alike."""
        return self.cells[-1] != MISSING


def query_views(r: ResultView) -> tuple[QueryView, ...]:
    """Return the worst cell of every query point, in the record's order."""
    cells = r.raw["per_query"]
    return tuple(
        _query_view(r, cell, label if r.asked or not label.isdecimal() else MISSING)
        for cell, label in zip(cells, labels(cells), strict=True)
    )


def _query_view(r: ResultView, cell: Raw, label: str) -> QueryView:
    words, counts = r.words, cell["counts"]
    lower, upper, leak = (value(cell[name]) for name in ("lower", "upper", "exact"))
    least, most = below(lower, r.promised), above(upper)
    value_of = words.amount if words.computed else "mean" if cell["histograms"] else "prediction"
    event = event_words(cell["event"]) or value_of
    event += f" ({clean(cell['answer'])})" if "answer" in cell else ""
    if words.strings:
        event = _STRINGS.get(tuple(cell["event"]), event)
    where, nothing = (cell["direction"], change_words(cell)), no_event(leak, cell["event"])
    if nothing:
        event, where = "none", (MISSING, where[1] if cell["group"] == "own" else MISSING)
    if cell["histograms"] is not None:
        numbers: tuple[str, ...] = (least, most, plain(cell["p1"]), plain(cell["p0"]))
    elif counts is None:
        vague = leak is not None and leak - (lower or 0.0) > VISIBLE * max(1.0, leak)
        known = (
            least if leak is None else exact(leak, r.promised, exceeds=(lower or 0.0) > r.promised)
        )
        known = f"≥ {least}" if vague else known
        unknown = upper is not None and math.isfinite(upper) and upper > VISIBLE
        if leak == 0 and (unknown or words.at_most(value(cell["p1"]), upper)):
            known = f"≤ {most}"
        one = known if vague and words.strings else plain(cell["p1"])
        numbers = (known, MISSING, MISSING) if nothing else (known, one, plain(cell["p0"]))
    else:
        sides = (f"{count(counts[k])} of {count(counts[n])}" for k, n in (("x", "n1"), ("y", "n0")))
        numbers = (least, most, *sides)
    return QueryView(
        label=label,
        own=cell["group"] == "own",
        lower=lower or 0.0,
        upper=upper if upper is not None else math.inf,
        exact=leak,
        means=cell["event"] == [],
        cells=(label, GROUPS[cell["group"]], *numbers, event, *where),
    )


def merged(queries: Sequence[QueryView]) -> list[QueryView]:
    """Put query points together that differ in their number only, at the place of the first."""
    same: dict[tuple[str, ...], list[QueryView]] = {}
    for query in queries:
        alike = query.cells[1:] if query.label.isdecimal() else query.cells
        same.setdefault(alike, []).append(query)
    return [each[0] if len(each) == 1 else _together(each) for each in same.values()]


def _together(queries: Sequence[QueryView]) -> QueryView:
    numbers = {int(query.label) for query in queries}
    starts = sorted(number for number in numbers if number - 1 not in numbers)
    ends = sorted(number for number in numbers if number + 1 not in numbers)
    label = ", ".join(
        f"{first}" if first == last else f"{first} to {last}"
        for first, last in zip(starts, ends, strict=True)
    )
    return replace(queries[0], label=label, cells=(label, *queries[0].cells[1:]), of=len(queries))


def query_table(
    r: ResultView, queries: Sequence[QueryView], *, short: bool = False
) -> tuple[TextTable, int]:
    """Put query points into a table: all in order, or the worst in 80 columns; count the rest."""
    rows, total = merged(queries), sum(query.of for query in queries)
    what = "Every query point" if r.asked else "The worst cell"
    caption = f"{what} of {r.id}: {r.unit}"
    if short:
        what = "Query points" if r.asked else "Cells"
        rows, caption = _worst(rows, SHORTLIST), f"{what} with the largest {r.unit}"
    elif total > LISTED < len(rows):
        rows = _worst(rows, LISTED)
        caption = f"{caption}; the {LISTED} worst of {total:,}, the file of cells has all"
    titles = _SAMPLED if r.sampled else _EXACT
    table = TextTable.of(caption, titles, (query.cells for query in rows))
    if any(query.means for query in rows):
        table = replace(table, columns=tuple(_MEANS.get(each, each) for each in table.columns))
    return table.only(_SHORT) if short else table, total - sum(query.of for query in rows)


def _worst(queries: Sequence[QueryView], limit: int) -> list[QueryView]:
    return sorted(queries, key=lambda query: (query.size, query.upper), reverse=True)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """What is known of delta(epsilon) and of the trade-off function at one query point.

    `claimed` is what the claim allows: `false_negative` at the false positive rates of
    `trade_off`, and `delta` where it is a curve.
    """

    label: str  # the query point
    profile: dict[str, Sequence[float]]  # as `profile_plot` takes it
    trade_off: dict[str, Sequence[float]]  # as `trade_off_plot` takes it
    epsilon: float  # the claim's; where that is a curve, a point of it
    delta: float
    claimed: dict[str, list[float]]
    words: tuple[str, ...]
    of: str  # what of the release was looked at, behind a noun


def profile_view(r: ResultView, queries: Sequence[QueryView]) -> ProfileView | None:
    """Return the profile of the witness, else that of the query point of the largest loss."""
    cells = zip(queries, r.raw["per_query"], strict=True)
    known = [(query, cell) for query, cell in cells if cell["profile"]]
    at = r.words.point(known[0][1]["profile"]) if known else None
    if at is None:
        return None
    if r.nothing:  # no answer leaks more than the claim's: the pair that needs the largest delta
        query, cell = max(
            known, key=lambda each: (each[0].has_pair, max(each[1]["profile"]["lower"]))
        )
    else:
        of = r.witness or {}
        same = [each for each in known if all(each[1][name] == of.get(name) for name in WITNESSED)]
        query, cell = max(same or known, key=lambda each: (each[0].size, each[0].upper))
    found, (epsilon, delta) = cell["profile"], r.words.point(cell["profile"]) or at
    trade_off = {
        "false_positive": found["false_positive"],
        "lower": found["trade_off_lower"],
        "upper": found["trade_off_upper"],
    }
    deltas, allowed = r.words.deltas(found["epsilon"]), r.words.allowed(trade_off["false_positive"])
    place = min(range(len(found["epsilon"])), key=lambda k: abs(found["epsilon"][k] - epsilon))
    of = f" of what was looked at ({r.looked_at})" if r.looked_at else ""
    pair = f"{f'{query_words(query.label)}, ' if r.asked else ''}{change_words(cell)}"
    wrong = f" (the whole band is wrong with probability at most {plain(found['alpha'])})"
    shown = _between(found["lower"][place], found["upper"][place], delta)
    needed = (
        f"At this pair ({pair}) δ({promise(found['epsilon'][place])}){of} is {shown}"
        f"{wrong if found['alpha'] else ''}; the claim allows {allowance(delta)}."
    )
    # the law was computed and the claim holds at every audited cell: none of those needs more
    if r.refuted or r.leak is None or r.exceeds:
        needed += " Other pairs may need a larger δ."
    elif not r.raw["any_size"]:
        needed += " Pairs that were not audited may need a larger δ."
    named = [each for each in known if each[0].has_pair or each[0] is query]
    other, worst = max(named, key=lambda each: each[1]["profile"]["lower"][place])
    low, high = (worst["profile"][name][place] for name in ("lower", "upper"))
    if low > found["upper"][place]:
        where = other.label
        if r.asked or where.startswith("own "):
            where = query_words(where)
        needed += (
            f" Of the pairs in the table of query points, the one at {where} needs the largest δ: "
            f"{_between(low, high, delta)}."
        )
    apart = _told_apart(trade_off, allowed)
    if r.looked_at:
        needed += " For the whole release it may be larger."
        apart += " A test of the whole release may do better."
    return ProfileView(
        label=query.label,
        profile={name: found[name] for name in ("epsilon", "lower", "upper")},
        trade_off=trade_off,
        epsilon=epsilon,
        delta=delta,
        claimed={"false_negative": allowed} | ({} if deltas is None else {"delta": deltas}),
        words=(needed, apart),
        of=of,
    )


def _told_apart(trade_off: Raw, claimed: Sequence[float]) -> str:
    """Return what no test of one pair does better than, at a rate where it breaks the claim if any.

    The recorded curve is below the trade-off functions of both directions.
    """
    levels = range(len(trade_off["false_positive"]))
    crossing = [k for k in levels if trade_off["upper"][k] < claimed[k] * (1 - NARROW)]
    level = min(crossing or levels, key=lambda k: abs(trade_off["false_positive"][k] - LEVEL))
    corner, low, high = (trade_off[name][level] for name in ("false_positive", "lower", "upper"))
    allowed, narrow = claimed[level], high - low <= NARROW * high
    has = "has" if narrow else "is known to have"
    promised = min(low, allowed) if narrow and allowed <= high else allowed  # equal within rounding
    return (
        "A test of S against S', or of S' against S, that sees this answer and has a false "
        f"positive rate of {corner:.6g}, {has} a false negative rate of at least "
        f"{written(low, 6, DOWN)}; the claim guarantees at least {written(promised, 6, DOWN)}."
    )


def _between(low: float, high: float, promised: float) -> str:
    """Write a band: one number, of the digits that are certain, where it is narrow.

    The claim's own where that may be it.
    """
    claim = allowance(promised)
    if low <= promised <= high and high - low <= NARROW * high:
        return claim
    if low == high:
        return plain(low)
    if low <= 0:
        return f"at most {written(high, 2, UP)}"
    for digits in (6, 5, 4):
        shown = rounded(low, digits, NEAREST)
        if shown == rounded(high, digits, NEAREST) and (shown > float(claim)) == (low > promised):
            return f"{shown:.{digits}g}"
    return f"between {written(low, 6, DOWN)} and {written(high, 6, UP)}"
