"""`dpassay replay`: run one witness again."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from typing import Any

from dpassay.claims import claim_from_json
from dpassay.cli import records
from dpassay.cli.arguments.parser import Parser, codes, examples
from dpassay.cli.exit_codes import Exit
from dpassay.record.witness import Replay, replay

DESCRIPTION = "Repeat one witness: the same pair, query and event, with the same seed."
EXAMPLES = examples(
    (
        "dpassay replay report/witnesses/soft-majority.printed.exact.json",
        "repeat a witness of `dpassay run --out report`",
    ),
)
CODES = codes(
    (
        (Exit.NOTHING, "reproduced, and the claim is not refuted or is declared wrong"),
        (Exit.REFUTED, "the claim is refuted"),
        (Exit.FAILED, "not reproduced"),
    )
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{CODES}")
    command.add_argument(
        "witness", metavar="WITNESS", help="a file in the folder witnesses/ of `dpassay run --out`"
    )
    command.add_argument(
        "--trust",
        action="store_true",
        help="let the witness start the program, or ask the service, that it names",
    )
    command.add_argument(
        "--data",
        metavar="FILE",
        help="CSV file of the witness, if it has moved (default: where it was)",
    )


def action(arguments: argparse.Namespace) -> int:
    """Run one witness again."""
    witness = records.witness(arguments.witness)
    found = replay(witness, file=arguments.data, trusted=arguments.trust)
    outcome = "reproduced" if found.reproduced else "NOT reproduced"
    claim = claim_from_json(witness["claim"])
    judged = (
        f"the claim of {claim.promised:g} is {'refuted' if found.refuted else 'not refuted'} here"
    )
    judged = "no claim is made about it" if claim.status == "measured" else judged
    if found.refuted and found.expected:
        judged += ", and is declared wrong"
    sys.stdout.write(f"{_told(witness, found)}\n{outcome}: {found.words}; {judged}\n")
    if found.refuted and not found.expected:
        return Exit.REFUTED
    return Exit.NOTHING if found.reproduced else Exit.FAILED


def _told(witness: Mapping[str, Any], found: Replay) -> str:
    """Return the words of a witness, with the lines that its file has now."""
    words = str(witness["words"])
    if not found.change:
        return words
    return re.sub(r"(?<=S': ).+?(?=\. )", lambda _: found.change, words, count=1)
