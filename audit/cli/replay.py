"""Run one witness again: the same pair, query and event, with the same seed.

A program, service or library with coins of its own cannot be asked for the
same trials: the event is counted on as many fresh ones, and the leak is
bounded anew at the recorded confidence.

  dpassay replay report/witnesses/soft-majority.printed.exact.json
      repeat a witness of `dpassay run --out report`
  dpassay replay report/witnesses/my-service.own.monte-carlo.json --trust
      the same of a function, program or service of your own, which only
      --trust runs

exit codes:
  0    reproduced, and the claim is not refuted or is declared wrong
  1    the claim is refuted, by the same trials or by fresh ones
  3    not reproduced, as after a repair
"""

from __future__ import annotations

import argparse
import re
import sys

from dpassay.claims import claim_from_json
from dpassay.cli import records
from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser
from dpassay.errors import printable
from dpassay.record.replay import replay
from dpassay.record.trust import file_of, foreign, shown


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    command.add_argument(
        "witness", metavar="WITNESS", help="a file in the folder witnesses/ of `dpassay run --out`"
    )
    command.add_argument(
        "--trust",
        action="store_true",
        help="let the witness run the code, and read the file, that it names; it is told first",
    )
    command.add_argument(
        "--data",
        metavar="FILE",
        help="CSV file of the witness, if it has moved (default: where it was)",
    )


def action(arguments: argparse.Namespace) -> int:
    """Run one witness again."""
    witness = records.witness(arguments.witness)
    if arguments.trust:
        path = "" if arguments.data else file_of(witness)
        told = [f"runs {each}" for each in foreign(witness)]
        told += [f"reads {shown(path)}"] if path else []
        sys.stderr.writelines(f"dpassay: --trust: {each}\n" for each in told)
    found = replay(witness, file=arguments.data, trusted=arguments.trust)
    outcome = "reproduced" if found.reproduced else "not reproduced"
    claim = claim_from_json(witness["claim"])
    judged = (
        f"the claim of {claim.promised:g} is {'refuted' if found.refuted else 'not refuted'} here"
    )
    judged = "no claim is made about it" if claim.status == "measured" else judged
    wrong = found.refuted and found.expected
    if found.fresh:  # its words name the claim
        judged = "the claim is declared wrong" if wrong else ""
    elif wrong:
        judged += ", and is declared wrong"
    said = "; ".join(filter(None, (found.words, judged)))
    words = " ".join(str(witness["words"]).split())
    if found.change:  # the lines that its file has now
        words = re.sub(r"(?<=S': ).+?(?=\. )", lambda _: found.change, words, count=1)
    sys.stdout.write(f"{printable(words)}\n{outcome}: {printable(said)}\n")
    if found.refuted and not found.expected:
        return Exit.REFUTED
    return Exit.NOTHING if found.reproduced else Exit.FAILED
