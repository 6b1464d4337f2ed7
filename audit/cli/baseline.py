r"""Keep a record that you have reviewed and accepted, and compare later records with it.

Runs, attacks and theorems have a baseline each.

  dpassay run && dpassay baseline accept
      then commit dpassay-baseline.json
  dpassay run && dpassay baseline check
      in the pipeline
  dpassay baseline check attack/attack.json
      check attacks, or theorems by their record
  dpassay baseline move my_api:predict my_api:answer
      after renaming a function; then run again
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from dpassay.cli.compare import CODES, KINDS, add_comparison, deliver_comparison, require_estimates
from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add_option, in_force
from dpassay.cli.records import record_of, sound
from dpassay.config.load import Config
from dpassay.errors import InvalidInput, printable
from dpassay.record.baseline import judge, moved, require_same, unexcused, without_curves
from dpassay.record.compare import compare
from dpassay.record.files import dumps, exists, writable, write_text
from dpassay.record.kinds import RUNS, Record, RecordKind
from dpassay.targets.source import defined_at

ACCEPT = """Make a record the baseline.

  dpassay baseline accept
      accept the record of the last run
"""
CHECK = """Compare a record with the baseline.
Suppressions in the configuration let regressions pass.

  dpassay baseline check
      compare the record of the last run with the baseline
  dpassay baseline check ci/record.json --tolerance 0.1
      compare another record, and allow larger rises
"""
MOVE = """Rename a mechanism in the baseline, or the module:object that it stands for.
The file is replaced as a whole or not at all.
Run again afterwards: trials depend on the name.

  dpassay baseline move my_api:predict my_api:answer && dpassay run
      my_api.py calls its function answer now
"""
RECORD = "record.json of a run (default: that of the last run), attack.json or theorems.json"
SHOWN = (
    "as configured, else dpassay-baseline.json; of attacks dpassay-attack-baseline.json, of "
    "theorems dpassay-theorem-baseline.json"
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    actions = command.add_subparsers(
        dest="action", metavar="accept|check|move", required=True, parser_class=Parser
    )
    accepting = actions.add_parser("accept", help="make a record the baseline")
    accepting.describe(ACCEPT)
    checking = actions.add_parser("check", help="compare a record with the baseline")
    checking.describe(CHECK, "", KINDS, CODES)
    moving = actions.add_parser("move", help="give a renamed mechanism its results of the baseline")
    moving.describe(MOVE)
    for each in (accepting, checking):
        each.add_argument("record", nargs="?", metavar="RECORD", help=RECORD)
        add_option(each, "baseline", shown=SHOWN)
    add_comparison(checking, "folder of the run's record, if configured")
    moving.add_argument("old", metavar="OLD", help="the name that the baseline has")
    moving.add_argument("new", metavar="NEW", help="the name that the mechanism has now")
    add_option(moving, "baseline", shown=SHOWN)


def action(arguments: argparse.Namespace) -> int:
    """Accept a record as the baseline, compare one with it, or rename a mechanism in it."""
    config = in_force(arguments)
    if arguments.action == "move":
        return _move(arguments.old, arguments.new, Path(config.baseline), config)
    said = arguments.record or str(Path(config.out or "report") / "record.json")
    kind, place, record = record_of(said, kind=RUNS if arguments.record is None else None)
    require_estimates(kind, arguments)
    kind.require_whole(record, place)
    path, checking = baseline_in(kind, config), arguments.action == "check"
    with sound(f"RECORD = '{place}'" + f" or baseline = '{path}'" * checking):
        if checking:
            return _check(kind, place, record, path, config, arguments)
        kind.require_acceptable(record, place)
        held = without_curves(record)
        if exists(path) and not kind.holds(path):
            raise InvalidInput(
                f"--baseline = '{path}': is not {kind.noun}, so it is not replaced; move it away, "
                "or name another file"
            )
        write_text(path, dumps(held), "--baseline")
        for line in unexcused(record):
            sys.stderr.write(printable(f"dpassay: {line}") + "\n")
        sys.stdout.write(f"{path}: {kind.number(record)} of {place}; keep it with your code\n")
    return Exit.NOTHING


def baseline_in(kind: RecordKind, config: Config) -> Path:
    """Return where the baseline of a kind is."""
    named = kind is RUNS or config.said("baseline")
    return Path(config.baseline if named else kind.baseline)


def _check(
    kind: RecordKind,
    place: Path,
    record: Record,
    path: Path,
    config: Config,
    arguments: argparse.Namespace,
) -> int:
    """Compare a record of a finished run with the baseline, which must not be stale."""
    old = kind.accepted(path)
    require_same(old, record, path)
    comparison = compare(old, record, tolerance=config.tolerance, strict=arguments.estimates)
    judged = judge(comparison, config.suppressions, datetime.now(tz=UTC).date(), path)
    configured = None if config.out is None else str(place.parent)
    folder = arguments.pages or (config.out if kind is RUNS else configured)
    if folder is not None and kind is RUNS:
        from dpassay.reports.run.pipeline import to_comment

        # the comment on a pull request again, now with the difference to the baseline
        writable(Path(folder))
        write_text(Path(folder) / "comment.md", to_comment(record, judged.as_json()))
    return deliver_comparison(judged, place, folder, as_json=arguments.json)


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
