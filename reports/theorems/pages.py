"""A run of theorems as a table for the terminal, one HTML page, and JUnit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.reports import Format, late
from dpassay.reports.shared import chart
from dpassay.reports.shared.chart import CLAIMED, PALETTE, Look
from dpassay.reports.shared.junit import JUnitCase, alarm, junit
from dpassay.reports.shared.numbers import MISSING, clean, plain, plural, value
from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    HELD,
    INCONCLUSIVE,
    VERIFIED,
    Status,
    status_of,
)
from dpassay.reports.shared.templating import page

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]


FAILS, FAILS_AT_AN_END, UNKNOWN, HOLDS = "fail", "end", "unknown", "hold"
NAMES = {
    "reading": ("reading", "readings"),
    "end": ("end of a range", "ends of ranges"),
    "step": ("step of a proof", "steps of proofs"),
}
"""What a check is of, if not of a statement as printed; one and several."""
PRINTED = {"lambda_": "λ", "alpha": "α", "epsilon": "ε", "gamma": "γ", "bins": "1/h"}
"""Letters of the parameters that a growth goes along."""
TOLD = ("checks", "quantity", "method", "domain", "reason")
CAVEAT = (
    "'Verified' and 'refuted' are proven, or certified at 99.9 % for the whole run; 'verified' "
    "speaks of the named cases only, and 'not refuted' of what a search or a sample has seen."
)


class TheoremRow(NamedTuple):
    """One row as finished texts; numbers are those of its worst case."""

    status: Status
    key: str
    told: Mapping[str, str]  # what the statement and the check of it say, by the record's names
    cells: str
    claimed: str
    found: str
    factor: str
    witness: str
    role: str
    plot: str


def rows_of(record: Raw, *, drawn: bool = False) -> tuple[TheoremRow, ...]:
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


def _view(result: Raw, *, drawn: bool) -> TheoremRow:
    worst, said = result["worst"], {name: result[name] for name in TOLD} | result["statement"]
    said["derivation"] = result["derivation"] or ""
    claimed = found = factor = MISSING
    if worst is not None:
        claimed, found = f"{clean(result['relation'])} {_number(worst['claimed'])}", _between(worst)
        factor = MISSING if worst["factor"] is None else _number(worst["factor"])
    return TheoremRow(
        status=status_of(result),
        key=clean(result["id"]),
        told={name: clean(said) for name, said in said.items()},
        cells=f"{result['cells']:,}",
        claimed=claimed,
        found=found,
        factor=factor,
        witness=_witness(result["witness"]),
        role=NAMES[role(result)][0] if role(result) in NAMES else "",
        plot=_plot(result) if drawn else "",
    )


def _plot(result: Raw) -> str:
    """Draw a growth on a log-log scale, with a line of the printed slope through its first number.

    It is empty for rows that are about none.
    """
    if result.get("series") is None:
        return ""
    import numpy as np

    along = result["series"]["along"]
    letter = PRINTED.get(along, along)
    numbers = [[float(each) for each in point] for point in result["series"]["points"]]
    x, claimed, lower, upper = np.array(numbers).T
    middle = np.sqrt(lower * upper)
    held = Look(PALETTE["held"], marker="o", size=3.6)
    slope = f"claimed {result['relation']} {_number(result['worst']['claimed'])}"
    with chart.drawing(2.6, foot=0.25) as (axes,):
        printed = claimed * middle[0] / claimed[0]
        chart.line(axes, zip(x, printed, strict=True), CLAIMED, "as printed")
        chart.spans(axes, zip(x, lower, upper, strict=True), held._replace(width=2))
        chart.line(axes, zip(x, middle, strict=True), held, "true")
        chart.frame(axes, logarithmic="xy", names=(letter, ""))
        return chart.svg(
            axes,
            name="plot-" + re.sub(r"[^a-z0-9]+", "-", result["id"]),
            title=f"{result['statement']['number']}: growth with {letter}",
            description=(
                f"From {x[0]:g} to {x[-1]:g}: slope {slope}, true {_between(result['worst'])}. "
                "theorems.json has every point."
            ),
        )


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


def role(result: Raw) -> str:
    """Return what a row is a check of; records of before say nothing."""
    return str(result.get("role", "printed"))


def outcomes(record: Raw) -> Counter[str]:
    """Count statements by what became of them; steps of proofs are none.

    A statement fails if it is refuted as printed, or only at an end of the range it is said to hold
    for. It holds if nothing but readings is refuted, and all else of it is verified.
    """
    found: dict[str, list[Raw]] = {}
    for result in record["results"]:
        if role(result) != "step":
            found.setdefault(result["id"].rpartition("/")[0], []).append(result)
    return Counter(map(_outcome, found.values()))


def _outcome(results: list[Raw]) -> str:
    refuted = {role(each) for each in results if each["verdict"] == "refuted"}
    if "printed" in refuted:
        return FAILS
    if "end" in refuted:
        return FAILS_AT_AN_END
    proven = [each for each in results if role(each) == "printed"]
    return HOLDS if proven and all(each["verdict"] == "verified" for each in proven) else UNKNOWN


def sentences(record: Raw) -> tuple[str, ...]:
    """Say what became of the statements, and what the refuted checks are checks of."""
    count = outcomes(record)
    said = (
        f"{plural(count.total(), 'statement')} as printed: {count[HOLDS]} hold in all cases looked "
        f"at, {count[FAILS]} are false, {count[FAILS_AT_AN_END]} are false only at an end of their "
        f"range, {count[UNKNOWN]} were not refuted as printed."
    )
    refuted = Counter(role(each) for each in record["results"] if each["verdict"] == "refuted")
    if not refuted:
        return (said,)
    apart = [
        f"{refuted[key]} {names[refuted[key] != 1]}" for key, names in NAMES.items() if refuted[key]
    ]
    of = ", ".join([f"{refuted['printed']} of statements as printed", *apart])
    return said, f"Of {plural(refuted.total(), 'refuted check')}: {of}."


def to_html(record: Raw) -> str:
    """Write a record as one self-contained page; equal records give equal pages."""
    return page(
        "theorems",
        lead=headline(record),
        origin=("dpassay theorems",),
        sentences=sentences(record),
        rows=rows_of(record, drawn=True),
        caveat=CAVEAT,
        run=record["run"],
    )


def to_junit(record: Raw) -> str:
    """Write a record as JUnit XML, one case per row; what is known to be wrong passes if refuted.

    An interrupted run, and one of nothing, is an error.
    """
    cases = [_case(row) for row in rows_of(record)]
    if not record["run"]["complete"] or not cases:
        words = "Nothing was checked." if record["run"]["complete"] else "The run was interrupted."
        cases.append(alarm("dpassay.theorem", "the run is complete", "incomplete", words))
    said = " ".join((f"{headline(record)}.", *sentences(record), CAVEAT))
    return junit("dpassay theorem", cases, said)


def _case(row: TheoremRow) -> JUnitCase:
    numbers = f"claimed {row.claimed}, true {row.found}"
    story = "\n".join((row.told["checks"], row.told["reason"], numbers, row.witness))
    word = row.status.word
    if row.status in (VERIFIED, HELD, EXPECTED):
        return JUnitCase("dpassay.theorem", row.key, f"{word}\n{story}")
    tag = "error" if row.status is ERROR else "failure"
    return JUnitCase("dpassay.theorem", row.key, story, tag, word, f"{word}: {row.told['reason']}")


def print_rows(record: Raw, console: Console) -> None:
    """Print the headline, and of each row its status, its numbers, and a witness or what failed."""
    from rich.text import Text

    console.print(Text(headline(record), style="bold"))
    for line in sentences(record):
        console.print(Text(line))
    for row in rows_of(record):
        console.print(Text(f"{row.status.symbol} {row.key}: {row.status.word}"))
        numbers = f"{row.told['quantity']}: claimed {row.claimed}, true {row.found}"
        witness = f"witness: {row.witness}" if row.witness else ""
        why = row.told["reason"] if row.status in (ERROR, INCONCLUSIVE) else ""
        for line in filter(None, (numbers, witness, why)):
            console.print(Text(f"    {line}"), soft_wrap=True)
    console.print(Text(CAVEAT))


FORMATS = {
    "html": Format("theorems.html", to_html),
    "junit": Format("theorems.xml", to_junit),
    "json": Format("theorems.json", late("record.files", "dumps")),
}
"""What a run writes."""
