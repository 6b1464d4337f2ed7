"""Parsers with one-line errors, and what several commands can be asked."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from dpassay.config.load import Config, load_config
from dpassay.config.option import Option
from dpassay.config.options import TABLE
from dpassay.errors import InvalidInput, near

WIDTH = 78
FOREIGN = "(docs/process.md); goes with --claim and --search"
ON = {"action": "store_true"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "targets": {
        "nargs": "*",
        "metavar": "TARGET",
        "help": "a name of `dpassay list`, or module:object of your own",
    },
    "--process": {
        "metavar": "COMMAND",
        "help": f"audit a program that speaks JSON lines, like 'node server.js' {FOREIGN}",
    },
    "--http": {"metavar": "URL", "help": f"audit a service that takes the same by POST {FOREIGN}"},
    "-p": {
        "dest": "parameters",
        "metavar": "NAME=VALUE",
        "help": "a parameter, by the paper's letter; repeat for more. VALUE is 5, 0.1, true, a "
        'word, [0.1, 1] or {name="soft-majority", r=5}',
    },
    "--learner": {
        "metavar": "NAME",
        "help": "base learner: logistic, majority, tree, stump, nearest, naive-bayes, threshold or "
        "module:object",
    },
    "--claim": {
        "metavar": "CLAIM",
        "help": "hold this claim against it instead of the mechanism's own: epsilon=E, or "
        "epsilon=E,delta=D, or mu=M (Gaussian), or gamma=G (stability)",
    },
    "--answers": {
        "metavar": "WHICH",
        "help": "possible answers of a plain function: labels like 0,1,2 or numbers like 0..1, or "
        ".. for any number (default: 0,1)",
    },
    "--json": ON | {"help": "print JSON instead of the table"},
    "--quiet": ON | {"help": "no progress and no remarks on stderr"},
    "--allow-inconclusive": ON | {"help": "exit with 0 instead of 4"},
    "--estimates": ON
    | {"help": "of attacks: an AUC whose interval lies above the old one is a regression too"},
}
"""What is asked for by words of its own, not by a row of the table of options."""
for _key in ("--process", "--http", "-p"):
    ARGUMENTS[_key] |= {"action": "append", "default": []}
SUBJECT = "-p --learner --claim --answers search together output search_seconds"
SIZES = "profile confidence seed"
DATA = "data label train queries train_queries neighbours"
"""What several commands can be asked, see `add`."""
WORDS = (
    (r"^argument (\S+): expected one argument$", r"\1: needs a value"),
    (r"^argument (\S+): ignored explicit argument (.*)$", r"\1: takes no value, not \2"),
    (r"^the following arguments are required: (.*)$", r"\1: is missing"),
)
"""What argparse says of wrong usage, and what we say instead; each Python says it a little
differently."""


def in_force(arguments: argparse.Namespace) -> Config:
    """Return what is in force: the command line, then variables, the file and the profile."""
    return load_config({key: getattr(arguments, key, None) for key in TABLE})


class Parser(argparse.ArgumentParser):
    """Reports wrong usage in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options
        )

    def describe(self, page: str | None, *epilogs: str) -> None:
        """Set the page of help: a description, and what stands below the options.

        The examples, which are indented in `page`, stand there, then the epilogs.
        """
        text, _, examples = (page or "").partition("\n\n  ")
        self.description = textwrap.fill(" ".join(text.split()), WIDTH)
        examples = examples and f"examples:\n  {examples}"
        self.epilog = "\n".join(filter(None, (examples, *epilogs)))

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
        """Read words; refuse one that is neither an option nor an argument, with a guess."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [each for each in self._option_string_actions if each.startswith("--")]
            close = near(unknown[0].partition("=")[0], options, likeness=0.7)
            told = f"; did you mean {close}?" if close else ""
            raise InvalidInput(
                f"{unknown[0]}: no such option or argument{told} (see {self.prog} --help)"
            )
        return found, unknown


class CheckedOption(argparse.Action):
    """Reads the value of an option by its row in the table, and refuses one that is not allowed."""

    def __init__(self, *, row: Option, **rest: Any) -> None:
        self._row = row
        super().__init__(**rest, metavar=row.metavar, nargs=0 if row.switch else None)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        """Take a value."""
        del parser
        if self._row.switch:
            values = "false" if str(option).startswith("--no-") else "true"
        setattr(namespace, self.dest, self._row.from_text(values, self._row.flag))


def add(command: Any, keys: str, group: str = "") -> Any:
    """Add rows of the table of options, and arguments like `--json`, to a command or a new group.

    An option that is not said is None.
    """
    command = command.add_argument_group(group) if group else command
    for key in keys.split():
        if key in TABLE:
            add_option(command, key)
        elif key == "targets":
            add_mechanism(command, key)
        else:
            short = ["-q"] if key == "--quiet" else []
            command.add_argument(*short, key, **ARGUMENTS[key])
    return command


def add_option(
    command: Any,
    key: str,
    text: str = "",
    shown: str = "",
    *,
    flags: Sequence[str] = (),
    dest: str = "",
) -> None:
    """Add one option of the table; a command may say in words of its own what it means there.

    `flags` and `dest` replace its name on the command line and where its value is kept.
    """
    row = TABLE[key]
    told = f"{text or row.help} (default: {shown or row.default_words})".replace("%", "%%")
    names = [*(flags or (row.flag,)), *([row.flag.replace("--", "--no-", 1)] if row.switch else [])]
    command.add_argument(*names, dest=dest or key, action=CheckedOption, row=row, help=told)


def add_switch(command: Any, flag: str, text: str) -> None:
    """Add what is true if a command line says it."""
    command.add_argument(*flag.split(), action="store_true", help=text)


def add_mechanism(command: Any, name: str, **options: Any) -> None:
    """Add an argument that a shell completes with the names of the catalogue."""

    def names(**_: object) -> list[str]:
        from dpassay.targets.catalogue import ENTRIES

        return list(ENTRIES)

    command.add_argument(name, **(options or ARGUMENTS[name])).completer = names


def codes(meanings: Sequence[tuple[int, str]]) -> str:
    """Return a list of exit codes, for the end of a help page."""
    told = [
        textwrap.fill(f"{code:<4} {text}", WIDTH, initial_indent="  ", subsequent_indent=" " * 7)
        for code, text in meanings
    ]
    return "\n".join(["exit codes:", *told, ""])
