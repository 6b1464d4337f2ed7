"""What a command writes besides the reports.

The terminal, sidecars, the command that makes a record again.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpassay.cli.interrupts import interrupts
from dpassay.config.load import Config
from dpassay.config.options import TABLE
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput, OutputError
from dpassay.record.cells import FILE, write_cells
from dpassay.record.files import clearest_id, dumps, schema_at, witness_file, write_text
from dpassay.record.kinds import RUNS, WITNESS
from dpassay.record.witness import clearest, make_witness

ALONE = (
    *("--json", "-q", "--quiet", "-v", "--verbose"),
    *("--resume", "--allow-inconclusive", "--configured"),
)
WITH_A_VALUE = ("--out", "--jobs", "--executor", "--scheduler", "--shard-timeout", "--memory")
"""Options that change nothing in a record."""
PAGES = (
    *("index.html", "report.md", "junit.xml", FILE, "sidecar.json"),
    *("comparison.json", "comparison.md", "comparison.xml"),
    *("results.sarif", "comment.md"),
)
"""What lies beside a record and is made from it."""


def command_of(arguments: argparse.Namespace, config: Config | None = None) -> str:
    """Return the command that reproduces the record.

    Where it was written to and how it was run does not belong to it. What environment variables
    said is said by options, so that the command does the same without them; what a configuration
    file says stays there.
    """
    kept, rest = [], iter(arguments.words)
    for word in rest:
        if word in WITH_A_VALUE:
            next(rest, None)
        elif word not in ALONE and word.partition("=")[0] not in WITH_A_VALUE:
            kept.append(word)
    command, *kept = kept
    said = [
        TABLE[key].said(value)
        for key, value in ({} if config is None else config.said_by_environment()).items()
        if hasattr(arguments, key) and TABLE[key].flag not in WITH_A_VALUE
    ]
    return shlex.join(["dpassay", *command.split(), *said, *kept])


def clear(directory: Path) -> None:
    """Remove the pages of an earlier run from its folder, whatever becomes of this one.

    None of them may pass for this run's. Where the record is none of ours nothing is touched.
    Witnesses and the ledger stay; the record goes last.
    """
    from dpassay.reports.run.page.catalogue import remove_stale

    if not RUNS.holds(directory / "record.json"):
        return
    try:
        for name in (*PAGES, "record.json"):
            (directory / name).unlink(missing_ok=True)
        remove_stale(directory)
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None


def deliver(
    record: Mapping[str, Any],
    page: Path | None,
    write: Callable[[Path], None],
    show: Callable[[], None],
    arguments: argparse.Namespace,
    hint: str = "",
) -> None:
    """Write what was found into the folder of its page, print the record or show its table.

    A failure to write is an `OutputError`, since it is no wrong usage; `hint` says what to do.
    """
    if page is not None:
        try:
            write(page.parent)
        except InvalidInput as error:
            raise OutputError(f"{error}{hint}") from None
    if arguments.json:
        sys.stdout.write(dumps(record))
    else:
        show()
    interrupts.settle("what was found is printed")
    if page is not None and not arguments.quiet:
        sys.stderr.write(f"report: {page}\n")


def deliver_attacks(
    record: Mapping[str, Any],
    directory: Path | None,
    show: Callable[[], None],
    arguments: argparse.Namespace,
    beside: Mapping[str, str] | None = None,
    held: Sequence[str] | None = None,
) -> None:
    """Write the record of attacks, what lies beside it, its pages; print it, or what is shown.

    `held` names what held the attacked code back, as in `write_sidecars`.
    """
    from dpassay import reports
    from dpassay.reports.attack.pages import FORMATS

    def write(folder: Path) -> None:
        reports.write(record, ("json",), folder, FORMATS)
        for name, text in (beside or {}).items():
            write_text(folder / name, text)
        if held is not None:
            _write_circumstances(folder, protections=held)
        interrupts.settle(f"{folder / 'attack.json'} is written, its pages are not")
        pages = [name for name in FORMATS if name != "json"]
        reports.write(record, pages, folder, FORMATS, held)

    page = None if directory is None else directory / "attack.html"
    deliver(record, page, write, show, arguments)


def write_sidecars(
    directory: Path, results: list[Result], seconds: float, held: Sequence[str] = ()
) -> None:
    """Write what belongs beside a record: all cells, the circumstances, the witnesses.

    `held` names what held the audited code back.
    """
    write_cells(directory, results)
    _write_circumstances(directory, seconds=round(seconds, 3), protections=held)
    written = set()
    for each in (*results, *(each.measured for each in results if each.measured is not None)):
        for result in each.findings or (each,):
            cell = clearest(result)
            witnesses = {result.id: make_witness(result, None)}
            if cell is not None:
                witnesses[clearest_id(result.id)] = make_witness(result, cell)
            for name, witness in witnesses.items():
                if witness is not None:
                    path = directory / witness_file(name)
                    write_text(path, dumps(witness))
                    written.add(path)
    for path in (directory / "witnesses").glob("*.json"):
        if path not in written and schema_at(path) == WITNESS:
            path.unlink()  # of an earlier run into this folder


def _write_circumstances(directory: Path, **told: Any) -> None:
    """Write what may differ between equal runs."""
    here = {"host": platform.node(), "system": platform.platform()}
    told |= {**here, "python": platform.python_version()}
    write_text(directory / "sidecar.json", json.dumps(told, indent=2, sort_keys=True) + "\n")
