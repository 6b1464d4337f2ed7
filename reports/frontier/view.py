"""What a comparison of mechanisms says: the headline, the rows, the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.numerics import DOWN, UP, written
from dpassay.promise import SINGLE
from dpassay.reports.shared.numbers import MISSING, clean, plural
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]

WRONG = "▲"
UNKNOWN = ("error", "not audited")
"""Verdicts without numbers."""
CAVEAT = (
    "These numbers were computed from the data without privacy. Compare on public data, or on data "
    "of the same kind, if the choice itself is to reveal nothing."
)
TITLES = (
    "mechanism | claims ε: | answers | accuracy: | behind: | loses: | median: | worst case: | "
    "best guess: | AUC: | training: | 1,000 answers:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One mechanism at one loss."""

    name: str
    epsilon: float  # asked for
    accuracy: tuple[float, float, float]  # mean and 95 % interval
    # of one answer at the worst pair, exact or a lower bound; None if not audited
    loss: float | None
    exact: bool
    refuted: bool  # whether it loses more than the ε that it was built for


def points_of(document: Raw) -> tuple[Point, ...]:
    """Return the mechanisms that were measured, the most accurate first."""
    found = [
        Point(
            name=row["name"],
            epsilon=row["epsilon"],
            accuracy=_accuracy(row),
            loss=_number(row["leak"]["worst"]) if _audited(row) else None,
            exact=row["leak"]["exact"],
            refuted=_refuted(row),
        )
        for row in document["rows"]
        if "leak" in row and row["leak"]["verdict"] != "error"
    ]
    return tuple(sorted(found, key=lambda each: -each.accuracy[0]))


