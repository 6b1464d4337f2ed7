"""Command lines with something wrong in them: refused in one line, by every command."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dpassay.cli import main as command_line
from dpassay.cli.main import COMMANDS, main
from dpassay.errors import InvalidInput
from tests.fuzz.allowed import ALLOWED, CLAIM
from tests.fuzz.running import fuzz, ran

LINES = (
    "config --show --profile quick --train 10 --confidence 0.9 --json",
    "run --mode exact --profile quick --train 10 --claim epsilon=1,delta=0.1 soft-majority",
    "run projected-walk --mode exhaustive --n 2 --domain 1",
    "run soft-majority -p r=3 --mode monte-carlo --budget 300 --detect 2 --profile quick",
    "compare labels.json exact.json --tolerance 0.1",
    "baseline check exact.json --baseline exact.json --tolerance 0.1",
    "explain soft-majority.printed.exact --record exact.json",
    "report exact.json --format md -o pages",
    "replay exhaustive.witness.json",
    "list --json",
    "theorem list --paper dagan-feldman-2020 --json",
    "theorem replay printed.theorem.json",
    "completion bash",
    "plan soft-majority --detect 2 --profile quick --train 10 --queries 1",
)
"""Valid ones; `run` gets --dry-run besides."""
TARGETS = ("soft-majority", "projected-walk")
HEAVY = ("attack", "compare-mechanisms", "selftest")
"""What is only parsed: it works for long where nothing is wrong."""
PLAIN = """
-1 0 1 2 0.5 1e400 inf nan -inf 1e-400 1e12 x epsilon= epsilon=0 epsilon=nan epsilon=-1 delta=1
gamma=2 epsilon=1,delta=2 mu=inf rho=0 alpha=1,epsilon=1 = a=b=c , .. -- {epsilon=1} { [1, "x 3x2
0x0 1x nowhere:f : exact.json attack.json missing.json pages . .. true quick exhaustive
soft-majority soft-majorty r=5 learner=tree 1_000
"""
WORDS = (
    *("", "9" * 20, "9" * 5000, "\0", "\udcff", "a" * 3000, " 3 ", "[0.5, 8]", *PLAIN.split()),
)


@cache
def options(command: str) -> tuple[tuple[str, bool], ...]:
    """Return the options that a command's own parser has, and whether they take a value."""
    found = command_line.parser((command,))._subparsers._group_actions[0]  # type: ignore[union-attr]
    parsers = [found.choices[command]]  # type: ignore[index]
    for action in parsers[0]._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers += action.choices.values()
    return tuple(
        (name, action.nargs != 0)
        for each in parsers
        for action in each._actions
        for name in action.option_strings
        if name not in ("-h", "--help")
    )


def line(rng: random.Random) -> list[str]:
    """Return a command line: a valid one with a few words wrong, or one of any options."""
    if rng.random() < 0.5:
        words = rng.choice(LINES).split()
        for _ in range(rng.choice((1, 1, 2, 3))):
            place = rng.randrange(1, len(words) + 1)
            new = rng.choice(([rng.choice(WORDS)], [rng.choice(WORDS)], []))
            words[place : place + rng.choice((0, 1))] = new
    else:
        command = rng.choice(tuple(COMMANDS))
        words = [command, *rng.choice(([], ["soft-majority"], [rng.choice(WORDS)]))]
        for name, takes in (rng.choice(options(command) or (("", False),)) for _ in range(3)):
            value = [rng.choice(WORDS)] if takes else []
            glued = value and name.startswith("--") and rng.random() < 0.3
            words += [f"{name}={value[0]}"] if glued else [name, *value]
    if rng.random() < 0.1:
        words.insert(0, rng.choice(("-V", "--version", "--fast", "rum")))
    return words


def case(rng: random.Random) -> str:
    """Say what a command does wrong with a command line."""
    words = line(rng)
    if set(HEAVY) & set(words) or "--process" in words or any("--http" in each for each in words):
        return parsed(words)
    if {"..", "--out=.."} & set(words):  # whoever names the folder above may write there
        return parsed(words)
    if "run" in words and "--dry-run" not in words:
        words.insert(words.index("run") + 1, "--dry-run")
    if {"run", "plan"} & set(words) and not set(TARGETS) & set(words):
        words.append("soft-majority")  # the whole catalogue takes a minute
    done = ran(words)
    if done.wrong or done.code != 0:
        return done.wrong
    found = next(_nonsense(words), "")
    return f"{words}: exit 0, but {found}" if found else ""


def parsed(words: list[str]) -> str:
    """Say what a parser does wrong that is only asked to read words."""
    try:
        command_line.parse(words)
    except InvalidInput as error:
        return "" if str(error) else f"{words}: complains of nothing"
    except SystemExit as left:
        return "" if left.code == 0 else f"{words}: SystemExit({left.code})"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"{[word[:80] for word in words]}: raises {type(error).__name__}: {error}"
    return next(_nonsense(words), "")


def _nonsense(words: list[str]) -> Iterator[str]:
    """Yield the values of options that docs/configuration.md does not allow."""
    if words[0] not in COMMANDS or "--" in words:
        return
    for k, word in enumerate(words):
        name, glued, value = word.partition("=")
        key = name.removeprefix("--").replace("-", "_")
        value = value if glued else words[k + 1] if k + 1 < len(words) else ""
        if not name.startswith("--") or (
            k and words[k - 1] in dict(options(words[0])) and not glued
        ):
            continue
        known = key in ALLOWED and key not in ("stop_early", "together", "search", "output")
        if known and not ALLOWED[key](_read(value)) and not ALLOWED[key](value):
            yield f"{name} is {value!r:.80}"
        if name == "--claim":
            for part in value.strip("{}").split(","):
                key, _, number = part.partition("=")
                if key.strip() in CLAIM and not CLAIM[key.strip()](_read(number)):
                    yield f"--claim says {part!r:.80}"


def _read(text: str) -> object:
    """Return the number that a text spells, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@pytest.mark.slow
def test_wrong_command_lines_are_refused(here: Path) -> None:
    fuzz(150, case)


def test_a_wrong_word_in_every_command_is_refused(here: Path) -> None:
    for command in COMMANDS:
        assert main([command, "--no-such-option"]) == 2
