"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dpassay.errors import InvalidInput


def write_text(path: Path, text: str) -> None:
    """Write a text file so that no reader ever sees half of it; an older one is replaced.

    Raises
    ------
    InvalidInput
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInput(f"--out = '{path.parent}': cannot be written ({error.strerror})") from None


def writable(directory: Path) -> None:
    """Make sure that files can be written into a directory, which is made if need be, before any work is done for them.

    Raises
    ------
    InvalidInput
        If they cannot.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None
