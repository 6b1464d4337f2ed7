"""Explain one result of a record in words.

Shown are its claim, witness, counts and bound, and the command that repeats
the witness.

  dpassay explain soft-majority.printed.exact
      a result of the last `dpassay run --out report`
  dpassay explain pate.own.monte-carlo --record old/record.json
      a result of another record
"""

from __future__ import annotations

import argparse

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser
from dpassay.cli.records import record_of, sound
from dpassay.cli.terminal import console
from dpassay.record.kinds import RUNS


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    command.add_argument("id", metavar="ID", help="id of a result, as the table shows it")
    command.add_argument(
        "--record",
        default="report/record.json",
        metavar="FILE",
        help="record to read (default: %(default)s)",
    )


def action(arguments: argparse.Namespace) -> int:
    """Explain one result of a record."""
    from dpassay.reports.run.terminal import print_explanation

    *_, record = record_of(arguments.record, kind=RUNS)
    with sound(f"RECORD = '{arguments.record}'"):
        print_explanation(record, arguments.id, console())
    return Exit.NOTHING
