"""The folder of the mechanisms' pages: its files have names of their own, and go when stale."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from dpassay.errors import InvalidInput

FOLDER = "mechanisms"
"""Beside index.html."""
GENERATOR = "dpassay, a mechanism of the catalogue"
"""What the head of a page names as its maker: only such pages are removed."""
HEAD = 4000
"""Bytes of a page within which it names its maker."""
LONGEST = 60


def page_files(mechanisms: Iterable[str]) -> dict[str, str]:
    """Return the file of each mechanism below the folder of the reports.

    Lower-case letters, digits, dashes and dots only; no two mechanisms share one.
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    for name in mechanisms:
        if name in files:
            continue
        stem = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:LONGEST] or "mechanism"
        unique, number = stem, 1
        while unique in taken:
            number += 1
            unique = f"{stem}-{number}"
        taken.add(unique)
        files[name] = f"{FOLDER}/{unique}.html"
    return files


def remove_stale(directory: Path, kept: Collection[str] = ()) -> None:
    """Remove pages of mechanisms that we wrote, and their folder if nothing is left in it.

    `kept` are pages of this run, as `page_files` names them.
    """
    folder = directory / FOLDER
    if not folder.is_dir():
        return
    try:
        for path in sorted(folder.glob("*.html")):
            if f"{FOLDER}/{path.name}" not in kept and _ours(path):
                path.unlink()
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None
    with suppress(OSError):
        folder.rmdir()  # what is not ours stays, and the folder with it


def _ours(path: Path) -> bool:
    """Whether a file says in its head that we wrote it."""
    try:
        with path.open("rb") as file:
            return f'<meta name="generator" content="{GENERATOR}">'.encode() in file.read(HEAD)
    except OSError:
        return False
