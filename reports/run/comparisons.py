"""A comparison of two records, on the terminal and as Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.numerics import UP, percent, written
from dpassay.reports.run.markdown import code_md, text_md
from dpassay.reports.shared.junit import JUnitCase, junit
from dpassay.reports.shared.numbers import clean, plural
from dpassay.reports.shared.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

Raw = Mapping[str, Any]

SYMBOLS = {
    "refuted": "▲",
    "failed": "■",
    "vanished": "✖",
    "repointed": "⇄",
    "weakened": "▽",
    "rose": "↑",
    "blinder": "◆",
    "elsewhere": "○",
    "fell": "↓",
    "tightened": "△",
    "recovered": "●",
    "reworded": "≈",
    "new": "+",
    "estimated": "~",
    "moved": "↔",
}
"""A shape for each kind of change, so that nothing hangs on colour."""
OF_RUNS = "dpassay/comparison/1"
SUITE = "dpassay.record.baseline"
LIMIT = 200_000
"""Bytes of Markdown at most, so that a report and a comparison go into one step summary."""


def headline(comparison: Raw) -> str:
    """Say in one sentence what was found."""
    excused = {(each["id"], each["kind"]) for each in comparison["suppressed"]}
    open_ = sum(
        (change["id"], change["kind"]) not in excused for change in comparison["regressions"]
    )
    noun = _words(comparison).noun
    said = plural(open_, noun) if open_ else _none_shown(comparison, noun)
    let_pass = f", {len(comparison['suppressed'])} suppressed" if comparison["suppressed"] else ""
    return f"{said}{let_pass}; {plural(len(comparison['unchanged']), 'entry')} unchanged"


def _none_shown(comparison: Raw, noun: str) -> str:
    """Say that no regression was found; never more than what could have been seen."""
    blind = sum(not limit["cells"] for limit in comparison["rise_limits"])
    unseen = (
        (
            f", {blind} of {plural(len(comparison['rise_limits']), 'sampled entry')} could not "
            "have shown one"
        )
        if blind
        else ""
    )
    return f"No {noun} shown{unseen}"


def seen(limit: Raw) -> str:
    """Say which rise of an entry's leak would have been seen, and which not."""
    name, of = clean(limit["id"]), plural(limit["of"], limit.get("noun", "cell"))
    if not limit["cells"] and limit.get("searched", False):
        return (
            f"{name}: the search found another pair than the baseline's, whose {of} was not "
            "counted again, so no rise there could have been seen; replay the baseline's witness "
            "to count it again"
        )
    if not limit["cells"] and limit.get("noun") == "number":
        return (
            f"{name}: no rise could have been seen, however much leaks: none of the baseline's "
            f"{of} was counted again with enough guesses; attack with more --models, in the folder "
            "of the baseline"
        )
    if limit.get("noun") == "number":
        return (
            f"{name}: {limit['cells']} of the baseline's {of} could have shown a rise; first "
            f"{clean(limit['quantity'])}, whose loss was at most {_upward(limit['before'][1])}: "
            f"one of {_upward(limit['least'])} or more is seen with probability 0.9"
        )
    if not limit["cells"]:
        return (
            f"{name}: none of the baseline's {of} was counted again, so no rise could have been "
            "seen; run `dpassay run` again"
        )
    where = (
        f"the baseline's {of}"
        if limit["cells"] == limit["of"]
        else f"{limit['cells']} of the baseline's {of}"
    )
    was = (
        f"{name}: {where} counted again; at the worst the {limit['quantity']} was at most "
        f"{_upward(limit['before'][1])}"
    )
    if limit["least"] == "inf":
        return f"{was}; no rise would have been seen"
    least = _upward(limit["least"])
    return (
        f"{was}; a rise to less than {least} may have been missed (one to {least} or more is seen "
        "with probability 0.9)"
    )


def _upward(bound: float | str) -> str:
    return "∞" if bound == "inf" else written(float(bound), 4, UP)


def to_markdown(comparison: Raw, folder: Path) -> str:
    """Write a comparison as GitHub-flavoured Markdown, regressions first.

    Entries that do not fit into `LIMIT` bytes are counted instead. `folder` is where the new
    record lies, for the commands that replay its witnesses.
    """
    parts, left = [f"# {headline(comparison)}\n"], 0
    size = len(parts[0].encode())
    for change in _in_order(comparison):
        part = _section(change, comparison, folder)
        size += len(part.encode()) + 1
        if size > LIMIT:
            left += 1
        else:
            parts.append(part)
    if left:
        parts.append(f"{left} more: see comparison.json.\n")
    parts += [f"* {text_md(note)}" for note in _notes(comparison)]
    return "\n".join(parts).rstrip("\n") + "\n"


def to_junit(comparison: Raw, folder: Path) -> str:
    """Write a comparison as JUnit XML; arguments are those of `to_markdown`.

    A test case per change and per entry that nothing is said of. A regression is a failure, unless
    it is let pass.
    """
    cases = [_junit_case(change, comparison, folder) for change in _in_order(comparison)]
    cases += [JUnitCase(SUITE, f"unchanged: {clean(name)}") for name in comparison["unchanged"]]
    said = "\n".join((headline(comparison), *_notes(comparison)))
    return junit("dpassay baseline", cases, said)


