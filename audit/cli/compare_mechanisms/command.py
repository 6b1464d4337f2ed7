"""`dpassay compare-mechanisms`: which private classifier to use on a data set."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

from dpassay.cli.arguments.in_force import in_force
from dpassay.cli.arguments.options import read_table
from dpassay.cli.arguments.parser import (
    Parser,
    add_option,
    add_options,
    add_output,
    codes,
    examples,
)
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.progress import bars
from dpassay.cli.output.terminal import console
from dpassay.cli.shared import command_of, delivering
from dpassay.config.load import Config
from dpassay.data import Table
from dpassay.engine.settings import Settings
from dpassay.frontier.entries import ENTRIES, USUAL
from dpassay.frontier.run import SCHEMA, Wanted, compared
from dpassay.frontier.splits import PUBLIC, split_of
from dpassay.record.files import dumps, writable, write_text

EPSILONS = (1.0,)
SAMPLING = "certification trials per side of mechanisms without an exact law; takes long"
DESCRIPTION = """Train the private classifiers of the catalogue on your data, each with the \
parameters that make it claim the same
loss, and compare accuracy, what one answer really loses, what a membership attack gains, and \
cost. Takes some minutes."""
EXAMPLES = examples(
    (
        "dpassay compare-mechanisms --data people.csv --label income --epsilon 1 --out compared",
        "everything at a claimed loss of 1; then open compared/index.html",
    ),
    (
        "dpassay compare-mechanisms pate soft-majority --epsilon 0.5,1,2",
        "two mechanisms at three losses, on scikit-learn's breast cancer data",
    ),
    (
        "dpassay compare-mechanisms --jobs 4",
        "train what the membership attacks need in four processes of this machine",
    ),
)
CODES = codes(
    (
        (Exit.NOTHING, "the table is complete, whatever it says"),
        (Exit.USAGE, "wrong usage, configuration or data"),
        (Exit.FAILED, "a mechanism failed; the others are in the table"),
        (Exit.INTERRUPTED, "interrupted; the table holds what was finished"),
    )
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, f"{EXAMPLES}\n{CODES}")
    known = f"of {', '.join(ENTRIES)}; all by default but control, which is not private"
    command.add_argument("names", nargs="*", metavar="NAME", help=known)
    what = command.add_argument_group("what is compared")
    add_option(what, "epsilon", text="claimed losses", shown="1")
    add_options(what, "splits", "membership")
    add_option(what, "budget", text=SAMPLING, shown="none; they are not audited")
    add_options(what, "confidence", "seed")
    add_options(command.add_argument_group("data"), "data", "label")
    work = command.add_argument_group("output; no number but the seconds depends on it")
    add_option(work, "jobs")
    add_option(work, "out", text="write frontier.json, costs.json and index.html there")
    add_output(work)


def action(arguments: argparse.Namespace) -> int:
    """Compare, print the table or the document, write the page."""
    from dpassay.reports.frontier.view import key_of

    config = in_force(arguments)
    table, wanted = read_table(config), wanted_of(arguments, config)
    directory = None if config.out is None else Path(config.out)
    if directory is not None:
        writable(directory)
    found = _found(table, wanted, quiet=arguments.quiet)
    rows = [row for row, _ in found]
    document = _document(rows, table, wanted, arguments)
    _deliver(document, {key_of(row): cost for row, cost in found}, directory, arguments)
    if not document["complete"]:
        return Exit.INTERRUPTED
    return Exit.FAILED if any("error" in row for row in rows) else Exit.NOTHING


def _found(
    table: Table, wanted: Wanted, *, quiet: bool
) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Return rows and their costs; what is done stays when the rest is interrupted."""
    found = []
    with (
        suppress(KeyboardInterrupt),
        bars(quiet=quiet) as progress,
        redirect_stdout(sys.stderr),
    ):
        for each in compared(table, wanted, progress):
            found.append(each)  # noqa: PERF402  # a list of all would be lost
    return found


def wanted_of(arguments: argparse.Namespace, config: Config) -> Wanted:
    """Return what a command line asks for."""
    alone = config.command_line
    settings = Settings(
        seed=config.seed,
        confidence=config.confidence,
        budget=config.budget,
        jobs=config.jobs,
    )
    return Wanted(
        names=tuple(dict.fromkeys(arguments.names)) or USUAL,
        epsilons=alone["epsilon"] if config.said("epsilon") else EPSILONS,
        splits=alone["splits"],
        attack=alone["membership"],
        sample=config.said("budget"),
        settings=settings,
    )


def _document(
    rows: list[dict[str, Any]], table: Table, wanted: Wanted, arguments: argparse.Namespace
) -> dict[str, Any]:
    split = split_of(str(table.source["name"]), table.data, 0, seed=wanted.settings.seed)
    missing = wanted.rows[len(rows) :]
    return {
        "complete": not missing,
        "missing": list(missing),
        "schema": SCHEMA,
        "command": command_of(arguments.words),
        "data": table.source | {"records": len(table.data)},
        "splits": wanted.splits,
        "public": PUBLIC,
        "train": len(split.train),
        "test": len(split.test),
        "rows": rows,
    }


def _deliver(
    document: dict[str, Any],
    costs: dict[str, dict[str, float]],
    directory: Path | None,
    arguments: argparse.Namespace,
) -> None:
    from dpassay.reports.frontier.page import print_comparison, to_html

    if directory is not None:
        with delivering():
            write_text(directory / "frontier.json", dumps(document))
            write_text(directory / "costs.json", dumps(costs))
            write_text(directory / "index.html", to_html(document, costs))
    if arguments.json:
        sys.stdout.write(dumps(document))
    else:
        print_comparison(document, costs, console())
    if directory is not None and not arguments.quiet:
        sys.stderr.write(f"report: {directory / 'index.html'}\n")
