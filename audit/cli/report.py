"""Write reports from a record.

The record is one of `dpassay run`, `dpassay attack` or `dpassay theorem run`.

  dpassay report report/record.json --format html,md -o pages
      a page and a text, in another folder
  dpassay report report/record.json --format junit -o report
      report/junit.xml, for a CI server
  dpassay report report/record.json --format sarif,comment -o report
      for code scanning and a pull request
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpassay.cli.exit_codes import Exit, of_record
from dpassay.cli.parser import Parser, add_switch
from dpassay.cli.records import record_of, sound
from dpassay.config.values import listed
from dpassay.errors import InvalidInput
from dpassay.record.files import read_json
from dpassay.record.kinds import ATTACKS, RUNS, THEOREMS

if TYPE_CHECKING:
    from dpassay.reports import Format

REPORTS = "html,md,json,junit"
"""What is written unless something else is asked for."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    text = "record.json of a run, attack.json, theorems.json, or the folder of one of them"
    command.add_argument("record", metavar="RECORD", help=text)
    text = "any of html, md, json, junit, sarif, comment (default: %(default)s)"
    command.add_argument("--format", default=REPORTS, metavar="LIST", help=text)
    text = "folder to write to (default: %(default)s)"
    command.add_argument("-o", "--out", default="report", metavar="DIR", help=text)
    add_switch(command, "--exit-code", "exit with the code that the run of this record ended with")
    add_switch(command, "--allow-inconclusive", "with --exit-code: exit with 0 instead of 4")


def action(arguments: argparse.Namespace) -> int:
    """Make reports from a record of an audit, of attacks, or of theorems."""
    from dpassay import reports

    kind, _, record = record_of(arguments.record)
    known: Mapping[str, Format] = reports.FORMATS
    if kind is ATTACKS:
        from dpassay.reports.attack import pages as of_attacks

        known = of_attacks.FORMATS
    elif kind is THEOREMS:
        from dpassay.reports.theorems import pages as of_theorems

        known = of_theorems.FORMATS
    whole = arguments.format == REPORTS and kind is not RUNS
    asked = ",".join(known) if whole else arguments.format
    formats = [str(word).strip() for word in listed(asked)]
    if not set(formats) <= set(known):
        of = "" if kind is RUNS else f" for {kind.noun}"
        raise InvalidInput(
            f"--format = '{arguments.format}': must be a list of {', '.join(known)}{of}"
        )
    held = None if kind is THEOREMS else _protections(Path(arguments.record))
    with sound(f"RECORD = '{arguments.record}'"):
        reports.write(record, formats, Path(arguments.out), known, held)
        code = of_record(record, allow_inconclusive=arguments.allow_inconclusive)
    for word in formats:
        sys.stderr.write(f"{word}: {Path(arguments.out) / known[word].filename}\n")
    return code if arguments.exit_code else Exit.NOTHING


def _protections(record: Path) -> list[str] | None:
    """Return what the sidecar of a record says of the machine; None where there is no such word."""
    folder = record if record.is_dir() else record.parent
    try:
        told = read_json((folder / "sidecar.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    held = told.get("protections") if isinstance(told, dict) else None
    return list(map(str, held)) if isinstance(held, list) else None
