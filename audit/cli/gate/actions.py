"""What `dpassay baseline` and `dpassay compare` do with records, of whichever kind they are."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console
from dpassay.cli.records import record_of, sound
from dpassay.config.load import Config
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput, printable
from dpassay.record.baseline import Judged, judge, require_same, unexcused, without_curves
from dpassay.record.compare import compare
from dpassay.record.files import dumps, exists, writable, write_text
from dpassay.record.kinds import ATTACKS, RUNS, RecordKind


def baseline_in(kind: RecordKind, config: Config) -> Path:
    """Return where the baseline of a kind is."""
    named = kind is RUNS or config.said("baseline")
    return Path(config.baseline if named else kind.baseline)


@sound("one of the records")
def accept(kind: RecordKind, text: str, config: Config) -> int:
    """Make a record of a finished run the baseline, and say what of it no baseline excuses."""
    place, record = record_of(kind, text)
    kind.require_whole(record, place)
    kind.require_acceptable(record, place)
    held, path = without_curves(record), baseline_in(kind, config)
    if exists(path) and not kind.holds(path):
        raise InvalidInput(
            f"--baseline = '{path}': is not {kind.noun}, so it is not replaced; move it away, or "
            "name another file"
        )
    write_text(path, dumps(held), "--baseline")
    for line in unexcused(record):
        sys.stderr.write(printable(f"dpassay: {line}") + "\n")
    sys.stdout.write(f"{path}: {kind.number(record)} of {place}; keep it with your code\n")
    return Exit.NOTHING


@sound("one of the records")
def check(kind: RecordKind, text: str, config: Config, arguments: argparse.Namespace) -> int:
    """Hold a record of a finished run against the baseline, which must not be stale."""
    place, record = record_of(kind, text)
    kind.require_whole(record, place)
    path = baseline_in(kind, config)
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
    return deliver(judged, place, folder, as_json=arguments.json)


@sound("one of the records")
def compare_records(kind: RecordKind, arguments: argparse.Namespace) -> int:
    """Hold one record of a finished run against another."""
    (old_path, old), (new_path, new) = (
        record_of(kind, arguments.old, "OLD"),
        record_of(kind, arguments.new, "NEW"),
    )
    kind.require_whole(old, old_path, "OLD")
    kind.require_whole(new, new_path, "NEW")
    require_same(old, new, old_path, "OLD")
    tolerance = OPTIONS["tolerance"].default if arguments.tolerance is None else arguments.tolerance
    comparison = compare(old, new, tolerance=tolerance, strict=arguments.estimates)
    judged = Judged(comparison=comparison, open=comparison.regressions)
    return deliver(judged, new_path, arguments.pages, as_json=arguments.json)


def require_estimates(kind: RecordKind, arguments: argparse.Namespace) -> None:
    """Raise `InvalidInput` if estimates are to count where there are none."""
    if getattr(arguments, "estimates", False) and kind is not ATTACKS:
        raise InvalidInput("--estimates: has an effect on records of `dpassay attack` alone")


def deliver(judged: Judged, place: Path, pages: str | None, *, as_json: bool) -> int:
    """Print and write what was found, and choose the exit code."""
    from dpassay.reports.run.comparisons import print_comparison, to_junit, to_markdown

    if pages is not None:
        directory = Path(pages)
        writable(directory)
        write_text(directory / "comparison.xml", to_junit(judged.as_json(), place.parent))
        write_text(directory / "comparison.json", dumps(judged.as_json()))
        write_text(directory / "comparison.md", to_markdown(judged.as_json(), place.parent))
    if as_json:
        sys.stdout.write(dumps(judged.as_json()))
    else:
        print_comparison(judged.as_json(), place.parent, console())
    if judged.open:
        return Exit.REFUTED
    return Exit.INCONCLUSIVE if judged.comparison.blind else Exit.NOTHING
