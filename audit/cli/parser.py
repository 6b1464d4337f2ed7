"""Command lines that complain in one line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def one_of(*allowed: str) -> Callable[[str], str]:
    """Return an argparse type that takes these words only (its own `choices` are worded differently by each Python)."""

    def check(word: str) -> str:
        if word not in allowed:
            raise argparse.ArgumentTypeError(f"'{word}' must be one of {', '.join(allowed)}")
        return word

    return check


def add_options(command: Any, *keys: str) -> None:
    """Add options of the table to a command or to a group of it; what is not said stays None."""
    for key in keys:
        option = OPTIONS[key]
        kind = one_of(*option.words) if option.words else option.kind
        text = f"{option.help} (default: {option.default_words})".replace("%", "%%")
        before = [f"--{option.was}"] if option.was else []
        text += f"; {before[0]} before dpassay 0.2" if before else ""
        command.add_argument(option.flag, *before, dest=key, type=kind, metavar=option.metavar, help=text)
