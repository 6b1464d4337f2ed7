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


class ToldChange(NamedTuple):
    """The words about one change."""

    id: str
    kind: str
    words: str
    witness: str
    commands: tuple[str, ...]  # to see it again, or where it is only a new name
    excuse: str  # why it is let pass
    red: bool  # whether it turns a pipeline red


def headline(comparison: Raw) -> str:
    """Return in one sentence what was found; never more than what could have been seen."""
    excused = {(each["id"], each["kind"]) for each in comparison["suppressed"]}
    left = sum((each["id"], each["kind"]) not in excused for each in comparison["regressions"])
    noun, limits = _words(comparison).noun, comparison["rise_limits"]
    blind = sum(not limit["cells"] for limit in limits)
    unseen = f", {blind} of {plural(len(limits), 'sampled entry')} could not have shown one"
    said = plural(left, noun) if left else f"No {noun} shown{unseen if blind else ''}"
    let_pass = f", {len(comparison['suppressed'])} suppressed" if comparison["suppressed"] else ""
    return f"{said}{let_pass}; {plural(len(comparison['unchanged']), 'entry')} unchanged"


def seen(limit: Raw) -> str:
    """Return which rise of an entry's leak would have been seen, and which not."""
    name, noun, cells = clean(limit["id"]), limit.get("noun", "cell"), limit["cells"]
    of = plural(limit["of"], noun)
    if not cells:
        if limit.get("searched", False):
            return (
                f"{name}: the search found another pair than the baseline's, whose {of} was not "
                "counted again, so no rise there could have been seen; replay the baseline's "
                "witness to count it again"
            )
        if noun == "number":
            return (
                f"{name}: no rise could have been seen, however much leaks: none of the baseline's "
                f"{of} was counted again with enough guesses; attack with more --models, in the "
                "folder of the baseline"
            )
        return (
            f"{name}: none of the baseline's {of} was counted again, so no rise could have been "
            "seen; run `dpassay run` again"
        )
    least, most = _upward(limit["least"]), _upward(limit["before"][1])
    if noun == "number":
        return (
            f"{name}: {cells} of the baseline's {of} could have shown a rise; first "
            f"{clean(limit['quantity'])}, whose loss was at most {most}: one of {least} or more "
            "is seen with probability 0.9"
        )
    where = f"the baseline's {of}" if cells == limit["of"] else f"{cells} of the baseline's {of}"
    was = f"{name}: {where} counted again; at the worst the {limit['quantity']} was at most {most}"
    if limit["least"] == "inf":
        return f"{was}; no rise would have been seen"
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
    for change in _changes(comparison, folder):
        head = f"### {SYMBOLS[change.kind]} {change.kind}: {text_md(change.id)}"
        texts = (text_md(text) for text in (change.words, change.witness, change.excuse) if text)
        part = "\n".join(f"{line}\n" for line in (head, *texts, *map(code_md, change.commands)))
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
    cases = []
    for change in _changes(comparison, folder):
        commands = (f"    {command}" for command in change.commands)
        story = "\n".join(filter(None, (change.words, change.witness, *commands, change.excuse)))
        case = JUnitCase(SUITE, f"{change.kind}: {clean(change.id)}", story)
        if change.red:
            message = f"{change.kind}: {change.words}"
            case = case._replace(tag="failure", kind=change.kind, message=message)
        cases.append(case)
    cases += [JUnitCase(SUITE, f"unchanged: {clean(name)}") for name in comparison["unchanged"]]
    return junit("dpassay baseline", cases, "\n".join((headline(comparison), *_notes(comparison))))


def print_comparison(comparison: Raw, folder: Path, console: Console) -> None:
    """Print a comparison; arguments are those of `to_markdown`. Readable from 80 columns on."""
    say(console, headline(comparison), "bold")
    for change in _changes(comparison, folder):
        head = f"{SYMBOLS[change.kind]} {change.kind}: {clean(change.id)}"
        say(console, head, "bold red" if change.red else "")
        told = change.words, change.witness, *change.commands, change.excuse
        for line in filter(None, told):
            say(console, clean(line), indent=4)
    for note in _notes(comparison):
        say(console, note)


def _changes(comparison: Raw, folder: Path) -> Iterator[ToldChange]:
    """Yield what turns a pipeline red, what is let pass, and the news."""
    excuses: dict[tuple[str, str], str] = {}
    for each in comparison["suppressed"]:
        up_to = "" if each["up_to"] is None else f", up to {each['up_to']:g}"
        told = f"suppressed until {each['expires']}{up_to}: {each['reason']}"
        excuses.setdefault((each["id"], each["kind"]), told)
    remedies, command = comparison.get("remedies", {}), _words(comparison).command
    changes = [
        ToldChange(
            change["id"],
            change["kind"],
            clean(change["words"]),
            clean(change["witness"]),
            (remedies[change["id"]], "dpassay run")
            if change["id"] in remedies and change["renamed"] is not None
            else ()
            if change["kind"] in ("vanished", "new")
            else command(change, folder),
            clean(excuses.get((change["id"], change["kind"]), "")),
            change in comparison["regressions"],
        )
        for change in (*comparison["regressions"], *comparison["news"])
    ]
    number = len(comparison["regressions"])
    regressions = sorted(changes[:number], key=lambda change: bool(change.excuse))
    for change in (*regressions, *changes[number:]):
        yield change._replace(red=change.red and not change.excuse)


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
    command: Callable[[Raw, Path], tuple[str, ...]]
    how: Callable[[Raw], str]  # how numbers were compared, in a sentence


def _replay_or_explain(change: Raw, folder: Path) -> tuple[str, ...]:
    file, space, trust = change["replay"].partition(" ")
    if file:
        return (f"dpassay replay {shlex.quote(str(folder / file))}{space}{trust}",)
    record = shlex.quote(str(folder / "record.json"))
    return (f"dpassay explain {shlex.quote(change['id'])} --record {record}",)


def _replay_or_run(change: Raw, folder: Path) -> tuple[str, ...]:
    if change["replay"]:
        return (f"dpassay theorem replay {shlex.quote(str(folder / change['replay']))}",)
    return (f"dpassay theorem run {shlex.quote(change['id'])}",)


def _recomputed(cells: str, comparison: Raw) -> str:
    return (
        "The bounds of both records were recomputed at one error probability. Each statement "
        f"that an entry's leak rose or fell, at {cells} in both records, holds with "
        f"probability {percent(1 - 2 * comparison['alpha'])}."
    )


def _as_they_are(comparison: Raw) -> str:
    sampled = (
        f"; of sampled ones each bound holds with {percent(1 - comparison['alpha'])}, and a rise "
        "within the bounds may have been missed."
    )
    return (
        "Computed numbers were compared as they are, at the worst case of either record"
        f"{sampled if comparison['alpha'] else '.'}"
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
