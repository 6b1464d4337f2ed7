"""`dpassay report`: reports from a record."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpassay.cli.arguments.parser import Parser, examples
from dpassay.cli.exit_codes import Exit, of_attack, of_run
from dpassay.cli.records import any_record
from dpassay.config.values import listed
from dpassay.errors import InvalidInput

if TYPE_CHECKING:
    from dpassay.reports import Format

DESCRIPTION = (
    "Write reports from a record of `dpassay run`, `dpassay attack` or `dpassay theorem run`."
)
EXAMPLES = examples(
    (
        "dpassay report report/record.json --format html,md -o pages",
        "a page and a text, in another folder",
    ),
    (
        "dpassay report report/record.json --format junit -o report",
        "report/junit.xml, for a CI server",
    ),
    (
        "dpassay report report/record.json --format sarif,comment,badge -o report",
        "for code scanning, a pull request and a README",
    ),
)
REPORTS = "html,md,json,junit"
"""What is written unless something else is asked for."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, EXAMPLES)
    command.add_argument(
        "record",
        metavar="RECORD",
        help="record.json of a run, attack.json, theorems.json, or the folder of one of them",
    )
    command.add_argument(
        "--format",
        default=REPORTS,
        metavar="LIST",
        help=(
            "any of html, md, json, junit, sarif, annotations, comment, badge, shields (default: "
            "%(default)s)"
        ),
    )
    command.add_argument(
        "-o",
        "--out",
        default="report",
        metavar="DIR",
        help="folder to write to (default: %(default)s)",
    )
    command.add_argument(
        "--exit-code",
        action="store_true",
        help="exit with the code that the run of this record ended with",
    )
    command.add_argument(
        "--allow-inconclusive",
        action="store_true",
        help="with --exit-code: exit with 0 instead of 4",
    )


def action(arguments: argparse.Namespace) -> int:
    """Make reports from a record of an audit, of attacks, or of theorems."""
    from dpassay import reports

    record, of = any_record(arguments.record)
    known = _formats(of)
    asked = ",".join(known) if of and arguments.format == REPORTS else arguments.format
    formats = [str(word).strip() for word in listed(asked)]
    if not set(formats) <= set(known):
        kind = f" for a record of {of}" if of else ""
        raise InvalidInput(
            f"--format = '{arguments.format}': must be a list of {', '.join(known)}{kind}"
        )
    reports.write(record, formats, Path(arguments.out), known)
    for word in formats:
        sys.stderr.write(f"{word}: {Path(arguments.out) / known[word].filename}\n")
    if not arguments.exit_code:
        return Exit.NOTHING
    decide = of_attack if of == "attacks" else of_run
    return decide(record, allow_inconclusive=arguments.allow_inconclusive)


def _formats(of: str) -> Mapping[str, Format]:
    """Return the reports of a kind of record, as `any_record` names it."""
    from dpassay import reports
    from dpassay.reports.attack import pages as attacks
    from dpassay.reports.theorems import pages as theorems

    every: dict[str, Mapping[str, Format]] = {
        "": reports.FORMATS,
        "attacks": attacks.FORMATS,
        "theorems": theorems.FORMATS,
    }
    return every[of]
