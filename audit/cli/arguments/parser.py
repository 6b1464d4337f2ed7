"""Parsers with one-line errors, and the groups of options that several commands share."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from dpassay.config.load import Config, load_config
from dpassay.config.option import Option
from dpassay.config.options import TABLE
from dpassay.errors import InvalidInput, near

WIDTH = 78


def in_force(arguments: argparse.Namespace) -> Config:
    """Return what is in force: the command line, then variables, the file and the profile."""
    return load_config({key: getattr(arguments, key, None) for key in TABLE})


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options
        )

    def describe(self, page: str | None, epilog: str = "") -> None:
        """Set the page of help: a description, and what stands below the options.

        The examples, which are indented in `page`, stand there, then `epilog`.
        """
        text, _, examples = (page or "").partition("\n\n  ")
        self.description = textwrap.fill(" ".join(text.split()), WIDTH)
        examples = examples and f"examples:\n  {examples}"
        self.epilog = "\n".join(filter(None, (examples, epilog)))

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        chosen = re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)$", message)
        if chosen:
            what, word, known = chosen[1], chosen[2], re.findall(r"[\w-]+", chosen[3])
            command = what == "COMMAND" or "|" in what
            no = "no such command" if command else f"{what} must be one of {', '.join(known)}"
            close = near(word, known)
            message = f"'{word}': {no}" + (f"; did you mean '{close}'?" if close else "")
        for pattern, words in WORDS:
            message = re.sub(pattern, words, message)
        raise InvalidInput(f"{message} (see {self.prog} --help)")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read the words of one option; `--option=--` has none, which argparse lets pass."""
        found = super()._get_values(action, arg_strings)
        if action.nargs is None and isinstance(found, list):
            self.error(f"argument {'/'.join(action.option_strings)}: expected one argument")
        return found

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read words; one that is neither an option nor an argument is refused.

        With what was perhaps meant.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [each for each in self._option_string_actions if each.startswith("--")]
            close = near(unknown[0].partition("=")[0], options, likeness=0.7)
            told = f"; did you mean {close}?" if close else ""
            raise InvalidInput(
                f"{unknown[0]}: no such option or argument{told} (see {self.prog} --help)"
            )
        return found, unknown


WORDS = (
    (r"^argument (\S+): expected one argument$", r"\1: needs a value"),
    (r"^argument (\S+): ignored explicit argument (.*)$", r"\1: takes no value, not \2"),
    (r"^the following arguments are required: (.*)$", r"\1: is missing"),
)
"""What argparse says of wrong usage, and what we say instead; each Python says it a little
differently."""


class CheckedOption(argparse.Action):
    """Reads the value of an option by its row in the table, and refuses one that is not allowed."""

    row: Option

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        """Take a value."""
        del parser
        if self.row.switch:
            values = "false" if str(option).startswith("--no-") else "true"
        setattr(namespace, self.dest, self.row.from_text(values, self.row.flag))


def add_options(command: Any, *keys: str) -> None:
    """Add options of the table to a command or to a group of it; one that is not said is None."""
    for key in keys:
        add_option(command, key)


def add_option(
    command: Any,
    key: str,
    *,
    text: str = "",
    shown: str = "",
    flags: Sequence[str] = (),
    dest: str = "",
) -> None:
    """Add one option of the table; a command may say in words of its own what it means there.

    `flags` and `dest` replace its name on the command line and where its value is kept.
    """
    row = TABLE[key]
    told = f"{text or row.help} (default: {shown or row.default_words})".replace("%", "%%")
    names = flags or (row.flag,)
    if row.switch:
        names = (*names, *(f"--no-{name.removeprefix('--')}" for name in names))
    action = type("Checked", (CheckedOption,), {"row": row})
    command.add_argument(
        *names,
        dest=dest or key,
        action=action,
        metavar=row.metavar,
        nargs=0 if row.switch else None,
        help=told,
    )


def add_targets(command: Any, several: str = "*") -> None:
    """Add the mechanisms, and what is said of all of them."""
    text = "a name of `dpassay list`, or module:object of your own"
    add_mechanism(command, "targets", nargs=several, metavar="TARGET", help=text)


