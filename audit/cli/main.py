"""The command line: one command per module, each with its parser and its action."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any

from dpassay.cli.arguments.parser import Parser, codes
from dpassay.cli.exit_codes import EVERY, Exit
from dpassay.errors import DpassayError, InvalidInput, TargetError
from dpassay.targets.importing import DECIDING
from dpassay.workers.namespaces import lineage
from dpassay.workers.supervisor import untraceable

DEBUG = "--debug"
AGAIN = 0.05
"""Seconds after which an interrupt comes again that was swallowed."""
COMMANDS = {
    "run": "audit mechanisms against their claims",
    "plan": "how many trials a wanted detectable leak takes",
    "list": "the catalogue: mechanisms, their claims and sources",
    "explain": "one result: witness, counts, bound, how to repeat it",
    "replay": "run one witness again",
    "attack": "membership inference: what an attacker with query access learns",
    "compare-mechanisms": "which private classifier to use on a data set, and what it costs",
    "selftest": "check the harness on this machine",
    "theorem": "the statements of the papers, each an executable check",
    "zoo": "broken mechanisms and their correct twins: what a search finds",
    "init": "write a commented dpassay.toml and an example that runs",
    "config": "what is in force, and where it was said",
    "compare": "what has become worse from one record to another",
    "baseline": "accept a record, and compare later ones with it",
    "report": "write reports from a record",
    "completion": "what makes a shell complete commands, options and mechanisms",
}
"""Commands, in the order of the help; each lives in the module of its name."""


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of all commands.

    Only those that the words name know their options, since that takes time to import.
    """
    top = Parser(prog="dpassay")
    top.describe("Test a randomised algorithm against the privacy it claims.", codes(EVERY))
    top.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    top.add_argument(
        DEBUG,
        action="store_true",
        help="show the traceback of an error, also in your own code; goes with any command",
    )
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
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        The exit code; see `dpassay.cli.exit_codes`.
    """
    if "_ARGCOMPLETE" in os.environ:
        from dpassay.cli.completion import answer_shell

        answer_shell(parser(os.environ.get("COMP_LINE", "").split()))
    given = list(sys.argv[1:] if argv is None else argv)
    words = [word for word in given if word != DEBUG]  # wherever it stands; no number depends on it
    debug = len(words) < len(given)
    untraceable()
    DECIDING.add(lineage())
    try:
        with sigterm_as_ctrl_c():
            return _run(words, debug=debug)
    except DpassayError as error:
        _complain(f"dpassay: error: {' '.join(str(error).split())}\n", error if debug else None)
        return Exit.USAGE if isinstance(error, InvalidInput) else Exit.FAILED
    except KeyboardInterrupt:
        _complain("dpassay: interrupted\n")
        return Exit.INTERRUPTED
    # exit 1 means 'refuted': no bug of ours may leave with it
    except Exception as error:  # noqa: BLE001
        text = " ".join(str(error).split())
        told = (
            f"dpassay: error: {type(error).__name__}: {text} (a bug of dpassay, or a file or "
            "terminal that failed)\n"
        )
        _complain(told, error if debug else None)
        return Exit.FAILED
    finally:
        DECIDING.discard(lineage())


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM interrupt as Ctrl-C does: what is finished is written, no process stays behind.

    A batch system, a container or a CI job that runs out of time sends it. Whoever has a handler of
    their own keeps it.

    Either may come in a place that swallows exceptions, such as the end of an object: then it comes
    again.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_interrupt_again, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_again(otherwise: Callable[[Any], Any], swallowed: Any) -> None:
    """Interrupt once more, after this, where an interrupt has been swallowed."""
    if isinstance(swallowed.exc_value, KeyboardInterrupt):
        threading.Timer(AGAIN, _interrupt).start()
    else:
        otherwise(swallowed)


def _interrupt() -> None:
    """Interrupt the main thread from another one, if the command is not over."""
    if signal.getsignal(signal.SIGTERM) is signal.default_int_handler:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


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
    return import_module(f"dpassay.cli.{command.replace('-', '_')}")


def _complain(text: str, error: BaseException | None = None) -> None:
    """Write a complaint, and how it came to an error if that is given."""
    with suppress(OSError):  # whoever reads stderr may have gone
        sys.stderr.write(text)
        if error is not None:
            sys.stderr.writelines(traceback.format_exception(error))
            if isinstance(error, TargetError) and error.__cause__ is None and error.detail:
                # it came from another process, which alone had the traceback
                sys.stderr.write(f"{error.detail}\n")
