"""The privacy profile of a result's worst query point.

Curves for the plot, tables, and two sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.numerics import DOWN, NEAREST, UP, rounded, written
from dpassay.record.curves import WITNESSED
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.queries import QueryView
from dpassay.reports.run.words import change_words, exceeds, looked_at, nothing_found
from dpassay.reports.shared.numbers import allowance, plain, promise
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]

NARROW = 1e-5
"""A band that is no wider than this part of itself has the width of roundings."""
LEVEL = 0.05
"""False positive rate that the sentence speaks of: the recorded one next to it, of those at which
a test does better than the claim allows where there are such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """What is known of delta(epsilon) and of the trade-off function at one query point.

    `claimed` is what the claim allows: `false_negative` at the false positive rates of
    `trade_off`, and `delta` where it is a curve.
    """

    label: str  # the query point
    profile: dict[str, Sequence[float]]  # as `profile_plot` takes it
    trade_off: dict[str, Sequence[float]]  # as `profile_plot` takes it
    epsilon: float  # the claim's; where that is a curve, a point of it
    delta: float
    claimed: dict[str, list[float]]
    words: tuple[str, ...]
    tables: tuple[TextTable, ...]  # the same numbers


def profile_view(result: Raw, queries: Sequence[QueryView]) -> ProfileView | None:
    """Return the profile of the witness, else that of the query point of the largest loss.

    None where the claim has none.
    """
    cells = zip(queries, result["per_query"], strict=True)
    known = [(query, cell) for query, cell in cells if cell["profile"]]
    if not known:
        return None
    witness = result["witness"] or {}
    same = [each for each in known if all(each[1][name] == witness.get(name) for name in WITNESSED)]
    query, cell = max(
        _needing(known) if nothing_found(result) else same or known,
        key=lambda each: (each[0].size, each[0].upper),
    )
    found = cell["profile"]
    profile = {name: found[name] for name in ("epsilon", "lower", "upper")}
    trade_off = {
        "false_positive": found["false_positive"],
        "lower": found["trade_off_lower"],
        "upper": found["trade_off_upper"],
    }
    claim = words_of(result["claim"])
    at = claim.point(profile)
    if at is None:
        return None
    (epsilon, delta), deltas = at, claim.deltas(profile["epsilon"])
    claimed = {"false_negative": claim.allowed(trade_off["false_positive"])} | (
        {} if deltas is None else {"delta": deltas}
    )
    place = min(range(len(profile["epsilon"])), key=lambda k: abs(profile["epsilon"][k] - epsilon))
    asked = (result["searched"] or {}).get("asked", True)
    pair = f"{f'{query_words(query.label)}, ' if asked else ''}{change_words(cell)}"
    part = looked_at(result)
    of = f" of what was looked at ({part})" if part else ""
    needed = (
        _needed(pair, profile, place, delta, found["alpha"], of)
        + _others(result)
        + _largest(known, query, place, delta, asked=asked)
    )
    needed += " For the whole release it may be larger." if part else ""
    apart = _told_apart(trade_off, claimed["false_negative"])
    apart += " A test of the whole release may do better." if part else ""
    return ProfileView(
        label=query.label,
        profile=profile,
        trade_off=trade_off,
        epsilon=epsilon,
        delta=delta,
        claimed=claimed,
        words=(needed, apart),
        tables=(
            _table(f"Privacy profile{of}", "ε: | δ(ε) at least: | δ(ε) at most:", profile),
            _table(
                f"Trade-off function{of}",
                "false positives: | false negatives at least: | at most:",
                trade_off,
            ),
        ),
    )


def _needing(known: Sequence[tuple[QueryView, Raw]]) -> list[tuple[QueryView, Raw]]:
    """Return the pair that needs the largest delta, where no answer leaks more than the claim's."""
    return [max(known, key=lambda each: (each[0].has_pair, max(each[1]["profile"]["lower"])))]


def _needed(pair: str, profile: Raw, place: int, delta: float, alpha: float, of: str) -> str:
    """Say what delta one pair and query needs at the claimed epsilon."""
    held = (
        "" if alpha == 0 else f" (the whole band is wrong with probability at most {plain(alpha)})"
    )
    shown = _between(profile["lower"][place], profile["upper"][place], delta)
    asked = f"At this pair ({pair}) δ({promise(profile['epsilon'][place])}){of} is {shown}{held}"
    return f"{asked}; the claim allows {allowance(delta)}."


def _others(result: Raw) -> str:
    """Say what other pairs may need.

    Where the law was computed and the claim holds at every audited cell, none of those more.
    """
    if result["verdict"] == "refuted" or result["exact"] is None or exceeds(result):
        return " Other pairs may need a larger δ."
    return "" if result["any_size"] else " Pairs that were not audited may need a larger δ."


def _largest(
    known: Sequence[tuple[QueryView, Raw]],
    told: QueryView,
    place: int,
    delta: float,
    *,
    asked: bool,
) -> str:
    """Say at which other query point the worst pair needs a larger delta for certain.

    Nothing where there is none.
    """
    shown = [each for each in known if each[0].has_pair or each[0] is told]
    query, cell = max(shown, key=lambda each: each[1]["profile"]["lower"][place])
    here = next(cell for query, cell in known if query is told)
    low, high = (cell["profile"][name][place] for name in ("lower", "upper"))
    if low <= here["profile"]["upper"][place]:
        return ""
    named = asked or query.label.startswith("own ")
    where = query_words(query.label) if named else query.label
    return (
        f" Of the pairs in the table of query points, the one at {where} needs the largest δ: "
        f"{_between(low, high, delta)}."
    )


def _told_apart(trade_off: Raw, claimed: Sequence[float]) -> str:
    """Say what no test of one pair does better than, at a rate where it breaks the claim if any.

    The recorded curve is below the trade-off functions of both directions.
    """
    levels = range(len(trade_off["false_positive"]))
    crossing = [k for k in levels if trade_off["upper"][k] < claimed[k] * (1 - NARROW)]
    level = min(crossing or levels, key=lambda k: abs(trade_off["false_positive"][k] - LEVEL))
    corner, low, high = (
        trade_off["false_positive"][level],
        trade_off["lower"][level],
        trade_off["upper"][level],
    )
    allowed = claimed[level]
    narrow = high - low <= NARROW * high
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


def _table(caption: str, titles: str, curves: Raw) -> TextTable:
    return TextTable.of(
        caption, titles, (tuple(map(plain, row)) for row in zip(*curves.values(), strict=True))
    )
