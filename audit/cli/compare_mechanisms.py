r"""Compare the private classifiers of the catalogue on your data.

Each is trained with the parameters that make it claim the same loss. Compared
are accuracy, what one answer really loses, what a membership attack gains, and
cost. It takes some minutes.

  dpassay compare-mechanisms --data people.csv --label income \
      --epsilon 1 --out compared
      everything at a claimed loss of 1; then open compared/index.html
  dpassay compare-mechanisms pate soft-majority --epsilon 0.5,1,2
      two mechanisms at three losses, on scikit-learn's breast cancer data

exit codes:
  0    the table is complete, whatever it says
  2    wrong usage, configuration or data
  3    a mechanism failed; the others are in the table
  130  interrupted; the table holds what was finished
"""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser, add, add_option, in_force
from dpassay.cli.settings import read_table
from dpassay.cli.shared import command_of, deliver
from dpassay.cli.terminal import console
from dpassay.engine.settings import Settings
from dpassay.frontier.accuracy import PUBLIC, split_of
from dpassay.frontier.entries import ENTRIES, USUAL
from dpassay.frontier.run import SCHEMA, ComparedEntries, compared
from dpassay.progress import bars
from dpassay.record.files import dumps, writable, write_text

EPSILONS = (1.0,)
SAMPLING = "certification trials per side of mechanisms without an exact law; takes long"


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    known = f"of {', '.join(ENTRIES)}; all by default but control, which is not private"
    command.add_argument("names", nargs="*", metavar="NAME", help=known)
    what = command.add_argument_group("what is compared")
    add_option(what, "epsilon", "claimed losses", "1")
    add(what, "splits membership")
    add_option(what, "budget", SAMPLING, "none; they are not audited")
    add(what, "confidence seed")
    add(command, "data label", "data")
    work = add(command, "jobs", "output; no number but the seconds depends on it")
    add_option(work, "out", "write frontier.json, costs.json and index.html there")
    add(work, "--json --quiet")


def action(arguments: argparse.Namespace) -> int:
    """Compare, print the table or the document, write the page."""
    from dpassay.reports.frontier.page import key_of, print_comparison, to_html

    config = in_force(arguments)
    table, directory = read_table(config), config.folder
    wanted = ComparedEntries(
        names=tuple(dict.fromkeys(arguments.names)) or USUAL,
        epsilons=config.epsilon if config.said("epsilon") else EPSILONS,
        splits=config.splits,
        attack=config.membership,
        sample=config.said("budget"),
        settings=Settings(**config.some("seed", "confidence", "budget", "jobs")),
    )
    if directory is not None:
        writable(directory)
    rows, costs = list[dict[str, Any]](), dict[str, dict[str, float]]()
    with (
        suppress(KeyboardInterrupt),  # what is done stays
        bars(quiet=arguments.quiet) as progress,
        redirect_stdout(sys.stderr),
    ):
        for row, cost in compared(table, wanted, progress):
            rows.append(row)
            costs[key_of(row)] = cost
    split = split_of(str(table.source["name"]), table.data, 0, seed=config.seed)
    missing = wanted.rows[len(rows) :]
    document = {
        "complete": not missing,
        "missing": list(missing),
        "schema": SCHEMA,
        "command": command_of(arguments),
        "data": table.source | {"records": len(table.data)},
        "splits": wanted.splits,
        "public": PUBLIC,
        "train": len(split.train),
        "test": len(split.test),
        "rows": rows,
    }

    def write(folder: Path) -> None:
        write_text(folder / "frontier.json", dumps(document))
        write_text(folder / "costs.json", dumps(costs))
        write_text(folder / "index.html", to_html(document, costs))

    page = None if directory is None else directory / "index.html"
    show = partial(print_comparison, document, costs, console())
    deliver(document, page, write, show, arguments)
    if missing:
        return Exit.INTERRUPTED
    return Exit.FAILED if any("error" in row for row in rows) else Exit.NOTHING
