"""Print the completion script for a shell.

With it, TAB completes the commands, options and mechanisms of dpassay.

  eval "$(dpassay completion bash)"
      in ~/.bashrc; likewise with zsh in ~/.zshrc
  dpassay completion fish | source
      in ~/.config/fish/config.fish
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence

from dpassay.cli.exit_codes import Exit
from dpassay.cli.parser import Parser

SHELLS = ("bash", "zsh", "fish")


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    command.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def action(arguments: argparse.Namespace) -> int:
    """Print the code for a shell."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["dpassay"], shell=arguments.shell))
    return Exit.NOTHING


def answer_shell(parser: Callable[[Sequence[str]], argparse.ArgumentParser]) -> None:
    """Write what a command line may go on with, and leave; a shell has asked."""
    from argcomplete import autocomplete

    line, place = os.environ.get("COMP_LINE", ""), int(os.environ.get("COMP_POINT", "0"))
    two = re.match(r"\s*\S+\s+attack (?=(service|signals)\s)", line)
    if two and two.end() < place:  # the parser takes them as one word
        os.environ["COMP_LINE"] = f"{line[: two.end() - 1]}\\{line[two.end() - 1 :]}"
        os.environ["COMP_POINT"] = str(place + 1)
    autocomplete(parser([f"attack {two[1]}"] if two else line.split()))
