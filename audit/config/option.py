"""One row of the table of options, and what makes rows of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.config.values import listed
from dpassay.errors import is_count, is_real, near, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: `--key` with hyphens on the command line, `DPASSAY_KEY` in the environment.

    A switch is true or false: on the command line it takes no value, and `--no-key` is its
    opposite.
    """

    key: str
    kind: Callable[[Any], Any]  # makes a value of a text
    holds: Callable[[Any], bool]  # whether a value is allowed
    allowed: str  # in words
    help: str  # for `--help` and the page
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
        self._require(value, argument)
        return self.kind(value)

    def from_text(self, text: str, argument: str) -> Any:
        """Read a value from a text."""
        try:
            value = self.kind(text)
        except (LookupError, ValueError, TypeError):
            value = text
        self._require(value, argument, text if isinstance(value, tuple) else value)
        return value

    def _require(self, value: Any, argument: str, shown: Any = None) -> None:
        """Raise `InvalidInput`, with what was perhaps meant, if a value is not allowed."""
        shown = value if shown is None else shown
        if not self.holds(value):
            meant = self.meant(shown)
            require(False, argument, shown, f"{self.allowed}; {meant}" if meant else self.allowed)


def count(key: str, least: int, most: int | None = None, why: str = "", **row: Any) -> Option:
    """Return the row of a whole number from `least` to `most`; `why` says why not more."""
    allowed = f"an integer >= {least}" if most is None else f"an integer from {least} to {most:,}"
    holds = lambda value: is_count(value, least) and (most is None or value <= most)  # noqa: E731

    meant = lambda value: why if most is not None and is_count(value, most) else ""  # noqa: E731
    usual: dict[str, Any] = {"metavar": "N", "meant": meant}
    return Option(key=key, kind=int, holds=holds, allowed=allowed, **usual | row)


def number(key: str, holds: Callable[[float], bool], allowed: str, **row: Any) -> Option:
    """Return the row of a number that fulfils a condition."""
    known = lambda value: is_real(value) and holds(value)  # noqa: E731
    return Option(key=key, kind=float, holds=known, allowed=allowed, **row)


def one_of(key: str, words: tuple[str, ...], **row: Any) -> Option:
    """Return the row of one of a few words."""
    holds = lambda value: isinstance(value, str) and value in words  # noqa: E731
    meant = lambda value: f"did you mean '{close}'?" if (close := near(str(value), words)) else ""  # noqa: E731
    allowed = f"one of {', '.join(words)}"
    return Option(key=key, kind=str, holds=holds, allowed=allowed, meant=meant, **row)


def several(key: str, one: Option, allowed: str, **row: Any) -> Option:
    """Return the row of a list; its items are values of another row, each of them once."""
    each: Callable[[Any], Any] = str.strip if one.kind is str else one.kind
    kind = lambda given: tuple(dict.fromkeys(map(each, listed(given))))  # noqa: E731
    holds = lambda value: (  # noqa: E731
        isinstance(value, tuple) and bool(value) and all(map(one.holds, value))
    )
    return Option(
        key=key,
        kind=kind,
        holds=holds,
        allowed=f"{allowed}, separated by commas",
        **{"metavar": "LIST"} | row,
    )


def text(key: str, **row: Any) -> Option:
    """Return the row of a text that is not empty."""
    holds = lambda value: isinstance(value, str) and value.strip() != ""  # noqa: E731
    return Option(key=key, kind=str, holds=holds, allowed="a text", **row)


def switch(key: str, **row: Any) -> Option:
    """Return the row of what is on or off."""
    words = {"true": True, "false": False}
    kind = lambda given: given if isinstance(given, bool) else words[str(given).lower()]  # noqa: E731
    holds = lambda value: isinstance(value, bool)  # noqa: E731
    usual: dict[str, Any] = {"default": False, "shown": "false", "switch": True}
    return Option(key=key, kind=kind, holds=holds, allowed="true or false", **usual | row)
