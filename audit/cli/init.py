"""Write a commented configuration and an example that it audits.

The files are dpassay.toml and dpassay_example.py in the working directory.
Nothing is overwritten.

  dpassay init && dpassay run
      audit the example; then replace it by your own function
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser
from dpassay.config.load import FILE, PROJECT, read_file
from dpassay.config.template import CONFIG_TEXT, EXAMPLE_TEXT
from dpassay.errors import InvalidInput

EXAMPLE = "dpassay_example.py"


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)


def action(arguments: argparse.Namespace) -> int:  # noqa: ARG001  (every command has one signature)
    """Write a configuration that runs, and the example that it audits."""
    for name in (FILE, EXAMPLE):
        if Path(name).exists() or Path(name).is_symlink():
            raise InvalidInput(f"{name}: exists and is not overwritten; move it away first")
    if read_file(Path.cwd()) is not None:
        raise InvalidInput(
            f"{PROJECT}: has a table [tool.dpassay]; {FILE} would be a second configuration "
            "beside it"
        )
    written: list[Path] = []
    for name, text in ((EXAMPLE, EXAMPLE_TEXT), (FILE, CONFIG_TEXT)):
        try:
            with Path(name).open("x", encoding="utf-8", newline="\n") as file:
                written.append(Path(name))
                file.write(text)
        except OSError as error:
            for path in written:
                path.unlink(missing_ok=True)
            raise InvalidInput(f"{name}: cannot be written ({error.strerror})") from None
    sys.stdout.write(
        f"{FILE}: what is audited and how\n{EXAMPLE}: an example, for your own function\nnext: "
        "dpassay run\n"
    )
    return Exit.NOTHING
