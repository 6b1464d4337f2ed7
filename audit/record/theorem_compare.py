"""What has become worse from one record of theorems to another, row by row.

A row is compared with itself. Its number is how far the truth is beyond what the statement allows,
at the worst case of either record: as a part of the claim where that is a positive number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.numerics import written
from dpassay.record.comparer import Comparer, Difference, Span, difference, lies_above
from dpassay.record.files import witness_file

Raw = Mapping[str, Any]

STRENGTH = {"error": 0, "inconclusive": 1, "not refuted": 2, "verified": 3}
"""Verdicts that speak for a statement, the strongest last; an error says nothing."""
METHODS = {"search": 0, "certified": 1, "exact": 2}
"""By how much they prove of the cases that they name."""


class TheoremComparer(Comparer):
    """Holds the rows of a record of theorems against those of an older one."""

    schema = "dpassay/theorem-comparison/1"

    def __init__(self, old: Raw, new: Raw, tolerance: float, alpha: float, strict: bool) -> None:
        super().__init__(old, new, tolerance, alpha, strict)
        rows = (*self.before.values(), *self.after.values())
        measured = (row[name] for row in rows for name in ("worst", "witness"))
        self.alpha = max((each["alpha"] for each in measured if each), default=0.0)

    def refuted(self, entry: Raw) -> Difference:
        """Say that a statement is refuted, with what shows it again."""
        found = entry["witness"]
        return difference(
            entry,
            "refuted",
            f"is refuted: {entry['reason']}; {_said(found)}",
            _finite(_beyond(found, entry["relation"])[0]),
            witness=_case(found),
            replay=witness_file(entry["id"]),
        )

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Yield what is different of a row: its texts, its power, its number."""
        texts = {
            name: (old["statement"][name], new["statement"][name])
            for name in ("printed", "hypotheses", "number", "place")
        }
        for name, (was, now) in (texts | {"checks": (old["checks"], new["checks"])}).items():
            if was != now:
                yield difference(new, "reworded", f"{name}: '{now}', and was '{was}'")
        if "error" in (old["verdict"], new["verdict"]):
            return
        if lost := list(_lost(old, new, self.tolerance)):
            yield difference(new, "blinder", "; ".join(lost))
        if old["quantity"] == new["quantity"] and old["relation"] == new["relation"]:
            yield from _moved(old, new, self.tolerance)
        else:
            words = (
                f"holds '{new['quantity']}, {new['relation']}' against the claim, and held "
                f"'{old['quantity']}, {old['relation']}'; the numbers were NOT compared"
            )
            yield difference(new, "repointed", words)


def _lost(old: Raw, new: Raw, tolerance: float) -> Iterator[str]:
    """Say what a check has lost: proof, cases, the strength of its verdict, or power."""
    if METHODS[new["method"]] < METHODS[old["method"]]:
        yield f"{new['method']} instead of {old['method']}"
    if new["cells"] < old["cells"]:
        yield f"cases {new['cells']:,} instead of {old['cells']:,}"
    if STRENGTH.get(new["verdict"], 3) < STRENGTH.get(old["verdict"], 0):
        yield f"{new['verdict']} instead of {old['verdict']}: {new['reason']}"
    one, other = new["worst"], old["worst"]
    if one is None or other is None or one["claimed"] != other["claimed"]:
        return
    seen, could = (
        math.inf if each["detectable"] is None else float(each["detectable"])
        for each in (one, other)
    )
    further = seen - could if new["relation"] == "at most" else could - seen
    if one["alpha"] > 0 < other["alpha"] and further > tolerance * abs(float(one["claimed"])):
        yield f"detectable {written(seen, 4)} instead of {written(could, 4)}"


def _moved(old: Raw, new: Raw, tolerance: float) -> Iterator[Difference]:
    """Say that the number of a row moved by more than the tolerance, and beyond its bounds.

    A number of a statement that is known to be wrong moves either way without a regression.
    """
    one, other, relation = old["worst"], new["worst"], new["relation"]
    if one is None or other is None:
        return
    alike, (was, now) = one["case"] == other["case"], (each["claimed"] for each in (one, other))
    # other libraries round otherwise
    if alike and not math.isclose(float(was), float(now), rel_tol=1e-9, abs_tol=1e-12):
        lax = (float(now) > float(was)) == (relation == "at most")
        words = f"at {_case(other)}: claimed {now}, and was {was}"
        yield difference(new, "weakened" if lax else "tightened", words)
    before, after = (_beyond(each, relation) for each in (one, other))
    margin = max(tolerance, 1e-9)
    rose = lies_above(after, before, margin)
    if rose or lies_above(before, after, margin):
        kind = "moved" if new["expected"] == "refuted" else "rose" if rose else "fell"
        words = (
            f"{new['quantity']}: {_said(other)} ({_case(other)}), and was {_said(one)} "
            f"({_case(other if alike else one)})"
        )
        yield difference(new, kind, words, _finite(after[0]) if kind == "rose" else None)


def _beyond(measured: Raw, relation: str) -> Span:
    """Bound how far the true number is beyond the claimed one, at both ends; below 0 it is not."""
    claimed = float(measured["claimed"])
    apart = [
        0.0 if claimed == true else true - claimed if relation == "at most" else claimed - true
        for true in (float(measured["lower"]), float(measured["upper"]))
    ]
    scale = claimed if 0 < claimed < math.inf else 1.0
    return min(apart) / scale, max(apart) / scale


def _finite(size: float) -> float | None:
    return size if math.isfinite(size) else None


def _said(measured: Raw) -> str:
    low, high = (written(float(measured[name])) for name in ("lower", "upper"))
    true = low if low == high else f"{low} to {high}"
    factor = measured["factor"]
    times = "" if factor is None else f", true / claimed {written(float(factor))}"
    return f"claimed {written(float(measured['claimed']))}, true {true}{times}"


def _case(measured: Raw) -> str:
    return ", ".join(f"{name} = {given}" for name, given in sorted(measured["case"].items()))
