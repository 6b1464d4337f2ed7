"""Options: one row each, from which the command line, the file, the environment, pytest and docs/configuration.md are made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.errors import is_count, is_real, require

CONFIDENCE = 0.999
"""Of a whole run, by default."""
BUDGET = 20_000
"""Certification trials per side and finalist, by default."""
SHARD_TIMEOUT = 60.0
"""Seconds that a step of a user's code may take, by default."""
MEMORY = 4.0
"""GiB that a process of a user's code may take, by default."""
MOST_BUDGET = 10**10
"""More trials would never end."""
MOST_JOBS = 1024

PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"train": 100, "queries": 5, "train_queries": 5, "neighbours": "one+flip", "budget": BUDGET},
    "default": {"train": 400, "queries": 20, "neighbours": "one+flip", "budget": BUDGET},
    "deep": {"train": 1000, "queries": 50, "neighbours": "one+flip", "budget": 200_000},
}
"""Sizes of everything that the user did not size. `quick` sees 1.5 times a claim of 1 through answers of probability 0.4."""
MODES = ("auto", "exact", "exhaustive", "monte-carlo")
NEIGHBOURS = ("one", "flip", "one+flip", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    Parameters
    ----------
    key : str
        Its name in a file; `--key` with hyphens on the command line, `DPASSAY_KEY` in the environment.
    kind : callable
        Makes a value of a text.
    holds : callable
        Whether a value is allowed.
    allowed : str
        What is allowed, in words.
    help : str
        What it means, for `--help` and the page.
    default : object
        None where there is none, or where the profile says it.
    shown : str
        The default in words; by default the default itself.
    words : tuple of str
        Every value there is, if they are few.
    was : str
        Its name before, which still works.
    metavar : str, optional
        What stands for a value in `--help`.
    """

    key: str
    kind: Callable[[Any], Any]
    holds: Callable[[Any], bool]
    allowed: str
    help: str
    default: Any = None
    shown: str = ""
    words: tuple[str, ...] = ()
    was: str = ""
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.key.replace('_', '-')}"

    @property
    def default_words(self) -> str:
        """The default, in words."""
        return self.shown or f"{self.default}"

    def value(self, value: Any, argument: str) -> Any:
        """Check a value and return it in its type."""
        require(self.holds(value), argument, value, self.allowed)
        return self.kind(value)

    def from_text(self, text: str, argument: str) -> Any:
        """Read a value from a text."""
        try:
            value = self.kind(text)
        except ValueError:
            value = text
        return self.value(value, argument)


def _count(key: str, least: int, most: int | None = None, **row: Any) -> Option:
    allowed = f"an integer >= {least}" if most is None else f"an integer from {least} to {most:,}"
    holds = lambda value: is_count(value, least) and (most is None or value <= most)  # noqa: E731
    return Option(key=key, kind=int, holds=holds, allowed=allowed, **{"metavar": "N"} | row)


def _number(key: str, holds: Callable[[float], bool], allowed: str, **row: Any) -> Option:
    return Option(key=key, kind=float, holds=lambda value: is_real(value) and holds(value), allowed=allowed, **row)


def _one_of(key: str, words: tuple[str, ...], **row: Any) -> Option:
    holds = lambda value: isinstance(value, str) and value in words  # noqa: E731
    return Option(key=key, kind=str, holds=holds, allowed=f"one of {', '.join(words)}", words=words, **row)


def _text(key: str, **row: Any) -> Option:
    return Option(key=key, kind=str, holds=lambda value: isinstance(value, str) and value != "", allowed="a text", **row)


OPTIONS: dict[str, Option] = {
    option.key: option
    for option in (
        _one_of(
            "profile",
            tuple(PROFILES),
            default="default",
            metavar="PROFILE",
            help="quick, default or deep: the sizes of everything that is not set otherwise",
        ),
        _count("seed", 0, default=0, help="root of all random streams"),
        _number(
            "confidence",
            lambda value: 0.5 <= value < 1,
            "a number in [0.5, 1)",
            default=CONFIDENCE,
            help="confidence of the whole run, at least 0.5",
        ),
        _one_of(
            "mode",
            MODES,
            default="auto",
            metavar="MODE",
            help="auto (exact where the mechanism has a law), exact, exhaustive or monte-carlo",
        ),
        _count(
            "budget",
            100,
            MOST_BUDGET,
            default=BUDGET,
            shown="by profile",
            metavar="TRIALS",
            help="certification trials per side and finalist, for monte-carlo",
        ),
        _count("jobs", 1, MOST_JOBS, default=1, help="processes that run trials; no number depends on it"),
        _number(
            "detect",
            lambda value: 0 < value <= sys.float_info.max,
            "a finite number > 0",
            shown="1.5 times the claim, at most half-way to the largest possible leak",
            metavar="LEAK",
            help="leak that sampling must be able to detect, above the claim and in its units",
        ),
        _text("out", shown="none", metavar="DIR", help="folder for the record and the reports"),
        _text(
            "baseline",
            default="dpassay-baseline.json",
            metavar="FILE",
            help="the accepted record, which later runs are compared with",
        ),
        _number(
            "tolerance",
            lambda value: 0 <= value <= 1,
            "a number in [0, 1]",
            default=0.05,
            metavar="PART",
            help="part of a claim by which a bound may rise before it is a regression",
        ),
        _text("data", shown="scikit-learn's breast cancer data", metavar="FILE", help="CSV file with a header line"),
        _text("label", was="target", shown="none", metavar="COLUMN", help="the column of --data that holds the label"),
        _count("train", 1, shown="by profile", default=400, help="training records, at most"),
        _count("queries", 1, shown="by profile", default=20, help="held-out query points, at most"),
        _count(
            "train_queries", 0, shown="by profile", default=0, help="training records whose points are query points too, at most"
        ),
        _one_of(
            "neighbours",
            NEIGHBOURS,
            shown="by profile",
            default="one+flip",
            metavar="WHICH",
            help="per training record: one (replaced from the pool), flip (its label), one+flip, or all (every replacement)",
        ),
    )
}
"""Every option that a file or the environment may set."""
