"""`dpassay compare`: what has become worse from one record to another."""

from __future__ import annotations

import argparse
from typing import Any

from dpassay.cli.arguments.parser import Parser, add_option, add_output, codes, examples
from dpassay.cli.exit_codes import Exit
from dpassay.cli.gate.actions import compare_records, require_estimates
from dpassay.cli.records import kind_of

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
    kind = kind_of(arguments.new, "NEW")
    require_estimates(kind, arguments)
    return compare_records(kind, arguments)
