"""One row of the table of options, and what makes rows of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dpassay.config.values import listed
from dpassay.errors import is_count, is_real, near, require


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `--key` with hyphens on the command line, `DPASSAY_KEY` in the environment.

    A switch is true or false: on the command line it takes no value, and `--no-key` is its
    opposite.
    """

    key: str
    kind: Callable[[Any], Any]  # makes a value of a text
    holds: Callable[[Any], bool]  # whether a value is allowed
    allowed: str  # in words
    help: str = ""  # for `--help` and the page
    default: Any = None  # None where there is none, or where the profile says it
    shown: str = ""  # the default in words
    metavar: str | None = None  # what stands for a value in `--help`
    switch: bool = False
    # what a value that is not allowed was perhaps meant to be, or why it is not
    meant: Callable[[Any], str] = lambda _: ""

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.key.replace('_', '-')}"

    def said(self, value: Any) -> str:
        """Return the word of a command line that says a value."""
        if not self.switch:
            return f"{self.flag}={value}"
        return self.flag if value else f"--no-{self.flag.removeprefix('--')}"

    @property
    def default_words(self) -> str:
        """The default, in words."""
        return self.shown or f"{self.default}"

    def value(self, value: Any, argument: str) -> Any:
        """Check a value and return it in its type."""
        self._require(value, argument, value)
        return self.kind(value)

    def from_text(self, text: str, argument: str) -> Any:
        """Read a value from a text."""
        try:
            value = self.kind(text)
        except (LookupError, ValueError, TypeError):
            value = text
        self._require(value, argument, text if isinstance(value, tuple) else value)
        return value

    def _require(self, value: Any, argument: str, shown: Any) -> None:
        if not self.holds(value):
            meant = self.meant(shown)
            require(False, argument, shown, f"{self.allowed}; {meant}" if meant else self.allowed)


def count(key: str, least: int, most: float = math.inf, *, why: str = "", **row: Any) -> Option:
    """Return the row of a whole number from `least` to `most`; `why` says why not more."""
    allowed = (
        f"an integer >= {least}" if most == math.inf else f"an integer from {least} to {most:,}"
    )
    meant = lambda value: why if is_count(value, least) and value > most else ""  # noqa: E731
    usual: dict[str, Any] = {"metavar": "N", "meant": meant}
    return Option(
        key, int, lambda value: is_count(value, least) and value <= most, allowed, **usual | row
    )


def number(key: str, interval: str, **row: Any) -> Option:
    """Return the row of a number in an interval like '[0.5, 1)'; `inf` stands for no limit."""
    low, high = map(float, interval[1:-1].split(","))

    def holds(value: Any) -> bool:
        inside = is_real(value) and low <= value <= high
        return (
            inside and (value > low or interval[0] == "[") and (value < high or interval[-1] == "]")
        )

    least = f"a finite number {'>=' if interval[0] == '[' else '>'} {low:g}"
    allowed = least if high == math.inf else f"a number in {interval}"
    return Option(key, float, holds, **{"allowed": allowed} | row)


def one_of(key: str, words: Iterable[str], **row: Any) -> Option:
    """Return the row of one of a few words."""
    known = tuple(words)
    meant = lambda value: f"did you mean '{close}'?" if (close := near(str(value), known)) else ""  # noqa: E731
    holds = lambda value: isinstance(value, str) and value in known  # noqa: E731
    return Option(key, str, holds, f"one of {', '.join(known)}", meant=meant, **row)


def several(key: str, one: Option, allowed: str, **row: Any) -> Option:
    """Return the row of a list; its items are values of another row, each of them once."""
    each: Callable[[Any], Any] = str.strip if one.kind is str else one.kind
    kind = lambda given: tuple(dict.fromkeys(map(each, listed(given))))  # noqa: E731
    holds = lambda value: isinstance(value, tuple) and value != () and all(map(one.holds, value))  # noqa: E731
    return Option(key, kind, holds, f"{allowed}, separated by commas", **{"metavar": "LIST"} | row)


def text(key: str, **row: Any) -> Option:
    """Return the row of a text that is not empty."""
    return Option(
        key, str, lambda value: isinstance(value, str) and value.strip() != "", "a text", **row
    )


def switch(key: str, *, default: bool | None = False, **row: Any) -> Option:
    """Return the row of what is on or off."""
    words = {"true": True, "false": False}
    kind = lambda given: given if isinstance(given, bool) else words[str(given).lower()]  # noqa: E731
    usual: dict[str, Any] = {"default": default, "shown": str(default).lower(), "switch": True}
    holds = lambda value: isinstance(value, bool)  # noqa: E731
    return Option(key, kind, holds, "true or false", **usual | row)
