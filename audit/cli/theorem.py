"""Check the quantitative statements of the three papers.

Each is compared with the truth: exactly on small cases, by certified Monte
Carlo, or by a search for counterexamples.

  dpassay theorem list --paper dwork-feldman-2018
      statements, and what checks them
  dpassay theorem run --out theorems
      check all, then open theorems/theorems.html
  dpassay theorem run dwork-feldman-2018/theorem-4.3
      the checks of one statement

exit codes:
  0    nothing refuted but what is known to be wrong
  1    a statement is refuted that was not known to be wrong
  2    no such row, paper or witness
  3    a check failed, or one known to be wrong was not refuted
  4    inconclusive: a violation could have been missed
  130  interrupted; the record holds what was finished
"""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from pathlib import Path

from dpassay.cli.exit_codes import Exit, of_record
from dpassay.cli.parser import Parser, add, add_option, add_switch
from dpassay.cli.shared import command_of, deliver
from dpassay.cli.terminal import console
from dpassay.config.options import OPTIONS
from dpassay.record.files import dumps, witness_file, writable, write_text
from dpassay.targets.source import commit
from dpassay.theorems.effort import Effort
from dpassay.theorems.page import as_json, lines
from dpassay.theorems.registry import chosen
from dpassay.theorems.statement import PAPERS


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    actions = command.add_subparsers(
        dest="action", metavar="list|run|replay", required=True, parser_class=Parser
    )
    listed = actions.add_parser("list", help="the statements, and the rows that check them")
    listed.describe("List the statements of the papers, and the rows that check them.")
    run = actions.add_parser("run", help="check statements")
    run.describe("Check statements; all of them where none is named.")
    run.add_argument("names", nargs="*", metavar="NAME", help="a row, a statement or a paper")
    add_switch(run, "--deep", "larger domains and more trials")
    add(run, "seed")
    add_option(run, "out", "write theorems.html, .json, .xml (JUnit) and witnesses there")
    for each in (listed, run):
        each.add_argument(
            "--paper", action="append", default=[], choices=list(PAPERS), help="of this paper"
        )
    add(listed, "--json")
    add(run, "--json --quiet")
    replay = actions.add_parser("replay", help="measure the case of a witness again")
    replay.describe("Measure the case of a witness again.")
    replay.add_argument("witness", metavar="WITNESS", help="a file below witnesses/ of a run")


def action(arguments: argparse.Namespace) -> int:
    """List statements, check them, or measure a witness again."""
    if arguments.action == "run":
        return _run(arguments)
    if arguments.action == "list":
        papers = arguments.paper or list(PAPERS)
        told = dumps(as_json(papers)) if arguments.json else "\n".join((*lines(papers), ""))
        sys.stdout.write(told)
        return Exit.NOTHING
    from dpassay.theorems.run import read_witness, replayed

    row, case, witness = read_witness(Path(arguments.witness))
    again = replayed(row, case)
    sys.stdout.write(dumps({"id": row.key, "again": again, "same": again == witness}))
    return Exit.NOTHING if again == witness else Exit.FAILED


def _run(arguments: argparse.Namespace) -> int:
    from dpassay import __version__, reports
    from dpassay.progress import bars
    from dpassay.reports.theorems.pages import FORMATS, print_rows
    from dpassay.theorems.run import check_rows, make_record, make_witness

    rows = chosen(arguments.names, arguments.paper)
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None:
        writable(directory)
    seed = OPTIONS["seed"].default if arguments.seed is None else arguments.seed
    found, complete = [], False
    try:
        with bars(quiet=arguments.quiet, smaller="fewer with NAME") as progress:
            for each in check_rows(rows, Effort(deep=arguments.deep, seed=seed), progress):
                found.append(each)  # noqa: PERF402  # what is done stays when the rest is stopped
        complete = True
    except KeyboardInterrupt:
        sys.stderr.write("dpassay: interrupted\n")
    facts = {
        "version": __version__,
        "packages": {name: metadata.version(name) for name in ("numpy", "scipy")},
        "commit": commit(),
        "seed": seed,
        "deep": arguments.deep,
        "command": command_of(arguments),
    }
    record = make_record(found, facts, complete=complete)

    def write(folder: Path) -> None:
        reports.write(record, FORMATS, folder, FORMATS)
        for result in record["results"]:
            if result["witness"] is not None:
                path = folder / witness_file(result["id"])
                write_text(path, dumps(make_witness(result, record["run"])))

    page = None if directory is None else directory / "theorems.html"
    deliver(record, page, write, lambda: print_rows(record, console()), arguments)
    return of_record(record, allow_inconclusive=False)
