"""Faults of a mechanism: whatever a call of it raises becomes one `TargetError`, with a hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dpassay.errors import TargetError, first_line, told

T = TypeVar("T")
TABLE = "data.X are its features, data.y its labels"
COPIED = (
    "writes into what it is given, which is read-only; copy it first: data = data.copy(), of "
    "records X = data.X.copy()"
)
"""What is said of calls that new users often make."""


def guarded(name: str, method: str, where: str, call: Callable[[], T]) -> T:
    """Call a method of a mechanism; a `TargetError` names both and what the call is about."""
    try:
        with np.errstate():  # what it does to NumPy's handling of errors is undone
            return call()
    except TargetError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        detail, kind = told(error), type(error).__name__
        raise TargetError(
            f"{method} on {where} raised {kind}{hint(name, kind, first_line(detail))}", detail
        ) from error


def hint(name: str, kind: str, line: str) -> str:
    """Return the usual mistake behind an exception, from its class and its first line."""
    if kind == "ValueError" and "read-only" in line:
        return f" ({name} {COPIED})"
    return f" ({TABLE})" if "'Labelled' object" in line else ""
