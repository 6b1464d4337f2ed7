"""The page and the terminal table of a comparison of mechanisms, with its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpassay.numerics import DOWN, UP, written
from dpassay.promise import SINGLE
from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIM, FAINT, PALETTE, Look
from dpassay.reports.shared.numbers import MISSING, clean, plural
from dpassay.reports.shared.tables import TextTable
from dpassay.reports.shared.templating import page
from dpassay.reports.shared.terminal import print_table, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import Console

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
SHORT = ("mechanism", "claims ε", "accuracy", "loses", "best guess")
"""Columns that a terminal of 80 columns has room for, without what stands in brackets."""
LINES = 20
"""Of names that the picture has room for, one below the other."""
EXACT, SAMPLED, REFUTED = "computed", "at least (sampled)", "loses more than ε"
KINDS = {
    EXACT: Look(PALETTE["verified"], marker="o"),
    SAMPLED: Look(PALETTE["held"], marker=">"),
    REFUTED: Look(PALETTE["refuted"], marker="^", size=6.4),
}


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


def to_html(document: Raw, costs: Raw) -> str:
    """Write a comparison as one self-contained HTML page; equal arguments give equal bytes.

    `costs` are seconds, by the `key_of` a row.
    """
    lead, *others = headlines(document)
    data, points = document["data"], points_of(document)
    plot = ""
    if points or document["complete"]:  # it may have been interrupted before the first mechanism
        without, majority = (_baseline(document, name) for name in ("non-private", "majority"))
        plot = frontier_plot(points, without, majority)
    return page(
        "frontier",
        lead=lead,
        origin=(f"dpassay compare-mechanisms: {data['name']}, {data['records']:,} records",),
        headlines=others,
        warnings=warnings(document),
        caveat=CAVEAT,
        plot=plot,
        table=table_of(document, costs),
        document=document,
    )


def print_comparison(document: Raw, costs: Raw, console: Console) -> None:
    """Print the headlines, what is wrong, and one row per mechanism."""
    for line in headlines(document):
        say(console, line, "bold")
    for line in warnings(document):
        say(console, line)
    table = table_of(document, costs).only(SHORT)
    rows = tuple(tuple(cell.partition(" (")[0] for cell in row) for row in table.rows)
    print_table(console, replace(table, rows=rows))
    say(console, CAVEAT)


def points_of(document: Raw) -> tuple[Point, ...]:
    """Return the mechanisms that were measured, the most accurate first."""
    found = [
        Point(
            name=row["name"],
            epsilon=row["epsilon"],
            accuracy=_accuracy(row),
            loss=float(row["leak"]["worst"]) if _audited(row) else None,
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
    best, lost = held[0], "what it loses was not computed"
    behind = 100 * (_baseline(document, "non-private") - best.accuracy[0])
    if best.loss is not None:
        how = "exactly" if best.exact else "at least"
        lost = f"its worst examined record loses {how} {written(best.loss, 3, DOWN)}"
    right = f"{best.name} answers {_percent(best.accuracy[0])} right"
    return f"{right}, {behind:.1f} points behind no privacy; {lost}"


def warnings(document: Raw) -> tuple[str, ...]:
    """Say what is missing, what loses more than the ε that was asked for, and what failed."""
    told, rows = [], [row for row in document["rows"] if "epsilon" in row]
    if not document["complete"]:
        names = ", ".join(
            f"{row['name']} at ε = {row['epsilon']:g}" if "epsilon" in row else row["name"]
            for row in document["missing"]
        )
        told.append(f"The comparison was interrupted and is incomplete. Missing: {names}.")
    told += [
        f"{WRONG} {row['name']} at ε = {row['epsilon']:g} loses "
        f"{written(float(row['leak']['anywhere']), 3, DOWN)}: do not use it at this budget"
        for row in rows
        if _refuted(row)
    ]
    for row in rows:
        why = str(row.get("error") or row.get("leak", {}).get("why", ""))
        told += [f"{row['name']}: error: {clean(why)}"] if why else []
    return tuple(told)


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
    """Return a row of the table: what is claimed, how accurate it is, what is lost, the cost."""
    leak, auc = row.get("leak"), row.get("membership")
    claimed, lost = (MISSING,) * 2, (MISSING,) * 4
    if leak is not None:
        claim = leak["claim"]
        delta = f", δ = {claim['delta']:g}" if claim["delta"] else ""
        answers = "one" if claim["unit"] == SINGLE else "any number"
        claimed = f"{claim['epsilon']:.4g}{delta}", answers
    if leak is not None and leak["verdict"] not in UNKNOWN:
        worst, median, anywhere = (
            f"{'= ' if leak['exact'] else '≥ '}{written(float(leak[key]), 3, DOWN)}"
            for key in ("worst", "median", "anywhere")
        )
        if leak["detectable"] is not None:
            worst += f" (would see {written(float(leak['detectable']), 3, UP)})"
        guess = MISSING if leak["guess"] is None else _percent(leak["guess"])
        lost = worst, median, anywhere, guess
    mean, low, high = _accuracy(row)
    return (
        f"{WRONG} {row['name']}" if _refuted(row) else row["name"],
        *claimed,
        f"{_percent(mean)} ({100 * low:.1f} to {100 * high:.1f})",
        f"{100 * row['behind']['mean']:+.1f}" if "behind" in row else MISSING,
        *lost,
        MISSING if auc is None else f"{auc['auc']:.3f} ({auc['chance']:.3f})",
        *(
            f"{cost[each]:.2g} s" if each in cost else MISSING
            for each in ("training", "thousand_answers")
        ),
    )


def _accuracy(row: Raw) -> tuple[float, float, float]:
    found = row["accuracy"]
    return found["mean"], max(0.0, found["low"]), min(1.0, found["high"])


def _refuted(row: Raw) -> bool:
    if not _audited(row):
        return False
    beyond = float(row["leak"]["anywhere"]) > row["epsilon"] * (1 + 1e-9)
    return bool(beyond or row["leak"]["verdict"] == "refuted")


def _audited(row: Raw) -> bool:
    return "leak" in row and row["leak"]["verdict"] not in UNKNOWN


def _baseline(document: Raw, name: str) -> float:
    """Return the accuracy of a baseline."""
    return float(next(row["accuracy"]["mean"] for row in document["rows"] if row["name"] == name))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def frontier_plot(points: Sequence[Point], private: float, majority: float) -> str:
    """Draw every mechanism at its loss and accuracy as SVG, and join those that nothing beats.

    Dashed lines are the accuracies without privacy, and of the majority label.
    """
    best = frontier(points)
    with chart.drawing(4, left=0.8, foot=0.4, across=chart.WIDE) as (axes,):
        for kind, look in KINDS.items():
            chart.marks(axes, _places([each for each in points if _kind(each) == kind]), look, kind)
        chart.line(axes, _places(best), Look(width=0.9), "frontier")
        for height, text in ((private, "no privacy"), (majority, "majority label")):
            chart.rule(axes, 100 * height, Look(CLAIM, "--", width=0.8))
            at = 1, 100 * height
            axes.text(*at, text, transform=axes.get_yaxis_transform(), ha="right", va="bottom")
        names = "loss of one answer at the worst examined pair, in nats", "accuracy, %"
        chart.frame(axes, names=names)
        axes.set_xlim(left=0)
        _write_names(axes, best)
        told = ", ".join(f"{each.name} at ε = {each.epsilon:g}" for each in best)
        return chart.svg(
            axes,
            name="plot-frontier",
            title="Accuracy against loss",
            description=f"On the frontier: {told}. The table has the same numbers.",
        )


def _places(points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return losses and accuracies in per cent of those that were audited."""
    return [(each.loss, 100 * each.accuracy[0]) for each in points if each.loss is not None]


def _kind(point: Point) -> str:
    return REFUTED if point.refuted else EXACT if point.exact else SAMPLED


def _write_names(axes: Axes, best: Sequence[Point]) -> None:
    """Write the names of the frontier beside its points, one below the other where they crowd."""
    bottom, top = axes.get_ylim()
    right, line = axes.get_xlim()[1], (top - bottom) / LINES
    height = top
    for each, (loss, accuracy) in reversed(list(zip(best, _places(best), strict=True))):
        height = min(accuracy + line / 3, height - line)
        axes.annotate(
            f"{each.name}, ε = {each.epsilon:g}",
            (loss, accuracy),
            xytext=(loss + right / 50, height),
            va="center",
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.5},
        )
