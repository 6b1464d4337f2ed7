"""What a command writes besides the reports.

The terminal, sidecars, the command that makes a record again.
"""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpassay.cli.interrupts import interrupts
from dpassay.config.options import OPTIONS
from dpassay.config.values import canonical
from dpassay.engine.result import Result
from dpassay.errors import InvalidInput, OutputError
from dpassay.record.cell_files import FILE, write_cells
from dpassay.record.files import clearest_id, dumps, witness_file, write_text
from dpassay.record.run_record import is_record
from dpassay.record.witness import clearest, is_witness, make_witness

ALONE = (
    "--json",
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--resume",
    "--allow-inconclusive",
    "--configured",
)
WITH_A_VALUE = ("--out", "--jobs", "--executor", "--scheduler", "--shard-timeout", "--memory")
"""Options that change nothing in a record."""
PAGES = (
    *("index.html", "report.md", "junit.xml", FILE, "sidecar.json"),
    *("comparison.json", "comparison.md", "comparison.xml"),
    *("results.sarif", "comment.md"),
)
"""What lies beside a record and is made from it."""


def command_of(words: list[str], environment: Mapping[str, Any] | None = None) -> str:
    """Return the command that reproduces the record.

    Where it was written to and how it was run does not belong to it.

    What environment variables said is said by options, so that the command does the same without
    them; what a configuration file says stays there.
    """
    kept, rest = [], iter(words)
    for word in rest:
        if word in WITH_A_VALUE:
            next(rest, None)
        elif word not in ALONE and word.partition("=")[0] not in WITH_A_VALUE:
            kept.append(word)
    kept = _canonical(kept)
    settings = {OPTIONS[key]: value for key, value in (environment or {}).items()}
    said = [
        option.said(value) for option, value in settings.items() if option.flag not in WITH_A_VALUE
    ]
    return shlex.join(["dpassay", *kept[:1], *said, *kept[1:]])


def _canonical(words: list[str]) -> list[str]:
    """Spell the parameters in one way; see `dpassay.config.values.canonical`."""
    found = list(words)
    for k, word in enumerate(words):
        text = (
            word
            if k and words[k - 1] == "-p"
            else word[2:]
            if word.startswith("-p") and len(word) > 2
            else ""
        )
        name, separator, value = text.partition("=")
        if separator:
            found[k] = f"{word[: len(word) - len(text)]}{name}={canonical(name.strip(), value)}"
    return found


def commit() -> str | None:
    """Return the commit of the folder we were started in, if it has one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def clear(directory: Path) -> None:
    """Remove the pages of an earlier run from its folder, whatever becomes of this one.

    None of them may pass for this run's. Where the record is none of ours nothing is touched.
    Witnesses and the ledger stay; the record goes last.
    """
    from dpassay.reports.run.page.folder import remove_stale

    if not is_record(directory / "record.json"):
        return
    try:
        for name in (*PAGES, "record.json"):
            (directory / name).unlink(missing_ok=True)
        remove_stale(directory)
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None


@contextmanager
def delivering(hint: str = "") -> Iterator[None]:
    """Write what has been found; a failure is an `OutputError`, since it is no wrong usage."""
    try:
        yield
    except InvalidInput as error:
        raise OutputError(f"{error}{hint}") from None


def write_sidecars(
    directory: Path, results: list[Result], seconds: float, held: Sequence[str] = ()
) -> None:
    """Write what belongs beside a record: all cells, the circumstances, the witnesses.

    `held` names what held the audited code back.
    """
    write_cells(directory, results)
    _write_circumstances(directory, seconds=round(seconds, 3), protections=held)
    written = set()
    measured = [result.measured for result in results]
    found = [
        (name, make_witness(result, cell))
        for each in (*results, *(other for other in measured if other is not None))
        for result in each.findings or (each,)
        for name, cell in ((result.id, None), (clearest_id(result.id), clearest(result)))
        if cell is not None or name == result.id
    ]
    for name, witness in found:
        if witness is not None:
            path = directory / witness_file(name)
            write_text(path, dumps(witness))
            written.add(path)
    for path in (directory / "witnesses").glob("*.json"):
        if path not in written and is_witness(path):
            path.unlink()  # of an earlier run into this folder


def _write_circumstances(directory: Path, **told: Any) -> None:
    """Write what may differ between equal runs."""
    here = {"host": platform.node(), "system": platform.platform()}
    told |= {**here, "python": platform.python_version()}
    write_text(directory / "sidecar.json", json.dumps(told, indent=2, sort_keys=True) + "\n")


def deliver_attacks(
    record: Mapping[str, Any],
    directory: Path | None,
    show: Callable[[], None],
    beside: Mapping[str, str] | None = None,
    held: Sequence[str] | None = None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the record of attacks, what lies beside it, its pages; print it, or what is shown.

    `held` names what held the attacked code back, as in `write_sidecars`.
    """
    from dpassay import reports
    from dpassay.reports.attack.pages import FORMATS

    if directory is not None:
        with delivering():
            reports.write(record, ("json",), directory, FORMATS)
            for name, text in (beside or {}).items():
                write_text(directory / name, text)
            if held is not None:
                _write_circumstances(directory, protections=held)
            interrupts.settle(f"{directory / 'attack.json'} is written, its pages are not")
            pages = {name: each for name, each in FORMATS.items() if name != "json"}
            reports.write(record, pages, directory, FORMATS, held)
    if as_json:
        sys.stdout.write(dumps(record))
    else:
        show()
    interrupts.settle("what was found is printed")
    if directory is not None and not quiet:
        sys.stderr.write(f"report: {directory / 'attack.html'}\n")
