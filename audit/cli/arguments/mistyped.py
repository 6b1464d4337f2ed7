"""What a command or an option was perhaps meant to be; a guess is told, never acted on."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dpassay.config.guesses import NAMES
from dpassay.errors import near

COMMANDS = {
    "audit": "run",
    "check": "run",
    "test": "run",
    "start": "run",
    "show": "explain",
    "ls": "list",
    "diff": "compare",
    "new": "init",
}
"""Commands by names that they have elsewhere."""
OPTIONS = {
    **dict.fromkeys(("--quick", "--fast"), "--profile quick"),
    "--deep": "--profile deep",
    **dict.fromkeys(("--output", "--output-dir", "--dir", "-o", "--report"), "--out"),
    **dict.fromkeys(("--column", "--label-column", "--y", "--labels", "--class"), "--label"),
    **dict.fromkeys(("--csv", "--file", "--dataset", "--input", "-d", "-f"), "--data"),
    **dict.fromkeys(("--trials", "--samples", "--n-trials", "--runs"), "--budget"),
    **dict.fromkeys(("--workers", "--cores", "--threads", "--processes", "-j"), "--jobs"),
    **dict.fromkeys(("--alpha", "--significance", "--level"), "--confidence"),
    **dict.fromkeys(("--param", "--parameter", "--set"), "-p"),
    **dict.fromkeys(("--numbers", "--range"), "--answers"),
    **dict.fromkeys(("--config", "--configuration"), "dpassay.toml in the current folder"),
    "--random-state": "--seed",
    "--timeout": "--shard-timeout",
}
"""Options by names that they have elsewhere."""


def command_meant(word: str, known: Sequence[str], program: str) -> str:
    """Say which command was perhaps meant.

    Parameters
    ----------
    word : str
        What was said.
    known : sequence of str
        The commands that there are.
    program : str
        What stands before them.

    Returns
    -------
    str
        A clause that begins with a semicolon, empty where nobody can tell.
    """
    if word in ("help", "version"):
        return f"; did you mean '{program} --{word}'?"
    if "run" in known and (word.endswith(".py") or _is_target(word)):
        return f"; did you mean '{program} run {word}'?"
    close = COMMANDS.get(word, "")
    close = close if close in known else near(word, known)
    return f"; did you mean '{close}'?" if close else ""


def option_meant(word: str, words: Sequence[str], known: Collection[str]) -> str:
    """Say which option was perhaps meant.

    Parameters
    ----------
    word : str
        What there is no such option or argument of.
    words : sequence of str
        All words of the command.
    known : collection of str
        The options that there are.

    Returns
    -------
    str
        A clause that begins with a semicolon, empty where nobody can tell.
    """
    place = words.index(word) if word in words else len(words)
    before, after = [*words[:place], ""][-3:], [*words[place + 1 :], ""][0]
    if not word.startswith("-"):
        return _word_meant(word, before[:-1], "--claim" in known)
    option, _, value = word.partition("=")
    name = NAMES.get(option.lstrip("-").lower(), "")
    if name and "--claim" in known:
        number = value or (after if re.fullmatch(r"[\d.][\d.eE%-]*", after) else "...")
        own = any(":" in each for each in words)
        parameter = "" if own else f", or the parameter -p {name}={number}"
        return f"; did you mean --claim {_first(words, name)}{name}={number}{parameter}?"
    close = OPTIONS.get(option, "")
    fits = close.partition(" ")[0]
    if not fits or (fits.startswith("-") and fits not in known):
        close = near(option, [each for each in known if each.startswith("--")], likeness=0.7)
    return f"; did you mean {close}?" if close else ""


def value_meant(message: str, words: Sequence[str]) -> str:
    """Add to a message about a missing value how one is written that begins with a hyphen."""
    found = re.match(r"(--[\w-]+): needs a value", message)
    if not found or found[1] not in words or "did you mean" in message:
        return message
    after = [*words[words.index(found[1]) + 1 :], ""][0]
    if not re.match(r"-[\d.]", after):
        return message
    return message.replace("needs a value", f"needs a value; did you mean {found[1]}={after}?")


def _is_target(word: str) -> bool:
    """Whether a word has the form of a target, or is the name of one."""
    from dpassay.targets.catalogue import ENTRIES

    return ":" in word or word in ENTRIES


def _first(words: Sequence[str], name: str) -> str:
    """Return what stands before delta in a claim: the epsilon that was said, else a letter."""
    if name != "delta":
        return ""
    said = next((each for each in words if re.fullmatch(r"epsilon=[\d.e-]+", each)), "epsilon=E")
    return f"{said},"


def _word_meant(word: str, before: Sequence[str], claims: bool) -> str:
    """Say what a word was perhaps meant to be that is no option."""
    option, name = [*before, "", ""][:2] if len(before) > 1 else ("", "")
    if option in ("--claim", "-p") and claims:
        name = NAMES.get(name.lower(), name)
        return f"; did you mean {option} {name}={word}?" if re.match(r"[\d.]", word) else ""
    if claims and _is_target(word):
        return "; name all targets in one place"
    return ""
