"""The privacy profile of a result's worst query point: curves for the plot, tables, and two sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.documents import percent
from dpassay.reports.numbers import plain
from dpassay.reports.tables import QueryView, Table

Raw = Mapping[str, Any]

NARROW = 1e-4
"""A band is shown as one number where it is no wider than this part of itself."""
LEVEL = 0.05
"""False positive rate that the sentence speaks of: the recorded one next to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileView:
    """What is known of delta(epsilon) and of the trade-off function at one query point.

    Parameters
    ----------
    label : str
        The query point.
    profile, trade_off : dict of str to list of float
        The curves, as `profile_plot` takes them.
    epsilon, delta : float
        The claim.
    words : tuple of str
    tables : tuple of Table
        The same numbers.
    """

    label: str
    profile: dict[str, Sequence[float]]
    trade_off: dict[str, Sequence[float]]
    epsilon: float
    delta: float
    words: tuple[str, ...]
    tables: tuple[Table, ...]


def profile_view(result: Raw, queries: Sequence[QueryView]) -> ProfileView | None:
    """Return the profile of the query point of the largest loss; None where the claim has none."""
    known = [(query, cell["profile"]) for query, cell in zip(queries, result["per_query"], strict=True) if cell["profile"]]
    if not known:
        return None
    query, found = max(known, key=lambda each: (each[0].size, each[0].upper))
    profile = {name: found[name] for name in ("epsilon", "lower", "upper")}
    trade_off = {
        "false_positive": found["false_positive"],
        "lower": found["trade_off_lower"],
        "upper": found["trade_off_upper"],
    }
    epsilon, delta = result["claim"]["epsilon"], result["claim"]["delta"]
    return ProfileView(
        label=query.label,
        profile=profile,
        trade_off=trade_off,
        epsilon=epsilon,
        delta=delta,
        words=_words(query.label, profile, trade_off, epsilon, delta, found["alpha"]),
        tables=(
            _table("Privacy profile", ("ε", "δ(ε) at least", "δ(ε) at most"), profile),
            _table("Trade-off function", ("false positives", "false negatives at least", "at most"), trade_off),
        ),
    )


def _words(label: str, profile: Raw, trade_off: Raw, epsilon: float, delta: float, alpha: float) -> tuple[str, ...]:
    nearest = min(range(len(profile["epsilon"])), key=lambda k: abs(profile["epsilon"][k] - epsilon))
    level = min(range(len(trade_off["false_positive"])), key=lambda k: abs(trade_off["false_positive"][k] - LEVEL))
    held = "" if alpha == 0 else f" (the whole band is wrong with a probability of at most {plain(alpha)})"
    corner = trade_off["false_positive"][level]
    allowed = max(0.0, 1 - delta - math.exp(min(epsilon, 700.0)) * corner, math.exp(-epsilon) * (1 - delta - corner))
    asked = f"At query {label} δ({plain(profile['epsilon'][nearest])}) is {_between(profile, nearest, delta)}{held}"
    told = f"Whoever tells S from S' by one answer with {percent(round(corner, 4))} false positives has a false negative rate of"
    return (
        f"{asked}; the claim allows {plain(delta)}.",
        f"{told} {_between(trade_off, level, allowed)} at best; the claim promises at least {plain(allowed)}.",
    )


def _between(curves: Raw, k: int, promised: float) -> str:
    """Write a band at one place; where it is as narrow as a rounding one number, the promised one if that may be it."""
    low, high = curves["lower"][k], curves["upper"][k]
    if high - low > max(NARROW * high, 1e-12):
        return f"between {plain(low)} and {plain(high)}"
    return plain(promised if low <= promised <= high else (low + high) / 2)


def _table(caption: str, columns: tuple[str, ...], curves: Raw) -> Table:
    rows = tuple(tuple(map(plain, row)) for row in zip(*curves.values(), strict=True))
    return Table(caption=caption, columns=columns, numeric=(True,) * len(columns), rows=rows)
