"""The command line: one command per module, each with its parser and its action."""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from dpassay.cli.exit_codes import EVERY, Exit
from dpassay.cli.interrupts import sigterm_as_ctrl_c
from dpassay.cli.parser import Parser, codes
from dpassay.cli.terminal import open_streams
from dpassay.errors import DpassayError, InvalidInput, TargetError, printable
from dpassay.targets.importing import DECIDING
from dpassay.workers.namespaces import lineage
from dpassay.workers.supervisor import untraceable

DEBUG = "--debug"
COMMANDS = {
    "run": "audit mechanisms against their claims",
    "plan": "show how many trials it takes to detect a leak",
    "list": "list the catalogue: mechanisms, their claims and sources",
    "explain": "explain one result: witness, counts, bound, how to repeat it",
    "replay": "run one witness again",
    "attack": "attack models by queries: who was in the training set",
    "attack service": "find defects of a prediction service of your own",
    "attack signals": "attack models that are already trained, by their scores",
    "compare-mechanisms": "compare private classifiers on your data: accuracy, leak, cost",
    "selftest": "check the harness on this machine",
    "theorem": "check the statements of the papers",
    "init": "write a commented dpassay.toml and an example that runs",
    "config": "show the configuration, and where each value comes from",
    "compare": "show what has become worse from one record to another",
    "baseline": "accept a record, and compare later ones with it",
    "report": "write reports from a record",
    "completion": "print the completion script for a shell",
}
"""Commands, in the order of the help; each lives in the module of its name.

The parser takes one of two words as one.
"""


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of all commands.

    Only those that the words name know their options, since that takes time to import.
    """
    top = Parser(prog="dpassay")
    top.describe("Test a randomised algorithm against the privacy it claims.", codes(EVERY))
    top.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    text = "show the traceback of an error, also in your own code; goes with any command"
    top.add_argument(DEBUG, action="store_true", help=text)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name in words:
            _module(name).add_arguments(command)
    return top


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the words of a command line; an option that does not exist is refused."""
    return parser(words).parse_args(words)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process, and return the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        from dpassay.cli.completion import answer_shell

        answer_shell(parser)
    open_streams()
    given = list(sys.argv[1:] if argv is None else argv)
    words = [word for word in given if word != DEBUG]  # wherever it stands; no number depends on it
    debug = len(words) < len(given)
    if " ".join(words[:2]) in COMMANDS:
        words[:2] = [" ".join(words[:2])]
    untraceable()
    DECIDING.add(lineage())
    try:
        with sigterm_as_ctrl_c():
            return _run(words, debug=debug)
    except DpassayError as error:
        _complain(f"dpassay: error: {' '.join(str(error).split())}\n", error if debug else None)
        return Exit.USAGE if isinstance(error, InvalidInput) else Exit.FAILED
    except KeyboardInterrupt as interrupt:
        _complain(": ".join(("dpassay: interrupted", *interrupt.args)) + "\n")
        return Exit.INTERRUPTED
    # exit 1 means 'refuted': no bug of ours may leave with it
    except Exception as error:  # noqa: BLE001
        why = "a file failed" if isinstance(error, OSError) else "a bug of dpassay"
        text = " ".join(str(error).split())
        told = f"dpassay: error: {type(error).__name__}: {text} ({why})\n"
        _complain(told, error if debug else None)
        return Exit.FAILED
    finally:
        DECIDING.discard(lineage())


def _run(words: list[str], *, debug: bool) -> int:
    """Do what a command line asks for."""
    arguments = parse(words)
    arguments.debug, arguments.words = debug, words
    if arguments.version:
        from dpassay import __version__

        sys.stdout.write(f"dpassay {__version__}\n")
        return Exit.NOTHING
    if arguments.command is None:
        parser().print_help()
        return Exit.USAGE
    return int(_module(arguments.command).action(arguments))


def _module(command: str) -> Any:
    return import_module(f"dpassay.cli.{re.sub('[- ]', '_', command)}")


def _complain(text: str, error: BaseException | None = None) -> None:
    """Write a complaint, and how it came to an error if that is given."""
    if error is not None:
        text += "".join(traceback.format_exception(error))
        if isinstance(error, TargetError) and error.__cause__ is None and error.detail:
            # it came from another process, which alone had the traceback
            text += f"{error.detail}\n"
    sys.stderr.write(printable(text, line=False))
