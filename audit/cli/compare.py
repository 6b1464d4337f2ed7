"""`dpassay compare`: what has become worse from one record to another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpassay.cli.arguments.parser import Parser, add_option, add_output, codes, examples
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console, readers_may_leave
from dpassay.cli.records import of_attacks, of_theorems, run_record
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput
from dpassay.record.baseline import Judged, comparable
from dpassay.record.compare import compare
from dpassay.record.files import dumps, writable, write_text

DESCRIPTION = """Compare a record with an older one, entry by entry. All bounds are computed \
again, with one error
probability."""
EXAMPLES = examples(
    (
        "dpassay compare last-week/record.json report/record.json",
        "what has become worse since last week",
    ),
)
KINDS = """what is a regression:
  refuted    a claim is refuted, even if it was refuted before
  failed     an entry could not be audited, or a claim that is known to be wrong
             was not refuted
  vanished   an entry is missing
  repointed  the entry's name now stands for another target
  weakened   a claim promises less than before
  rose       at cells that both records certified, the leak rose by more than
             the tolerance, and the intervals do not overlap
  blinder    fewer pairs or queries, a search elsewhere, sampling instead of
             computation, or less power because of fewer trials
of attacks, where an entry is a subject or a service:
  refuted    a claim is broken, or a service has a defect
  rose       guesses by the same rule about the same record, or the same event
             of repeated answers, certify a larger loss than before
  blinder    its claim could have been broken before, and could not now
  estimated  (only reported, without --estimates) an AUC rose
of theorems, where an entry is a row of `dpassay theorem list`:
  refuted    a statement is refuted that was not known to be wrong
  failed     a check failed, or a statement known to be wrong was not refuted
  rose       the true number is nearer to what the statement allows, or further
             beyond it, by more than the tolerance; the bounds do not overlap
  blinder    fewer cases, a search, not a computation, a weaker verdict, or less
             power
  repointed  the check holds another number against the claim
  weakened   the claimed number of the same case allows more than before
  moved      (only reported) the number of a statement known to be wrong moved
what is only reported: elsewhere (a cell that was not certified before leaks
more), fell, tightened, recovered, reworded, new
"""
CODES = codes(
    (
        (Exit.NOTHING, "no regression shown"),
        (Exit.REFUTED, "a regression"),
        (Exit.USAGE, "wrong usage, or a record or baseline that is missing or cannot be compared"),
        (
            Exit.INCONCLUSIVE,
            (
                "a rise could have been missed: none of the old record's cells of some sampled "
                "entry was counted again"
            ),
        ),
    )
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{KINDS}\n{CODES}")
    command.add_argument(
        "old", metavar="OLD", help="record.json, attack.json or theorems.json, or a baseline"
    )
    command.add_argument("new", metavar="NEW", help="the same of a later run")
    add_option(command, "tolerance")
    add_estimates(command)
    add_pages(command, "none")


def add_estimates(command: Any) -> None:
    """Add whether estimates of attacks count."""
    command.add_argument(
        "--estimates",
        action="store_true",
        help="of attacks: an AUC whose interval lies above the old one is a regression too",
    )


def add_pages(command: Any, shown: str) -> None:
    """Add where a comparison is written and how it is printed."""
    add_output(command, what="list", quiet=False)
    text = "write comparison.md, comparison.json and comparison.xml (JUnit) there"
    add_option(command, "out", text=text, shown=shown, flags=("-o", "--out"), dest="pages")


def action(arguments: argparse.Namespace) -> int:
    """Hold one record against another."""
    if of_attacks(arguments.new, "NEW"):
        from dpassay.cli.attack_gate import compare_records

        return compare_records(arguments)
    if arguments.estimates:
        raise InvalidInput("--estimates: has an effect on records of `dpassay attack` alone")
    if of_theorems(arguments.new, "NEW"):
        from dpassay.cli.theorem.gate import compare_records as compare_rows

        return compare_rows(arguments)
    (old_path, old), (new_path, new) = (
        run_record(arguments.old, "OLD"),
        run_record(arguments.new, "NEW"),
    )
    comparable(old, new, old_path, new_path)
    tolerance = OPTIONS["tolerance"].default if arguments.tolerance is None else arguments.tolerance
    comparison = compare(old, new, tolerance=tolerance)
    judged = Judged(comparison=comparison, open=comparison.regressions)
    return deliver(judged, new_path, arguments.pages, as_json=arguments.json)


def deliver(judged: Judged, place: Path, pages: str | None, *, as_json: bool) -> int:
    """Print and write what was found, and choose the exit code."""
    from dpassay.reports.run.comparisons import print_comparison, to_junit, to_markdown

    if pages is not None:
        directory = Path(pages)
        writable(directory)
        write_text(directory / "comparison.xml", to_junit(judged.as_json(), place.parent))
        write_text(directory / "comparison.json", dumps(judged.as_json()))
        write_text(directory / "comparison.md", to_markdown(judged.as_json(), place.parent))
    with readers_may_leave():
        if as_json:
            sys.stdout.write(dumps(judged.as_json()))
        else:
            print_comparison(judged.as_json(), place.parent, console())
        sys.stdout.flush()
    if judged.open:
        return Exit.REFUTED
    return Exit.INCONCLUSIVE if judged.comparison.blind else Exit.NOTHING
