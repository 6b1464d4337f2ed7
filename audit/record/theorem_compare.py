"""What has become worse from one record of theorems to another, row by row.

A row is compared with itself. Its number is how far the truth is beyond what the statement allows,
at the worst case of either record: as a part of the claim where that is a positive number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.numerics import written
from dpassay.record.comparer import Comparer, Difference, Kind
from dpassay.record.files import witness_file

Raw = Mapping[str, Any]
Span = tuple[float, float]

STRENGTH = {"error": 0, "inconclusive": 1, "not refuted": 2, "verified": 3}
"""Verdicts that speak for a statement, the strongest last; an error says nothing."""
METHODS = {"search": 0, "certified": 1, "exact": 2}
"""By how much they prove of the cases that they name."""
WORDED = ("printed", "hypotheses", "number", "place")
"""Texts of a statement."""


class TheoremComparer(Comparer):
    """Holds the rows of a record of theorems against those of an older one."""

    schema = "dpassay/theorem-comparison/1"

    def __init__(self, old: Raw, new: Raw, tolerance: float, alpha: float, strict: bool) -> None:
        super().__init__(old, new, tolerance, alpha, strict)
        measured = (
            row[name]
            for rows in (self.before, self.after)
            for row in rows.values()
            for name in ("worst", "witness")
        )
        self.alpha = max((each["alpha"] for each in measured if each), default=0.0)

    def came(self, entry: Raw) -> Iterator[Difference]:
        """Say that a row is new."""
        yield from _own(entry)
        yield _change(entry, "new", f"was not checked before; it is {entry['verdict']}")

    def went(self, entry: Raw) -> Difference:
        """Say that a row is gone."""
        return _change(entry, "vanished", f"is not checked any more; it was {entry['verdict']}")

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Say what is different of a row."""
        own = list(_own(new))
        yield from own
        if not own and any(_own(old)):
            yield _change(new, "recovered", f"is {new['verdict']}, and was {old['verdict']}")
        texts = [(name, old["statement"][name], new["statement"][name]) for name in WORDED]
        for name, before, after in (*texts, ("checks", old["checks"], new["checks"])):
            if before != after:
                yield _change(new, "reworded", f"{name}: '{after}', and was '{before}'")
        if "error" in (old["verdict"], new["verdict"]):
            return
        yield from _blinder(old, new, self.tolerance)
        if old["quantity"] != new["quantity"] or old["relation"] != new["relation"]:
            words = (
                f"holds '{new['quantity']}, {new['relation']}' against the claim, and held "
                f"'{old['quantity']}, {old['relation']}'; the numbers were NOT compared"
            )
            yield _change(new, "repointed", words)
            return
        yield from _moved(old, new, self.tolerance)


def _own(row: Raw) -> Iterator[Difference]:
    """Return what is to be said whatever was before: no baseline excuses it."""
    if row["verdict"] == "refuted" and row["expected"] is None:
        yield Difference(
            id=row["id"],
            mechanism=row["id"],
            kind="refuted",
            words=f"is refuted: {row['reason']}; {_said(row['witness'])}",
            witness=_case(row["witness"]),
            replay=witness_file(row["id"]),
            size=_finite(_beyond(row["witness"], row["relation"])[0]),
        )
    elif row["verdict"] == "error":
        yield _change(row, "failed", f"could not be checked: {row['reason']}")
    elif row["expected"] == "refuted" != row["verdict"]:
        yield _change(
            row, "failed", f"is known to be wrong and is {row['verdict']}: the check is blind"
        )


def _blinder(old: Raw, new: Raw, tolerance: float) -> Iterator[Difference]:
    """Say what a check has lost: cases, proof, power, or the strength of its verdict."""
    lost = []
    if METHODS[new["method"]] < METHODS[old["method"]]:
        lost.append(f"{new['method']} instead of {old['method']}")
    if new["cells"] < old["cells"]:
        lost.append(f"cases {new['cells']:,} instead of {old['cells']:,}")
    if STRENGTH.get(new["verdict"], 3) < STRENGTH.get(old["verdict"], 0):
        lost.append(f"{new['verdict']} instead of {old['verdict']}: {new['reason']}")
    lost += _power(old["worst"], new["worst"], new["relation"], tolerance)
    if lost:
        yield _change(new, "blinder", "; ".join(lost))


def _power(old: Raw | None, new: Raw | None, relation: str, tolerance: float) -> Iterator[str]:
    """Say that a violation of the same case must be larger to be detected."""
    if old is None or new is None or old["claimed"] != new["claimed"]:
        return
    seen, could = (
        math.inf if each["detectable"] is None else float(each["detectable"]) for each in (new, old)
    )
    sampled = new["alpha"] > 0 and old["alpha"] > 0
    further = seen - could if relation == "at most" else could - seen
    if sampled and further > tolerance * abs(float(new["claimed"])):
        yield f"detectable {written(seen, 4)} instead of {written(could, 4)}"


def _moved(old: Raw, new: Raw, tolerance: float) -> Iterator[Difference]:
    """Say that the number of a row moved by more than the tolerance, and beyond its bounds.

    A number of a statement that is known to be wrong moves either way without a regression.
    """
    one, other = old["worst"], new["worst"]
    if one is None or other is None:
        return
    if one["case"] == other["case"] and not _same(one["claimed"], other["claimed"]):
        lax = (float(other["claimed"]) > float(one["claimed"])) == (new["relation"] == "at most")
        words = f"at {_case(other)}: claimed {other['claimed']}, and was {one['claimed']}"
        yield _change(new, "weakened" if lax else "tightened", words)
    before, after = (_beyond(each, new["relation"]) for each in (one, other))
    kind: Kind
    if _above(after, before, tolerance):
        kind = "rose"
    elif _above(before, after, tolerance):
        kind = "fell"
    else:
        return
    if new["expected"] == "refuted":
        kind = "moved"
    where = _case(other)
    was = where if one["case"] == other["case"] else _case(one)
    words = f"{new['quantity']}: {_said(other)} ({where}), and was {_said(one)} ({was})"
    yield _change(new, kind, words, _finite(after[0]) if kind == "rose" else None)


def _same(one: float | str, other: float | str) -> bool:
    """Return whether two recorded numbers are equal, but for the rounding of other libraries."""
    return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)


def _beyond(measured: Raw, relation: str) -> Span:
    """Bound how far the true number is beyond the claimed one, at both ends; below 0 it is not."""
    claimed = float(measured["claimed"])
    apart = [
        0.0 if claimed == true else true - claimed if relation == "at most" else claimed - true
        for true in (float(measured["lower"]), float(measured["upper"]))
    ]
    scale = claimed if 0 < claimed < math.inf else 1.0
    return min(apart) / scale, max(apart) / scale


def _above(one: Span, other: Span, tolerance: float) -> bool:
    """Return whether a number lies above another for certain, and by more than the tolerance."""
    return one[0] > other[1] and one[0] - other[0] > max(tolerance, 1e-9)


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


def _change(row: Raw, kind: Kind, words: str, size: float | None = None) -> Difference:
    return Difference(id=row["id"], mechanism=row["id"], kind=kind, words=words, size=size)
