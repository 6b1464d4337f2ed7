"""The history of a baseline: every version of the file that git knows, oldest first."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.run_record import read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A version of a baseline."""

    commit: str
    date: str
    record: Mapping[str, Any] | None


def revisions(path: Path) -> tuple[Revision, ...]:
    """Return the committed versions of a baseline, oldest first.

    Raises
    ------
    InvalidInput
        If git is missing, or knows no version of the file.
    """
    told = _git(path, "log", "--reverse", "--format=%h %cs", "--", path.name)
    if not told.strip():
        raise InvalidInput(f"--baseline = '{path}': git knows no version of it; commit it first")
    found = []
    for line in told.splitlines():
        commit, date = line.split()
        found.append(Revision(commit=commit, date=date, record=_read(path, commit)))
    return tuple(found)


def _read(path: Path, commit: str) -> Mapping[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "baseline.json")
        try:
            copy.write_text(_git(path, "show", f"{commit}:./{path.name}"), encoding="utf-8")
            return read_record(copy)
        except InvalidInput:  # that commit removed the file, or it was no record of today
            return None


def _git(path: Path, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *words],  # noqa: S607
            cwd=path.resolve().parent,
            capture_output=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        raise InvalidInput(
            f"--baseline = '{path}': its history cannot be read; it must lie in a repository of git"
        ) from None
    return done.stdout.decode(encoding="utf-8", errors="replace")
