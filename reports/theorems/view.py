"""What a record of theorems says, as finished texts: one view, every format."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpassay.reports.shared.numbers import MISSING, clean, plain, plural, value
from dpassay.reports.shared.statuses import Status, status_of
from dpassay.reports.theorems.statements import NAMES, role

Raw = Mapping[str, Any]

CAVEAT = (
    "'Verified' and 'refuted' are proven, or certified at 99.9 % for the whole run; 'verified' "
    "speaks of the named cases only, and 'not refuted' of what a search or a sample has seen."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """One row as finished texts; numbers are those of its worst case."""

    status: Status
    key: str
    paper: str
    number: str
    place: str
    printed: str
    hypotheses: str
    checks: str
    quantity: str
    method: str
    domain: str
    derivation: str
    reason: str
    cells: str
    claimed: str
    found: str
    factor: str
    witness: str
    role: str
    plot: str


def rows_of(record: Raw, *, drawn: bool = False) -> tuple[RowView, ...]:
    """Return rows worst first, by status, then distance from the claim; growth drawn if asked."""
    ranked = sorted(record["results"], key=lambda each: (status_of(each).rank, -_excess(each)))
    return tuple(_view(result, drawn=drawn) for result in ranked)


def _excess(result: Raw) -> float:
    """Return how many times as much as is claimed is true, of a lower bound the inverse."""
    factor = None if result["worst"] is None else value(result["worst"]["factor"])
    if factor is None:
        return -math.inf
    if result["relation"] == "at most":
        return factor
    return 1 / factor if factor > 0 else math.inf


def headline(record: Raw) -> str:
    """Say in one line what came out."""
    results = record["results"]
    refuted = [each for each in results if each["verdict"] == "refuted"]
    new = sum(each["expected"] is None for each in refuted)
    said = f"{plural(len(results), 'check')}: {len(refuted)} refuted"
    said += f", {new} of them unexpectedly" if new else ", all known to be wrong" if refuted else ""
    return said if record["run"]["complete"] else f"{said}; interrupted"


def _view(result: Raw, *, drawn: bool) -> RowView:
    statement, worst = result["statement"], result["worst"]
    return RowView(
        status=status_of(result),
        key=clean(result["id"]),
        **{
            name: clean(statement[name])
            for name in ("paper", "number", "place", "printed", "hypotheses")
        },
        **{
            name: clean(result[name])
            for name in ("checks", "quantity", "method", "domain", "reason")
        },
        derivation=clean(result["derivation"] or ""),
        cells=f"{result['cells']:,}",
        claimed=MISSING
        if worst is None
        else f"{clean(result['relation'])} {_number(worst['claimed'])}",
        found=MISSING if worst is None else _between(worst),
        factor=MISSING if worst is None or worst["factor"] is None else _number(worst["factor"]),
        witness=_witness(result["witness"]),
        role=NAMES[role(result)][0] if role(result) in NAMES else "",
        plot=_plot(result) if drawn else "",
    )


def _plot(result: Raw) -> str:
    """Draw a growth; empty for rows that are about none."""
    if result.get("series") is None:
        return ""
    from dpassay.reports.theorems.figure import growth_plot

    return growth_plot(result, "plot-" + re.sub(r"[^a-z0-9]+", "-", result["id"]))


def _number(recorded: float | str) -> str:
    number = value(recorded)
    assert number is not None
    return plain(number)


def _between(measured: Raw) -> str:
    low, high = _number(measured["lower"]), _number(measured["upper"])
    return low if low == high else f"{low} to {high}"


def _witness(measured: Raw | None) -> str:
    if measured is None:
        return ""
    case = ", ".join(f"{name} = {given}" for name, given in sorted(measured["case"].items()))
    return clean(f"{case}: claimed {_number(measured['claimed'])}, true {_between(measured)}")
