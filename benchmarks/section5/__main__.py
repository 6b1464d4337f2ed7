"""The experiments of Chaudhuri and Vinterbo (2013), section 5, at full size.

    python -m benchmarks.section5 --data FOLDER [--out FOLDER] [--jobs 2] [--write]

runs ten times ten folds on Adult and MAGIC (adult.data.gz, adult.test.gz, magic04.data.gz as
published by the UCI repository), and keeps every finished round in the folder --out: started again
it goes on there. --write makes docs/section5.json, docs/section5.md and the figures from it;
--page makes page and figures again from the numbers in docs/section5.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.section5.figures import FIGURES, draw
from benchmarks.section5.page import page
from benchmarks.section5.results import results
from benchmarks.section5.rounds import tasks
from benchmarks.section5.settings import Size
from benchmarks.section5.summary import Found, as_text, collected
from benchmarks.section5.tables import load
from dpassay.errors import InvalidInput

DOCS = Path(__file__).parents[2] / "docs"
OUT = Path(tempfile.gettempdir()) / "section5"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the three files")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder of the rounds ({OUT})")
    parser.add_argument("--repetitions", type=int, default=10, help="cuts into ten folds (10)")
    parser.add_argument("--folds", type=int, default=10, help="of each cut, how many test (10)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--write", action="store_true", help="write docs/section5.* and figures")
    parser.add_argument("--page", action="store_true", help="only page and figures, from the JSON")
    chosen = parser.parse_args()
    if chosen.data is None and not chosen.page:
        parser.error("--data is needed: the folder with the three files")
    return chosen


def run(chosen: argparse.Namespace) -> Found:
    """Run what is not there yet, with a line for every tenth part."""
    size = Size(repetitions=chosen.repetitions, folds=chosen.folds)
    with threadpool_limits(limits=1):
        tables = load(chosen.data)
    rows, planned = [], len(tasks(size))
    for row in results(tables, size, chosen.out, chosen.jobs):
        rows.append(row)
        if len(rows) * 10 // planned > (len(rows) - 1) * 10 // planned:
            print(f"{len(rows)} of {planned} rounds", file=sys.stderr, flush=True)
    return collected(rows, tables, size)


def write(found: Found, out: Path) -> None:
    """Write page and figures; the figures as PNG into the other folder."""
    (DOCS / "section5.md").write_text(page(found), encoding="utf-8")
    for name, (shown, measures) in FIGURES.items():
        draw(found, shown, measures, [DOCS / "figures" / f"{name}.svg", out / f"{name}.png"])


def main() -> int:
    """Run, print the page's tables, and write what was asked for."""
    chosen, stored = arguments(), DOCS / "section5.json"
    chosen.out.mkdir(parents=True, exist_ok=True)
    try:
        found = json.loads(stored.read_text(encoding="utf-8")) if chosen.page else run(chosen)
    except InvalidInput as error:
        print(f"section5: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"section5: interrupted; the same command goes on in {chosen.out}", file=sys.stderr)
        return 130
    if chosen.write:
        stored.write_text(as_text(found), encoding="utf-8")
    if chosen.write or chosen.page:
        write(found, chosen.out)
    else:
        print(page(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
