"""Reports of the self-test: a table for the terminal, one HTML page with figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.reports.shared.numbers import MISSING, clean, plural
from dpassay.reports.shared.statuses import REFUTED, VERIFIED, Status
from dpassay.reports.shared.tables import TextTable
from dpassay.reports.shared.templating import page
from dpassay.reports.shared.terminal import print_table, say

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]

OK = replace(VERIFIED, word="ok", symbol="●", meaning="The number keeps its limit.")
FAILED = replace(REFUTED, word="FAILED", meaning="The number breaks its limit.")
GROUPS = {
    "error": "Exact error of the certified tests",
    "calibration": "False alarms of whole audits",
    "sight": "Leaks that must be seen",
    "golden": "Known numbers",
    "replay": "Seeds",
}
CAVEAT = (
    "Errors and exact losses are enumerated or computed. Audits are simulated, which can only "
    "raise an alarm: a check that hangs on random numbers fails by accident for at most one seed "
    "in a hundred. Try another --seed before you blame the harness."
)
CAPTIONS = {
    "error": (
        "The probability that a test refutes a claim which holds, at its worst over all pairs of "
        "probabilities that keep the claim. Filled: δ = 0; open: δ > 0. No mark may be above the "
        "dashed line."
    ),
    "calibration": (
        "Whole audits, at 95 % confidence, of mechanisms that leak exactly what they claim: how "
        "many had a bound on the wrong side of the truth. The shaded region is what an error of 5 "
        "% stays in with probability 99 %; the tick is 5 %."
    ),
    "sight": (
        "How often audits refute mechanisms that lose more than they claim. Marks: audits, exact "
        "95 % intervals; lines: the power that a plan promises for each test; the diamond is at "
        "the loss that an audit calls detectable."
    ),
}
SIGNS = {"at most": "≤", "at least": "≥"}
COLUMNS = {
    "error": ("method", "n", "epsilon", "delta", "attained", "at_most", "p1", "p0"),
    "calibration": ("claim", "runs", "refuted", "upper_missed"),
    "sight": ("factor", "runs", "refuted", "rate", "low", "high", "expected", "least", "most"),
    "power": ("method", "factor", "power", "exact"),
}
TITLES = {
    "method": "test",
    "epsilon": "ε",
    "delta": "δ",
    "attained": "error found",
    "at_most": "at most",
    "upper_missed": "upper bound missed",
    "low": "95 % from",
    "high": "to",
    "factor": "loss / claim",
    "expected": "enumerated power",
    "least": "least allowed",
    "most": "most allowed",
    "power": "promised power",
    "exact": "enumerated power",
}


class CheckView(NamedTuple):
    """One check as finished texts."""

    status: Status
    group: str
    name: str
    what: str
    found: str
    limit: str


def view_of(document: Raw) -> list[CheckView]:
    """Return the checks in their order, those that failed first."""
    views = [
        CheckView(
            OK if check["passed"] else FAILED,
            GROUPS[check["group"]],
            clean(check["name"]),
            clean(check["what"]),
            short(check["value"]),
            f"{SIGNS[check['relation']]} {short(check['limit'])}",
        )
        for check in document["checks"]
    ]
    return sorted(views, key=lambda view: view.status.rank)


def headline(document: Raw) -> str:
    """Say in one line what came out."""
    failed = sum(not check["passed"] for check in document["checks"])
    total = plural(len(document["checks"]), "check")
    return (
        f"{total}, all ok"
        if document["passed"]
        else f"{failed} of {total} FAILED: do not trust the harness here"
    )


def short(value: Any) -> str:
    """Write a number with four significant digits, a text as it is, a dash for nothing."""
    if value is None:
        return MISSING
    return f"{value:.4g}" if isinstance(value, float) else clean(value)


def table_of(kind: str, caption: str, points: Sequence[Raw]) -> TextTable:
    """Put the numbers behind a figure into a table."""
    columns = COLUMNS[kind]
    titles = [
        TITLES.get(column, column) + ":" * (column not in {"method", "claim"}) for column in columns
    ]
    rows = (tuple(short(point.get(column)) for column in columns) for point in points)
    return TextTable.of(caption, titles, rows)


def print_checks(document: Raw, console: Console) -> None:
    """Print the headline, a row per check and what a failed one means, for 80 columns or more."""
    views = view_of(document)
    say(console, headline(document), "bold")
    rows = (
        (f"{each.status.symbol} {each.status.word}", each.name, each.found, each.limit)
        for each in views
    )
    styles = tuple("green" if each.status is OK else "bold red" for each in views)
    print_table(console, TextTable.of("", "status | check | found: | limit:", rows), styles)
    for each in views:
        if each.status is FAILED:
            say(console, f"{each.name}: {each.what}")
    say(console, CAVEAT)


def to_html(document: Raw) -> str:
    """Write what `dpassay selftest --json` prints as one HTML page; equal input, equal bytes."""
    from dpassay.reports.selftest.plots import calibration_plot, error_plot, power_plot

    points_of: dict[str, list[Raw]] = {group: [] for group in GROUPS}
    for check in document["checks"]:
        points_of[check["group"]] += check["points"]
    errors, alarms, leaks = (points_of[group] for group in ("error", "calibration", "sight"))
    figures = []
    for n in sorted({point["n"] for point in errors}):
        title = f"Exact error, {n} trials a side"
        points = [point for point in errors if point["n"] == n]
        tables = [table_of("error", title, points)]
        figures.append((title, CAPTIONS["error"], error_plot(points), tables))
    if alarms:
        tables = [table_of("calibration", "False alarms", alarms)]
        figures.append(("False alarms", CAPTIONS["calibration"], calibration_plot(alarms), tables))
    seen = [point for point in leaks if point["kind"] != "predicted"]
    curve = [point for point in leaks if point["kind"] == "predicted"]
    if seen:
        tables = [
            table_of("sight", "Audits of mechanisms that leak", seen),
            table_of("power", "Power of a certified cell", curve),
        ]
        figures.append(("Power", CAPTIONS["sight"], power_plot(seen, curve), tables))
    facts = dict(document["facts"])
    return page(
        "selftest",
        lead=headline(document),
        origin=("dpassay self-test",),
        checks=view_of(document),
        caveat=CAVEAT,
        figures=figures,
        command=facts.pop("command"),
        facts=facts.items(),
    )
