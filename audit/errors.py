"""The errors a user can meet, and the one helper that words them."""

from __future__ import annotations

import math
import os
import re
import sysconfig
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

# compared with file names of a traceback, which are texts
OURS = os.path.dirname(__file__)  # noqa: PTH120
_PATHS = "stdlib", "platstdlib", "purelib", "platlib"
LIBRARIES = tuple(dict.fromkeys(sysconfig.get_paths()[name] for name in _PATHS))
"""Folders of code that is not the user's."""
# characters of what a mechanism says when it fails that are passed on, and of its traceback, which
# has so many frames
MOST_TEXT, MOST_TRACE, MOST_FRAMES = 500, 8000, 20


CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
"""Characters that do something to a terminal or page, or are none: no text of a stranger keeps them
(a class of a regular expression; tabs and line breaks are not among them)."""
OBEYED = re.compile(rf"[{CONTROL}]|(?<=#)#(?=\[|vso\[)")
"""Those, and what makes a command of any line of a log (Azure Pipelines, GitHub)."""
COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
"""What makes one of its beginning."""


class DpassayError(Exception):
    """Anything dpassay says on purpose; its text is one line meant for the user."""


class InvalidInput(DpassayError, ValueError):
    """Wrong usage, parameter or data (exit code 2): nothing was run and nothing was written."""


class LedgerError(DpassayError, RuntimeError):
    """The ledger cannot be read or written (exit code 3); what was finished stays in it."""


class ClusterError(DpassayError, RuntimeError):
    """A Dask cluster is lost or cannot do the work (exit code 3); the ledger keeps what it did."""


class OutputError(DpassayError, RuntimeError):
    """What has been found cannot be written (exit code 3): the disk is full, the folder has gone.

    What was finished is in the ledger, where that can still be written.
    """


class TargetError(DpassayError, RuntimeError):
    """The mechanism failed while it was audited (exit code 3).

    Its result is `error`, the rest of the run goes on.

    Parameters
    ----------
    cause : str
        What happened and where. It goes into the record.
    detail : str
        What the mechanism itself said, of what type and in which line of its code; below that the
        traceback. It may quote data, so it is shown but never recorded.
    """

    def __init__(self, cause: str, detail: str = "") -> None:
        said = first_line(detail)
        super().__init__(f"{cause}: {said}" if said else cause)
        self.cause = cause
        self.detail = detail

    def __reduce__(self) -> tuple[type[TargetError], tuple[str, str]]:
        return type(self), (self.cause, self.detail)

    @property
    def fatal(self) -> bool:
        """Return whether no search passes over it, since more runs would only repeat it."""
        passed = any(text in self.cause for text in LIMITS)
        return passed or self.cause.startswith((UNDECLARED, UNFORESEEN, UNREAD))

    @property
    def unforeseen(self) -> bool:
        """Return whether a run raised what no pilot had shown: a search begins anew."""
        return self.cause.startswith(UNFORESEEN)


UNDECLARED, UNFORESEEN, UNREAD = "output = ", "exception = ", "answer = "
"""How the causes of such errors begin, also those from another process; no others do."""
LIMITS = ("it gave no whole reply within", "its reply is longer than")
"""What the causes say of replies that pass a limit, also those from another process."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What stands for the answer of a run that raised an exception: that is an answer too.

    `kind` is the name of the exception's type; `detail`, what it said and where, is not part of the
    answer.
    """

    kind: str
    detail: str = field(default="", compare=False)

    @classmethod
    def of(cls, error: BaseException) -> Failed:
        """Return what stands for an exception."""
        return cls(type(error).__name__, told(error))


def printable(text: str, *, line: bool = True) -> str:
    """Return a text without what a terminal or a CI log would obey, in one line or several."""
    found = COMMAND.sub("\\g<1>\ufffd", OBEYED.sub("\ufffd", text))
    found = re.sub("[\t\n]", "\ufffd", found) if line else found
    return found[: 10_000 if line else 100_000]


def first_line(text: str) -> str:
    """Return what a detail says in short: it may have a traceback below."""
    return text.partition("\n")[0]


def told(error: BaseException) -> str:
    """Return 'message (Type at file:line in function)', of the user's code, and a traceback."""
    frames = traceback.extract_tb(error.__traceback__)

    def outside(frames: list[Any], folders: Iterable[str]) -> list[Any]:
        return [
            frame
            for frame in frames
            if not any(frame.filename.startswith(folder + os.sep) for folder in folders)
        ]

    theirs = outside(list(frames), [OURS])
    own = outside(theirs, LIBRARIES)
    place = ""
    if few := own or theirs or frames:
        file, here = few[-1].filename, os.getcwd()  # noqa: PTH109  (texts, not always of files)
        file = os.path.relpath(file, here) if file.startswith(here + os.sep) else file
        place = f" at {file}:{few[-1].lineno} in {few[-1].name}"
    # what is not ours may do anything, also when it is asked what went wrong
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001
        said = ""
    said = said if len(said) <= MOST_TEXT else f"{said[:MOST_TEXT]}..."
    line = f"{said} ({type(error).__name__}{place})" if said else f"{type(error).__name__}{place}"
    try:
        trace = "".join(traceback.format_exception(error, limit=-MOST_FRAMES))
    except Exception:  # noqa: BLE001
        return printable(line)
    return printable(f"{line}\n{trace[-MOST_TRACE:].rstrip()}", line=False)


def is_real(value: object) -> bool:
    """Return whether a value is a real number that a float can hold, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def as_real(value: object) -> float:
    """Return a real number, NumPy's and fractions included, as a float; NaN for all else."""
    return float(value) if is_real(value) else math.nan  # type: ignore[arg-type]


def is_count(value: object, least: int = 1) -> bool:
    """Return whether a value is an integer, NumPy's included, and at least `least`."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def require(condition: bool, argument: str, value: Any, allowed: str) -> None:
    """Raise `InvalidInput`, '`argument` = `value`: must be `allowed`', unless `condition` holds."""
    if not condition:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        raise InvalidInput(f"{argument} = {shown}: must be {allowed}")


def near(word: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """Return the name that a word was probably meant to be, whatever its case; else ''."""
    plain = {_bare(name): name for name in names}
    found = get_close_matches(_bare(word), plain, n=1, cutoff=likeness)
    return plain[found[0]] if found else ""


def _bare(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
