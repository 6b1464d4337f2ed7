"""The errors a user can meet, and the one helper that words them."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


class DpassayError(Exception):
    """Anything dpassay says on purpose; its text is one line meant for the user."""


class InvalidInput(DpassayError, ValueError):
    """Wrong usage, parameter or data (exit code 2): nothing was run and nothing was written."""


class LedgerError(DpassayError, RuntimeError):
    """The ledger of a run cannot be read or written (exit code 3): the run ends, what was finished stays in it."""


class AuditeeError(DpassayError, RuntimeError):
    """The mechanism failed while it was audited (exit code 3): its result is `error`, the rest of the run goes on.

    Parameters
    ----------
    cause : str
        What happened and where. It goes into the record.
    detail : str
        What the mechanism itself said. It may quote data, so it is shown but never recorded.
    """

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause
        self.detail = detail


def is_real(value: object) -> bool:
    """Whether a value is a real number, NumPy's included (and no truth value)."""
    return not isinstance(value, bool) and isinstance(value, Real)


def as_real(value: object) -> float:
    """Return a real number of any type, NumPy's and fractions included, as a float; NaN for all else and where none is near."""
    try:
        return float(value) if is_real(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        return math.nan


def is_count(value: object, least: int = 1) -> bool:
    """Whether a value is an integer, NumPy's included, and at least `least`."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def require(condition: bool, argument: str, value: Any, allowed: str) -> None:
    """Raise `InvalidInput` naming the argument, the value and what is allowed, unless `condition` holds.

    Parameters
    ----------
    condition : bool
        What must be true.
    argument, allowed : str
        The argument's name, and what it may be, to complete 'must be ...'.
    value : object
        The offending value; echoed, cut at 80 characters.

    Raises
    ------
    InvalidInput
        When `condition` is false.
    """
    if not condition:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        raise InvalidInput(f"{argument} = {shown}: must be {allowed}")
