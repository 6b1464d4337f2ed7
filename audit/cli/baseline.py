"""`dpassay baseline`: accept a record, and compare later ones with it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpassay.cli.arguments.parser import Parser, add_option, examples, in_force
from dpassay.cli.compare import CODES, KINDS, add_estimates, add_pages
from dpassay.cli.exit_codes import Exit
from dpassay.cli.gate.actions import accept, check, require_estimates
from dpassay.cli.records import kind_of
from dpassay.config.load import Config
from dpassay.errors import InvalidInput
from dpassay.record.baseline import moved
from dpassay.record.files import dumps, exists, write_text
from dpassay.record.kinds import RUNS
from dpassay.targets.source import defined_at

DESCRIPTION = (
    "Keep a record that you have reviewed and accepted, and compare later records with it."
)
EXAMPLES = examples(
    ("dpassay run && dpassay baseline accept", "then commit dpassay-baseline.json"),
    ("dpassay run && dpassay baseline check", "in the pipeline"),
    (
        "dpassay attack --out attack && dpassay baseline check attack/attack.json",
        "the same for attacks, with a baseline of their own",
    ),
    (
        "dpassay theorem run --out theorems && dpassay baseline check theorems/theorems.json",
        "the same for theorems",
    ),
    (
        "dpassay baseline move my_api:predict my_api:answer",
        "after renaming a function; then run again",
    ),
)
MOVED = examples(
    (
        "dpassay baseline move my_api:predict my_api:answer && dpassay run",
        "my_api.py calls its function answer now",
    ),
)
CHECKED = examples(
    ("dpassay baseline check", "compare the record of the last run with the baseline"),
    (
        "dpassay baseline check ci/record.json --tolerance 0.1",
        "compare another record, and allow larger rises",
    ),
)


SHOWN = (
    "as configured, else dpassay-baseline.json; of attacks dpassay-attack-baseline.json, of "
    "theorems dpassay-theorem-baseline.json"
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, EXAMPLES)
    actions = command.add_subparsers(
        dest="action", metavar="accept|check|move", required=True, parser_class=Parser
    )
    accepting = actions.add_parser("accept", help="make a record the baseline")
    accepting.describe(
        "Make a record the baseline.",
        examples(("dpassay baseline accept", "accept the record of the last run")),
    )
    checking = actions.add_parser("check", help="compare a record with the baseline")
    text = (
        "Compare a record with the baseline. Suppressions in the configuration let regressions "
        "pass."
    )
    checking.describe(text, f"{CHECKED}\n{KINDS}\n{CODES}")
    for each in (accepting, checking):
        each.add_argument(
            "record",
            nargs="?",
            metavar="RECORD",
            help=(
                "record.json of a run (default: that of the last run), attack.json or theorems.json"
            ),
        )
        add_option(each, "baseline", shown=SHOWN)
    add_option(checking, "tolerance")
    add_estimates(checking)
    add_pages(checking, "folder of the run's record, if configured")
    move = actions.add_parser("move", help="give a renamed mechanism its results of the baseline")
    move.describe(
        "Rename a mechanism in the baseline, or the module:object that it stands for. The file is "
        "replaced as a whole or not at all. Run again afterwards: trials depend on the name.",
        MOVED,
    )
    move.add_argument("old", metavar="OLD", help="the name that the baseline has")
    move.add_argument("new", metavar="NEW", help="the name that the mechanism has now")
    add_option(move, "baseline", shown=SHOWN)


def action(arguments: argparse.Namespace) -> int:
    """Accept a record as the baseline, hold one against it, or rename a mechanism in it."""
    config = in_force(arguments)
    if arguments.action == "move":
        return _move(arguments.old, arguments.new, Path(config.baseline), config)
    said = arguments.record or str(Path(config.out or "report") / "record.json")
    kind = RUNS if arguments.record is None else kind_of(said)
    require_estimates(kind, arguments)
    if arguments.action == "accept":
        return accept(kind, said, config)
    return check(kind, said, config, arguments)


def _move(old: str, new: str, baseline: Path, config: Config) -> int:
    """Rename a mechanism in the baseline, and say what is left to do."""
    if not exists(baseline):
        raise InvalidInput(f"--baseline = '{baseline}': does not exist, so nothing can be moved")
    held = RUNS.read(baseline, "--baseline")
    changed, number = moved(held, old, new, baseline)
    named = {each.called for each in config.mechanisms}
    if new not in named and defined_at(new) is None:
        where = "no mechanism is configured with that name, and no module here defines it"
        raise InvalidInput(f"NEW = '{new}': does not exist: {where}")
    write_text(baseline, dumps(changed), "--baseline")
    for each in config.suppressions:
        if each.result.startswith(f"{old}."):
            sys.stderr.write(
                f"dpassay: a suppression names {each.result}: write the new name there too\n"
            )
    results = "1 result" if number == 1 else f"{number} results"
    sys.stdout.write(
        f"{baseline}: {results} of {old} moved to {new}; now run `dpassay run`, then `dpassay "
        "baseline check`\n"
    )
    return Exit.NOTHING
