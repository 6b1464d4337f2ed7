"""`dpassay completion`: what makes a shell complete a command line."""

from __future__ import annotations

import argparse
import sys

from dpassay.cli.arguments.parser import Parser, examples
from dpassay.cli.exit_codes import Exit

SHELLS = ("bash", "zsh", "fish")
DESCRIPTION = (
    "Print what makes a shell complete the commands, options and mechanisms of dpassay when TAB is "
    "pressed."
)
EXAMPLES = examples(
    ('eval "$(dpassay completion bash)"', "in ~/.bashrc; likewise with zsh in ~/.zshrc"),
    ("dpassay completion fish | source", "in ~/.config/fish/config.fish"),
)


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(DESCRIPTION, EXAMPLES)
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
