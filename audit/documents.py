"""How documents are written: canonical JSON, computed numbers with 12 digits, files that are whole or not there."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal, localcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpassay.errors import InvalidInput

DIGITS = 12
"""Computed numbers are written with this many significant digits, so that equal runs give equal bytes."""


def number(value: float) -> float | str:
    """Return a computed number as it is recorded: 12 significant digits, infinities as text."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{float(value):.{DIGITS}g}")


def percent(share: float) -> str:
    """Write a share as a percentage, with as many digits as it needs, ten at most; rounded down, so that 100 % is all of it."""
    with localcontext(prec=DIGITS - 2, rounding=ROUND_FLOOR):
        return f"{(100 * Decimal(repr(float(share)))).normalize():f} %"


def dumps(document: Mapping[str, Any]) -> str:
    """Write a document as canonical JSON: sorted keys, two spaces, one newline at the end, no NaN."""
    return json.dumps(document, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def witness_file(result_id: str) -> str:
    """Return the path of a result's witness below the folder of its run; different ids never share one."""
    return f"witnesses/{quote(result_id, safe='', errors='surrogatepass')}.json"


def write_text(path: Path, text: str, argument: str = "") -> None:
    """Write a text file so that no reader ever sees half of it; an older one is replaced.

    Parameters
    ----------
    path : Path
    text : str
    argument : str
        The argument that named the file, for the message; by default the folder's, which is --out.

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
        named = f"{argument} = '{path}'" if argument else f"--out = '{path.parent}'"
        raise InvalidInput(f"{named}: cannot be written ({error.strerror})") from None


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