def _junit_case(change: Raw, comparison: Raw, folder: Path) -> JUnitCase:
    words, witness, commands, excuse = _told(change, comparison, folder)
    story = (words, witness, *(f"    {command}" for command in commands), excuse)
    case = JUnitCase(
        SUITE, f"{change['kind']}: {clean(change['id'])}", "\n".join(filter(None, story))
    )
    if change not in comparison["regressions"] or excuse:
        return case
    return case._replace(tag="failure", kind=change["kind"], message=f"{change['kind']}: {words}")


def print_comparison(comparison: Raw, folder: Path, console: Console) -> None:
    """Print a comparison; arguments are those of `to_markdown`. Readable from 80 columns on."""
    say(console, headline(comparison), "bold")
    for change in _in_order(comparison):
        words, witness, commands, excuse = _told(change, comparison, folder)
        red = change in comparison["regressions"] and not excuse
        head = f"{SYMBOLS[change['kind']]} {change['kind']}: {clean(change['id'])}"
        say(console, head, "bold red" if red else "")
        for line in filter(None, (words, witness, *commands, excuse)):
            say(console, clean(line), indent=4)
    for note in _notes(comparison):
        say(console, note)


def _in_order(comparison: Raw) -> Iterator[Raw]:
    """Yield what turns a pipeline red, what is let pass, and the news."""
    yield from sorted(
        comparison["regressions"], key=lambda change: bool(_let_pass(change, comparison))
    )
    yield from comparison["news"]


def _let_pass(change: Raw, comparison: Raw) -> str:
    for each in comparison["suppressed"]:
        if (each["id"], each["kind"]) == (change["id"], change["kind"]):
            up_to = "" if each["up_to"] is None else f", up to {each['up_to']:g}"
            return f"suppressed until {each['expires']}{up_to}: {each['reason']}"
    return ""


def commands_of(change: Raw, comparison: Raw, folder: Path) -> tuple[str, ...]:
    """Return what to run about a change: to see it again, or where it is only a new name."""
    remedy = comparison.get("remedies", {}).get(change["id"])
    if remedy is not None and change["renamed"] is not None:
        return (remedy, "dpassay run")
    if change["kind"] in ("vanished", "new"):
        return ()
    return _words(comparison).commands(change, folder)


def _section(change: Raw, comparison: Raw, folder: Path) -> str:
    words, witness, commands, excuse = _told(change, comparison, folder)
    head = f"### {SYMBOLS[change['kind']]} {change['kind']}: {text_md(change['id'])}"
    texts = (text_md(text) for text in (words, witness, excuse) if text)
    return "\n".join(f"{line}\n" for line in (head, *texts, *map(code_md, commands)))


def _told(change: Raw, comparison: Raw, folder: Path) -> tuple[str, str, tuple[str, ...], str]:
    """Return what is said of a change: words, witness, what to run, and why it is let pass."""
    commands = commands_of(change, comparison, folder)
    excuse = clean(_let_pass(change, comparison))
    return clean(change["words"]), clean(change["witness"]), commands, excuse


def _notes(comparison: Raw) -> tuple[str, ...]:
    how = _words(comparison).how(comparison)
    return (
        *(f"Suppression {note}." for note in comparison["notes"]),
        *map(seen, comparison["rise_limits"]),
        f"{how} Tolerance: {100 * comparison['tolerance']:.10g} % of the claim.",
    )


class ComparisonWords(NamedTuple):
    """How a comparison of one kind of record is told."""

    noun: str  # what a regression is called
    # what shows a change again; takes the new record's folder too
    commands: Callable[[Raw, Path], tuple[str, ...]]
    how: Callable[[Raw], str]  # how numbers were compared, in a sentence


def _replay_or_explain(change: Raw, folder: Path) -> tuple[str, ...]:
    record = shlex.quote(str(folder / "record.json"))
    explain = f"dpassay explain {shlex.quote(change['id'])} --record {record}"
    file, space, trust = change["replay"].partition(" ")
    again = f"dpassay replay {shlex.quote(str(folder / file))}{space}{trust}"
    return (again,) if file else (explain,)


def _replay_or_run(change: Raw, folder: Path) -> tuple[str, ...]:
    replayed = f"replay {shlex.quote(str(folder / change['replay']))}"
    run = f"run {shlex.quote(change['id'])}"
    return (f"dpassay theorem {replayed if change['replay'] else run}",)


def _recomputed(cells: str, comparison: Raw) -> str:
    probability = percent(1 - 2 * comparison["alpha"])
    return (
        "The bounds of both records were recomputed at one error probability. Each statement "
        f"that an entry's leak rose or fell, at {cells} in both records, holds with "
        f"probability {probability}."
    )


def _as_they_are(comparison: Raw) -> str:
    sampled = (
        f" of sampled ones each bound holds with {percent(1 - comparison['alpha'])}, and a rise "
        "within the bounds may have been missed."
    )
    return (
        "Computed numbers were compared as they are, at the worst case of either record"
        f"{';' + sampled if comparison['alpha'] else '.'}"
    )


WORDS = {
    OF_RUNS: ComparisonWords(
        "privacy regression", _replay_or_explain, partial(_recomputed, "cells certified")
    ),
    "dpassay/attack-comparison/1": ComparisonWords(
        "privacy regression",
        lambda _change, _folder: (),
        partial(_recomputed, "the same guesses or events counted"),
    ),
    "dpassay/theorem-comparison/1": ComparisonWords("regression", _replay_or_run, _as_they_are),
}
"""By the schema of the comparison, as records of each kind have one of their own."""


def _words(comparison: Raw) -> ComparisonWords:
    return WORDS[comparison.get("schema", OF_RUNS)]
