"""Compare a record with an older one, entry by entry.

All bounds are computed again, with one error probability.

  dpassay compare last-week/record.json report/record.json
      what has become worse since last week
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add, add_option, codes
from dpassay.cli.records import record_of, sound
from dpassay.cli.terminal import console
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput
from dpassay.record.baseline import Judged, require_same
from dpassay.record.compare import compare
from dpassay.record.files import dumps, writable, write_text
from dpassay.record.kinds import ATTACKS, RecordKind

KINDS = """what is a regression:
  refuted    a claim is refuted, even if it was refuted before
  failed     an entry could not be audited, or a claim that is known to be wrong
             was not refuted
  vanished   an entry is missing
  repointed  the entry's name now stands for another target
  weakened   a claim promises less than before
  rose       at cells that both records certified, the leak rose by more than
             the tolerance, and the intervals do not overlap
  blinder    fewer pairs or queries, a search elsewhere, sampling instead of
             computation, or less power because of fewer trials
of attacks, where an entry is a subject or a service:
  refuted    a claim is broken, or a service has a defect
  rose       guesses by the same rule about the same record, or the same event
             of repeated answers, certify a larger loss than before
  blinder    its claim could have been broken before, and could not now
  estimated  (only reported, without --estimates) an AUC rose
of theorems, where an entry is a row of `dpassay theorem list`:
  refuted    a statement is refuted that was not known to be wrong
  failed     a check failed, or a statement known to be wrong was not refuted
  rose       the true number is nearer to what the statement allows, or further
             beyond it, by more than the tolerance; the bounds do not overlap
  blinder    fewer cases, a search, not a computation, a weaker verdict, or less
             power
  repointed  the check holds another number against the claim
  weakened   the claimed number of the same case allows more than before
  moved      (only reported) the number of a statement known to be wrong moved
what is only reported: elsewhere (a cell that was not certified before leaks
more), fell, tightened, recovered, reworded, new
"""
MISSED = "a rise could have been missed: none of the old record's cells of some sampled entry was \
counted again"
CODES = codes(
    (
        (Exit.NOTHING, "no regression shown"),
        (Exit.REFUTED, "a regression"),
        (Exit.USAGE, "wrong usage, or a record or baseline that is missing or cannot be compared"),
        (Exit.INCONCLUSIVE, MISSED),
    )
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__, "", KINDS, CODES)
    text = "record.json, attack.json or theorems.json, or a baseline"
    command.add_argument("old", metavar="OLD", help=text)
    command.add_argument("new", metavar="NEW", help="the same of a later run")
    add_comparison(command, "none")


def add_comparison(command: Any, shown: str) -> None:
    """Add how records are compared, where that is written and how it is printed."""
    add(command, "tolerance --estimates")
    command.add_argument("--json", action="store_true", help="print JSON instead of the list")
    text = "write comparison.md, comparison.json and comparison.xml (JUnit) there"
    add_option(command, "out", text, shown, flags=("-o", "--out"), dest="pages")


def action(arguments: argparse.Namespace) -> int:
    """Compare one record with another."""
    kind, old_path, old = record_of(arguments.old, "OLD")
    require_estimates(kind, arguments)
    _, path, new = record_of(arguments.new, "NEW", kind)
    kind.require_whole(old, old_path, "OLD")
    kind.require_whole(new, path, "NEW")
    with sound(f"OLD = '{old_path}' or NEW = '{path}'"):
        require_same(old, new, old_path, "OLD")
        tolerance = arguments.tolerance
        tolerance = OPTIONS["tolerance"].default if tolerance is None else tolerance
        comparison = compare(old, new, tolerance=tolerance, strict=arguments.estimates)
        judged = Judged(comparison=comparison, open=comparison.regressions)
        return deliver_comparison(judged, path, arguments.pages, as_json=arguments.json)


def require_estimates(kind: RecordKind, arguments: argparse.Namespace) -> None:
    """Raise `InvalidInput` if estimates are to count where there are none."""
    if getattr(arguments, "estimates", False) and kind is not ATTACKS:
        raise InvalidInput("--estimates: has an effect on records of `dpassay attack` alone")


def deliver_comparison(judged: Judged, place: Path, pages: str | None, *, as_json: bool) -> int:
    """Print and write what was found, and return the exit code."""
    from dpassay.reports.run.comparisons import print_comparison, to_junit, to_markdown

    facts = judged.as_json()
    if pages is not None:
        writable(Path(pages))
        write_text(Path(pages) / "comparison.xml", to_junit(facts, place.parent))
        write_text(Path(pages) / "comparison.json", dumps(facts))
        write_text(Path(pages) / "comparison.md", to_markdown(facts, place.parent))
    if as_json:
        sys.stdout.write(dumps(facts))
    else:
        print_comparison(facts, place.parent, console())
    if judged.open:
        return Exit.REFUTED
    return Exit.INCONCLUSIVE if judged.comparison.blind else Exit.NOTHING