def add_foreign(command: Any) -> None:
    """Add programs and services, which are targets besides."""
    for option, metavar, what in (
        ("--process", "COMMAND", "a program that speaks JSON lines, like 'node server.js'"),
        ("--http", "URL", "a service that takes the same by POST"),
    ):
        text = f"audit {what} (docs/process.md); goes with --claim and --search"
        command.add_argument(option, action="append", default=[], metavar=metavar, help=text)


def add_parameters(command: Any) -> None:
    """Add the parameters of mechanisms."""
    command.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=(
            "a parameter, by the paper's letter; repeat for more. VALUE is 5, 0.1, true, a word, "
            "[0.1, 1] or "
            '{name="soft-majority", r=5}'
        ),
    )
    command.add_argument(
        "--learner",
        metavar="NAME",
        help=(
            "base learner: logistic, majority, tree, stump, nearest, naive-bayes, threshold or "
            "module:object"
        ),
    )


def add_subject(command: Any) -> None:
    """Add what says which claim of which mechanism is audited."""
    what = command.add_argument_group("what is audited")
    add_parameters(what)
    add_claim(what)
    add_options(what, "search", "together", "output", "search_seconds")


def add_claim(what: Any) -> None:
    """Add the claim that replaces those of a mechanism, and what a plain function answers."""
    what.add_argument(
        "--claim",
        metavar="CLAIM",
        help=(
            "hold this claim against it instead of the mechanism's own: epsilon=E, or "
            "epsilon=E,delta=D, or mu=M (Gaussian), or gamma=G (stability)"
        ),
    )
    what.add_argument(
        "--answers",
        metavar="WHICH",
        help=(
            "possible answers of a plain function: labels like 0,1,2 or numbers like 0..1, or .. "
            "for any number (default: 0,1)"
        ),
    )


def add_sizes(command: Any) -> None:
    """Add what decides how much is drawn."""
    add_options(command, "profile", "confidence", "seed")


def add_data(command: Any) -> None:
    """Add the data and how they are cut into training records and queries."""
    data = command.add_argument_group("data")
    add_options(data, "data", "label", "train", "queries", "train_queries", "neighbours")


def add_mechanism(command: Any, name: str, **options: Any) -> None:
    """Add an argument that a shell completes with the names of the catalogue."""

    def names(**_: object) -> list[str]:
        from dpassay.targets.catalogue import ENTRIES

        return list(ENTRIES)

    command.add_argument(name, **options).completer = names


def add_output(command: Any, *, what: str = "table", quiet: bool = True) -> None:
    """Add how a result is printed."""
    command.add_argument("--json", action="store_true", help=f"print JSON instead of the {what}")
    if quiet:
        command.add_argument(
            "-q", "--quiet", action="store_true", help="no progress and no remarks on stderr"
        )


def examples(*lines: tuple[str, str]) -> str:
    """Return the examples of a command: what is typed, and one sentence about it."""
    fill = partial(textwrap.fill, width=WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    told = (f"{_typed(command)}\n{fill(' '.join(text.split()))}" for command, text in lines)
    return "\n".join(["examples:", *told, ""])


def _typed(command: str) -> str:
    """Return a command line, cut before an option where it is too long for one line."""
    lines: list[str] = []
    rest = command
    while len(rest) + 2 > WIDTH and (place := rest.rfind(" -", 0, WIDTH - 8)) > 0:
        lines, rest = [*lines, rest[:place] + " \\"], "    " + rest[place + 1 :]
    return "\n".join(f"  {line}" for line in (*lines, rest))


def codes(meanings: Sequence[tuple[int, str]]) -> str:
    """Return a list of exit codes, for the end of a help page."""
    told = [
        textwrap.fill(f"{code:<4} {text}", WIDTH, initial_indent="  ", subsequent_indent=" " * 7)
        for code, text in meanings
    ]
    return "\n".join(["exit codes:", *told, ""])
