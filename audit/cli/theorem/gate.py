"""What `dpassay baseline` and `dpassay compare` do with records of theorems."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from dpassay.cli.compare import deliver
from dpassay.cli.exit_codes import Exit
from dpassay.cli.records import theorem_record
from dpassay.config.load import Config
from dpassay.config.options import OPTIONS
from dpassay.record.baseline import Judged, judge
from dpassay.record.kept import replace_baseline
from dpassay.record.theorems.baseline import (
    THEOREM_BASELINE,
    acceptable_theorems,
    comparable_theorems,
    is_theorem_record,
    read_theorem_baseline,
    whole_theorems,
)
from dpassay.record.theorems.compare import compare_theorems


def baseline_of(config: Config) -> Path:
    """Return where the baseline of theorems is: as the command line says, else by its own name."""
    return Path(config.baseline if config.said("baseline") else THEOREM_BASELINE)


def accept(arguments: argparse.Namespace, config: Config) -> int:
    """Make a record of theorems the baseline, and say which of its rows no baseline excuses."""
    place, record = theorem_record(arguments.record)
    whole_theorems(record, place)
    acceptable_theorems(record, place)
    baseline = baseline_of(config)
    replace_baseline(baseline, record, is_theorem_record, "a record of theorems")
    for row in record["results"]:
        if row["verdict"] == "refuted" != row["expected"]:
            sys.stderr.write(
                f"dpassay: {row['id']} is refuted: no baseline excuses that, only a suppression "
                "does\n"
            )
    rows = len(record["results"])
    number = "1 row" if rows == 1 else f"{rows} rows"
    sys.stdout.write(f"{baseline}: {number} of {place}; keep it with your code\n")
    return Exit.NOTHING


def check(arguments: argparse.Namespace, config: Config) -> int:
    """Hold a record of theorems against the baseline."""
    place, record = theorem_record(arguments.record)
    whole_theorems(record, place)
    path = baseline_of(config)
    old = read_theorem_baseline(path)
    comparable_theorems(old, record, path, "baseline")
    comparison = compare_theorems(old, record, tolerance=config.tolerance)
    judged = judge(comparison, config.suppressions, datetime.now(tz=UTC).date())
    folder = arguments.pages or (None if config.out is None else str(place.parent))
    return deliver(judged, place, folder, as_json=arguments.json)


def compare_records(arguments: argparse.Namespace) -> int:
    """Hold one record of theorems against another."""
    old_path, before = theorem_record(arguments.old, "OLD")
    new_path, after = theorem_record(arguments.new, "NEW")
    whole_theorems(before, old_path, "OLD")
    whole_theorems(after, new_path, "NEW")
    comparable_theorems(before, after, old_path)
    tolerance = OPTIONS["tolerance"].default if arguments.tolerance is None else arguments.tolerance
    comparison = compare_theorems(before, after, tolerance=tolerance)
    judged = Judged(comparison=comparison, open=comparison.regressions)
    return deliver(judged, new_path, arguments.pages, as_json=arguments.json)
