"""`dpassay baseline`: accept a record, and compare later ones with it."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from dpassay.cli.compare import CODES, KINDS, add_pages, deliver
from dpassay.cli.exit_codes import Exit
from dpassay.cli.options import in_force
from dpassay.cli.parser import Parser, add_option, examples
from dpassay.cli.records import run_record
from dpassay.config.load import Config
from dpassay.errors import InvalidInput
from dpassay.record.baseline import acceptable, judge, read_baseline, whole
from dpassay.record.compare import compare
from dpassay.record.files import dumps, write_text
from dpassay.record.run_record import is_record

DESCRIPTION = (
    "Keep a record that you have reviewed and accepted, and compare later records with it."
)
EXAMPLES = examples(
    ("dpassay run && dpassay baseline accept", "then commit dpassay-baseline.json"),
    ("dpassay run && dpassay baseline check", "in the pipeline"),
)
CHECKED = examples(
    ("dpassay baseline check", "compare the record of the last run with the baseline"),
    (
        "dpassay baseline check ci/record.json --tolerance 0.1",
        "compare another record, and allow larger rises",
    ),
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, EXAMPLES)
    actions = command.add_subparsers(
        dest="action", metavar="accept|check", required=True, parser_class=Parser
    )
    accept = actions.add_parser("accept", help="make a record the baseline")
    accept.describe(
        "Make a record the baseline.",
        examples(("dpassay baseline accept", "accept the record of the last run")),
    )
    check = actions.add_parser("check", help="compare a record with the baseline")
    text = (
        "Compare a record with the baseline. Suppressions in the configuration let regressions "
        "pass."
    )
    check.describe(text, f"{CHECKED}\n{KINDS}\n{CODES}")
    for each in (accept, check):
        each.add_argument(
            "record",
            nargs="?",
            metavar="RECORD",
            help="record.json of a run (default: that of the last run)",
        )
        add_option(each, "baseline", shown="as configured, else dpassay-baseline.json")
    add_option(check, "tolerance")
    add_pages(check, "folder of the run's record, if configured")


def action(arguments: argparse.Namespace) -> int:
    """Accept a record as the baseline, or hold one against it."""
    config = in_force(arguments)
    said = arguments.record or str(Path(config.out or "report") / "record.json")
    baseline, (place, record) = Path(config.baseline), run_record(said)
    whole(record, place)
    if arguments.action == "accept":
        return _accept(record, place, baseline)
    return _check(record, place, baseline, config, arguments)


def _accept(record: dict[str, object], place: Path, baseline: Path) -> int:
    """Make a record the baseline, and say which of its results no baseline excuses."""
    if baseline.exists() and not is_record(baseline):
        raise InvalidInput(
            f"--baseline = '{baseline}': is not a record, so it is not replaced; move it away, or "
            "name another file"
        )
    write_text(baseline, dumps(acceptable(record, place)), "--baseline")
    results: list[dict[str, object]] = record["results"]  # type: ignore[assignment]
    for result in results:
        if result["verdict"] == "refuted" and result["expected"] != "refuted":
            sys.stderr.write(
                f"dpassay: {result['id']} is refuted: no baseline excuses that, only a "
                "suppression does\n"
            )
    number = "1 result" if len(results) == 1 else f"{len(results)} results"
    sys.stdout.write(f"{baseline}: {number} of {place}; keep it with your code\n")
    return Exit.NOTHING


def _check(
    record: dict[str, object],
    place: Path,
    baseline: Path,
    config: Config,
    arguments: argparse.Namespace,
) -> int:
    """Hold a record against the baseline."""
    old = read_baseline(baseline, record)
    today = datetime.now(tz=UTC).date()
    judged = judge(compare(old, record, tolerance=config.tolerance), config.suppressions, today)
    return deliver(judged, place, arguments.pages or config.out, as_json=arguments.json)
