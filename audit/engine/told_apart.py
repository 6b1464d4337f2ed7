"""Pairs that are told apart in every run: that is certainty, and no factor is the finding."""

from __future__ import annotations

import re

from dpassay.engine.evidence import Evidence
from dpassay.rows.rows import Rows
from dpassay.search.outputs import OUTCOME, Encoder
from dpassay.search.patterns import Pattern
from dpassay.search.rules import OneOf
from dpassay.targets.groups import DIRECTIONS

_CELL = r"""-?\d+(?:\.\d+)?(?:e[+-]\d+)?|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_ROW = rf"(?:{_CELL}|\((?:{_CELL}|[^()'\"])*\))"
VALUES = re.compile(rf" by \(x = [^()]*\)|(?<= replaced) by {_ROW}|(?<=record) {_ROW}(?= added)")
"""How a change names the record that it puts in, where that is in no pool and so has no number."""


def an_exception(encoder: Encoder) -> Pattern:
    """Return the event that a run raises an exception, of whichever kind."""
    return Pattern(encoder.only([OUTCOME]), (OneOf(0, (0,)),))


def told_apart(evidence: Evidence) -> str:
    """Describe how the worst pair is told apart for certain: in every run, or by an exception.

    It is empty where the event came on both sides, or not in every run of the one.
    """
    cell = evidence.worst
    counts, event = cell.lower.counts, cell.event
    if counts is None or counts.y or event == ():
        return ""
    raised = isinstance(event, Pattern) and event == an_exception(event.encoder)
    if counts.x < counts.n1 and not raised:
        return ""
    answer = event.words if isinstance(event, Pattern) else f"the answer is {event}"
    answer = "an exception is raised" if raised else answer
    if isinstance(event, tuple):
        answer = f"the answer is {' or '.join(map(str, event))}"
    every = "every run" if counts.x == counts.n1 else f"{counts.x:,} of {counts.n1:,} runs"
    group, turned = evidence.groups[cell.group], DIRECTIONS.index(cell.direction)
    base, change = group.pairs.base, group.pairs.changes[cell.pair]
    sizes = [len(base), len(change.apply(base))]
    if min(sizes):
        where, named = ["before the change", "after it"], f"{re.sub(VALUES, '', str(change))}: "
    else:
        table = isinstance(base, Rows) and base.form.shape == "frame"
        empty = "an empty table" if table else "an empty dataset"
        more = "one record more" if max(sizes) == 1 else f"{max(sizes)} records more"
        where, named = [more if size else empty for size in sizes], ""
        if raised and counts.x == counts.n1:
            return f"{where[turned]} is answered by an exception, {where[1 - turned]} is not"
        where = [f"with {each}" for each in where]
    return f"{named}{answer} in {every} {where[turned]}, in none {where[1 - turned]}"
