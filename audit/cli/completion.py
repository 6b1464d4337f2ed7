"""Print the completion script for a shell.

With it, TAB completes the commands, options and mechanisms of dpassay.

Examples
--------
  eval "$(dpassay completion bash)"
      in ~/.bashrc; likewise with zsh in ~/.zshrc
  dpassay completion fish | source
      in ~/.config/fish/config.fish
"""

from __future__ import annotations

import argparse
import sys

from dpassay.cli.arguments.parser import Parser
from dpassay.cli.exit_codes import Exit

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


def answer_shell(parser: argparse.ArgumentParser) -> None:
    """Write what a command line may go on with, and leave; a shell has asked."""
    from argcomplete import autocomplete

    autocomplete(parser)
