"""What `dpassay compare` and `dpassay baseline` do: hold a record against an older one, and keep the one that is accepted."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from dpassay.cli.options import configure
from dpassay.cli.run import INCONCLUSIVE, NOTHING, REFUTED
from dpassay.cli.shared import console, readers_may_leave
from dpassay.errors import InvalidInput
from dpassay.record.baseline import Judged, acceptable, comparable, judge, read_baseline, whole
from dpassay.record.compare import compare
from dpassay.record.files import dumps, writable, write_text
from dpassay.record.run_record import is_record, read_record


def compare_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001  (every command has one signature)
    """Hold one record against another."""
    old, new = read_record(Path(arguments.old), "OLD"), read_record(Path(arguments.new), "NEW")
    comparable(old, new, Path(arguments.old), Path(arguments.new))
    comparison = compare(old, new, tolerance=arguments.tolerance)
    return _deliver(Judged(comparison=comparison, open=comparison.regressions), Path(arguments.new), arguments.pages, arguments)


def baseline_command(arguments: argparse.Namespace, words: list[str]) -> int:  # noqa: ARG001
    """Accept a record as the baseline, or hold one against it."""
    config = configure(arguments)
    place = Path(arguments.record or Path(config.out or "report") / "record.json")
    baseline, record = Path(arguments.baseline), read_record(place)
    whole(record, place)
    if arguments.action == "accept":
        if baseline.exists() and not is_record(baseline):
            raise InvalidInput(
                f"--baseline = '{baseline}': is no record, so it is not replaced; move it away, or name another file"
            )
        write_text(baseline, dumps(acceptable(record, place)), "--baseline")
        for result in record["results"]:
            if result["verdict"] == "refuted" and result["expected"] != "refuted":
                sys.stderr.write(f"dpassay: {result['id']} is refuted: no baseline excuses it, only a suppression does\n")
        results = "1 result" if len(record["results"]) == 1 else f"{len(record['results'])} results"
        sys.stdout.write(f"{baseline}: {results} of {place}; keep it with your code\n")
        return NOTHING
    old = read_baseline(baseline, record)
    today = datetime.now(tz=UTC).date()
    judged = judge(compare(old, record, tolerance=arguments.tolerance), config.suppressions, today)
    return _deliver(judged, place, arguments.pages or config.out, arguments)


def _deliver(judged: Judged, place: Path, pages: str | None, arguments: argparse.Namespace) -> int:
    """Print and write what was found, and choose the exit code."""
    from dpassay.reports.run.comparisons import print_comparison, to_junit, to_markdown

    if pages is not None:
        directory = Path(pages)
        writable(directory)
        write_text(directory / "comparison.xml", to_junit(judged.as_json(), place.parent))
        write_text(directory / "comparison.json", dumps(judged.as_json()))
        write_text(directory / "comparison.md", to_markdown(judged.as_json(), place.parent))
    with readers_may_leave():
        if arguments.json:
            sys.stdout.write(dumps(judged.as_json()))
        else:
            print_comparison(judged.as_json(), place.parent, console())
        sys.stdout.flush()
    if judged.open:
        return REFUTED
    return INCONCLUSIVE if judged.comparison.blind else NOTHING
