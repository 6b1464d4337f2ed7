"""`dpassay zoo`: broken mechanisms and their correct twins, audited as a user would."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpassay.cli.arguments.parser import Parser, add_option, add_output, codes, examples
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.progress import bars
from dpassay.cli.output.terminal import console
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput
from dpassay.numerics import DOWN, written
from dpassay.record.files import dumps

if TYPE_CHECKING:
    from dpassay.mechanisms.broken.specimen import Specimen

SCHEMA = "dpassay/zoo/1"
BUDGET = 200_000
"""Certification trials where nothing is said: `truncated-geometric` loses .118 for .1, and with
its event known it takes 123,000 trials a side to see that."""
DESCRIPTION = """Audit mechanisms with a known flaw beside their correct twins. Of each, only the \
function, its claim and a description of its data are given; pairs, queries and events are searched
for. Each line says whether the flaw was found. Takes some minutes."""
EXAMPLES = examples(
    ("dpassay zoo", "every broken mechanism and its twin"),
    ("dpassay zoo svt-4 svt-5 --budget 1000000", "two of them, with more trials"),
    ("dpassay zoo --broken-only --seed 7", "without the twins, with other random numbers"),
)
CODES = codes(
    (
        (Exit.NOTHING, "every broken mechanism was refuted, and no correct twin"),
        (Exit.FAILED, "one was missed, or a correct twin was refuted"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What came of one audit."""

    name: str
    kind: str  # 'broken' or 'correct'
    claimed: float
    truth: float  # true loss; nan where it is not known
    verdict: str
    found: float  # certified lower bound on the loss; nan where there is none
    seconds: float
    wrong: str  # what is wrong with it, in one line

    @property
    def right(self) -> bool:
        """Whether a flaw was found, or a correct mechanism was not refuted."""
        if self.kind == "broken":
            return self.verdict in ("refuted", "error")
        return self.verdict != "refuted"


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{CODES}")
    command.add_argument("names", nargs="*", metavar="NAME", help="which; all by default")
    command.add_argument("--broken-only", action="store_true", help="without the correct twins")
    add_option(command, "budget", text="certification trials per side", shown=f"{BUDGET:,}")
    for key in ("confidence", "seed"):
        add_option(command, key)
    add_output(command)


def action(arguments: argparse.Namespace) -> int:
    """Audit the members, print a table."""
    chosen = _chosen(arguments.names)
    with bars(quiet=arguments.quiet) as progress:
        lines = []
        for place, line in enumerate(_lines(arguments, chosen)):
            lines.append(line)
            progress("zoo", place + 1, len(chosen) * (1 if arguments.broken_only else 2))
    if arguments.json:
        sys.stdout.write(dumps({"schema": SCHEMA, "results": [_json(line) for line in lines]}))
    else:
        _print(lines)
    return Exit.NOTHING if all(line.right for line in lines) else Exit.FAILED


def _chosen(names: list[str]) -> list[Specimen]:
    from dpassay.mechanisms.broken.zoo import specimens

    known = {each.name: each for each in specimens()}
    for name in names:
        if name not in known:
            raise InvalidInput(f"NAME = '{name}': must be one of {', '.join(known)}")
    return [known[name] for name in names] or list(known.values())


def _lines(arguments: argparse.Namespace, chosen: list[Specimen]) -> Iterator[Line]:
    for each in chosen:
        yield _audited(arguments, each, "broken")
        if not arguments.broken_only:
            yield _audited(arguments, each, "correct")


def _audited(arguments: argparse.Namespace, each: Specimen, kind: str) -> Line:
    from dpassay.api import audit

    given = {
        key: OPTIONS[key].default if getattr(arguments, key) is None else getattr(arguments, key)
        for key in ("confidence", "seed")
    }
    given["budget"] = BUDGET if arguments.budget is None else arguments.budget
    function, truth = (
        (each.function, each.true_loss) if kind == "broken" else (each.twin, each.twin_loss)
    )
    begun = time.perf_counter()
    result = audit(function, claim=each.claim, data=each.data, bits=each.bits, **given)
    return Line(
        name=each.name,
        kind=kind,
        claimed=each.claim.promised,
        truth=math.nan if truth is None else truth,
        verdict=result.verdict,
        found=math.nan if result.evidence is None else result.evidence.lower.value,
        seconds=time.perf_counter() - begun,
        wrong=each.wrong if kind == "broken" else "",
    )


def _json(line: Line) -> dict[str, Any]:
    numbers = {name: getattr(line, name) for name in ("claimed", "truth", "found", "seconds")}
    shown = {
        name: None if math.isnan(value) else "inf" if math.isinf(value) else value
        for name, value in numbers.items()
    }
    return {"name": line.name, "kind": line.kind, "verdict": line.verdict, "right": line.right} | (
        shown
    )


def _print(lines: list[Line]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title, align in (("mechanism", "left"), ("claims", "right"), ("true", "right")):
        table.add_column(title, justify=align, no_wrap=True)  # type: ignore[arg-type]
    for title in ("found ≥", "verdict", "seconds"):
        table.add_column(title, justify="left" if title == "verdict" else "right", no_wrap=True)
    for line in lines:
        table.add_row(
            line.name if line.kind == "broken" else "  its correct twin",
            f"{line.claimed:g}",
            "?" if math.isnan(line.truth) else f"{line.truth:.4g}",
            "-" if math.isnan(line.found) else written(line.found, 4, DOWN),
            f"{'' if line.right else 'MISSED: ' if line.kind == 'broken' else 'FALSE: '}"
            f"{line.verdict}",
            f"{line.seconds:.1f}",
        )
    out = console()
    out.print(table)
    broken = [line for line in lines if line.kind == "broken"]
    correct = [line for line in lines if line.kind == "correct"]
    told = f"{sum(line.right for line in broken)} of {len(broken)} broken mechanisms found"
    if correct:
        told += f"; {sum(not line.right for line in correct)} of {len(correct)} correct refuted"
    out.print(told)