def frontier(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return those that nothing beats: no other is more accurate and loses no more.

    What loses more than the ε that was asked for, and what was only sampled, is on no frontier: a
    lower bound does not say how little is lost.
    """
    known = [
        (each.loss, -each.accuracy[0], k)
        for k, each in enumerate(points)
        if each.loss is not None and each.exact and not each.refuted
    ]
    best: list[Point] = []
    for _, accuracy, k in sorted(known):
        if not best or -accuracy > best[-1].accuracy[0]:
            best.append(points[k])
    return tuple(best)


def headlines(document: Raw) -> tuple[str, ...]:
    """Say for each loss which mechanism is the most accurate, and what that costs."""
    losses = dict.fromkeys(row["epsilon"] for row in document["rows"] if "epsilon" in row)
    if not losses:
        return ("Nothing was compared: interrupted",)
    short = {row.get("epsilon") for row in document["missing"]}
    return tuple(
        f"ε = {epsilon:g}: {_best(document, epsilon)}"
        f"{'; the comparison is incomplete' if epsilon in short else ''}"
        for epsilon in losses
    )


def _best(document: Raw, epsilon: float) -> str:
    """Say which mechanism is the most accurate at a loss."""
    held = [each for each in points_of(document) if each.epsilon == epsilon and not each.refuted]
    if not held:
        return "no mechanism loses at most that"
    best, reached = held[0], _row(document, "non-private")["accuracy"]["mean"]
    return (
        f"{best.name} answers {_percent(best.accuracy[0])} right, "
        f"{100 * (reached - best.accuracy[0]):.1f} points behind no privacy; {_worst(best)}"
    )


def _worst(point: Point) -> str:
    if point.loss is None:
        return "what it loses was not computed"
    how = "exactly" if point.exact else "at least"
    return f"its worst examined record loses {how} {written(point.loss, 3, DOWN)}"


def warnings(document: Raw) -> tuple[str, ...]:
    """Say what is missing, what loses more than the ε that was asked for, and what failed."""
    rows = [row for row in document["rows"] if "epsilon" in row]
    wrong = [row for row in rows if _refuted(row)]
    told = [
        f"{WRONG} {row['name']} at ε = {row['epsilon']:g} loses "
        f"{written(_number(row['leak']['anywhere']), 3, DOWN)}: do not use it at this budget"
        for row in wrong
    ]
    failed = [f"{row['name']}: error: {clean(_why(row))}" for row in rows if _why(row)]
    return (*_missing(document), *told, *failed)


def _missing(document: Raw) -> tuple[str, ...]:
    """Say that a comparison was interrupted, and which rows it has not."""
    if document["complete"]:
        return ()
    names = ", ".join(
        f"{row['name']} at ε = {row['epsilon']:g}" if "epsilon" in row else row["name"]
        for row in document["missing"]
    )
    return (f"The comparison was interrupted and is incomplete. Missing: {names}.",)


def table_of(document: Raw, costs: Raw) -> TextTable:
    """Return one row per mechanism and loss, the most accurate first; baselines at the end."""
    rows = document["rows"]
    private = sorted(
        (row for row in rows if "epsilon" in row and "accuracy" in row),
        key=lambda row: -row["accuracy"]["mean"],
    )
    caption = (
        f"{plural(document['splits'], 'split')}; accuracy with 95 % intervals over them, "
        "estimates. 'Loses' and 'median': loss of one answer in nats at the worst examined "
        "pair, over the query points; = computed, ≥ sampled, beside the loss that the trials "
        "would have seen. 'Worst case': with the mechanism's own worst pairs, which need not "
        "be of these data. 'Best guess': chance to tell the worst pair apart by one answer, "
        "50 % if nothing leaks. 'AUC': the better of two membership attacks by one answer per "
        "record; an estimate, beside what chance reaches. "
        f"Seconds of processor time. {WRONG} loses more than the budget ε."
    )
    in_order = (*private, *(row for row in rows if "epsilon" not in row))
    cells = (_cells(row, costs.get(key_of(row), {})) for row in in_order)
    return TextTable.of(caption, TITLES, cells)


def key_of(row: Raw) -> str:
    """Return what the costs of a row are kept under."""
    return f"{row['name']} {row['epsilon']:g}" if "epsilon" in row else str(row["name"])


def _cells(row: Raw, cost: Raw) -> tuple[str, ...]:
    leak, auc = row.get("leak"), row.get("membership")
    mark = f"{WRONG} " if _refuted(row) else ""
    behind = f"{100 * row['behind']['mean']:+.1f}" if "behind" in row else MISSING
    first = (f"{mark}{row['name']}", *_claimed(leak), _shown(row), behind)
    seconds = tuple(
        f"{cost[each]:.2g} s" if each in cost else MISSING
        for each in ("training", "thousand_answers")
    )
    chance = MISSING if auc is None else f"{auc['auc']:.3f} ({auc['chance']:.3f})"
    return (*first, *_lost(leak), chance, *seconds)


def _claimed(leak: Raw | None) -> tuple[str, str]:
    if leak is None:
        return MISSING, MISSING
    claim = leak["claim"]
    delta = f", δ = {claim['delta']:g}" if claim["delta"] else ""
    return f"{claim['epsilon']:.4g}{delta}", ("one" if claim["unit"] == SINGLE else "any number")


def _lost(leak: Raw | None) -> tuple[str, str, str, str]:
    if leak is None or leak["verdict"] in UNKNOWN:
        return MISSING, MISSING, MISSING, MISSING
    sign = "= " if leak["exact"] else "≥ "
    guess, seen = leak["guess"], leak["detectable"]
    would = "" if seen is None else f" (would see {written(_number(seen), 3, UP)})"
    return (
        f"{sign}{written(_number(leak['worst']), 3, DOWN)}{would}",
        f"{sign}{written(_number(leak['median']), 3, DOWN)}",
        f"{sign}{written(_number(leak['anywhere']), 3, DOWN)}",
        MISSING if guess is None else _percent(guess),
    )


def _accuracy(row: Raw) -> tuple[float, float, float]:
    found = row["accuracy"]
    return found["mean"], max(0.0, found["low"]), min(1.0, found["high"])


def _shown(row: Raw) -> str:
    mean, low, high = _accuracy(row)
    return f"{_percent(mean)} ({100 * low:.1f} to {100 * high:.1f})"


def _refuted(row: Raw) -> bool:
    if not _audited(row):
        return False
    leak = row["leak"]
    beyond = _number(leak["anywhere"]) > row["epsilon"] * (1 + 1e-9)
    return bool(beyond or leak["verdict"] == "refuted")


def _audited(row: Raw) -> bool:
    return "leak" in row and row["leak"]["verdict"] not in UNKNOWN


def _why(row: Raw) -> str:
    return str(row.get("error") or row.get("leak", {}).get("why", ""))


def _row(document: Raw, name: str) -> Raw:
    found: Raw = next(row for row in document["rows"] if row["name"] == name)
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _number(value: float | str) -> float:
    return float(value)
