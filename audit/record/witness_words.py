"""A witness in words: the pair, the query, the event, and how often it was seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Dataset, Values
from dpassay.engine.evidence import Cell, Event, Evidence
from dpassay.engine.result import Result
from dpassay.engine.wording import query_label, query_words
from dpassay.numerics import DOWN, VISIBLE, above, allowance, loss
from dpassay.relations import answers_moved
from dpassay.rows.rows import Rows
from dpassay.search.patterns import Pattern
from dpassay.targets.groups import DIRECTIONS
from dpassay.targets.guard import AuditTarget

MOST_SHOWN = 24
"""Datasets of more numbers than this are told by their size only."""
MOST_NAMED = 4
"""An event of more answers than this is told by their numbers only."""


def in_words(result: Result, cell: Cell | None = None) -> str:
    """Tell a cell of a result, by default the worst, in one paragraph."""
    evidence = result.evidence
    if evidence is None:
        return result.outcome.reason
    cell = cell or evidence.worst
    group, counts, exact = evidence.groups[cell.group], cell.lower.counts, cell.exact
    change, base, kind = group.pairs.changes[cell.pair], group.pairs.base, group.kind
    query, asked, found = group.queries[cell.query], group.asked, kind == "searched"
    small = base.arrays[0].size <= MOST_SHOWN
    point = ""
    if asked and small and group.source is None and kind != "domain":
        shown = (
            base.form.of_queries.words(query.tolist())
            if isinstance(base, Rows)
            else ", ".join(f"{value:g}" for value in query)
        )
        point = f" (x = {shown})"
    own = sum(each.kind == "own" for each in evidence.groups[: cell.group + 1])
    of_domain, several = query.tolist() if kind == "domain" else None, len(group.queries) > 1
    label = query_label(kind, cell.query, own=own, several=several, point=of_domain)
    at = f"At {query_words(label)}{point} the " if asked else "The "
    one, other = ("S", "S'") if cell.direction == DIRECTIONS[0] else ("S'", "S")
    learned, words = isinstance(cell.event, Pattern), event_words(result, cell.event, query)
    event = f"event '{words}'" if learned else f"answer {words}"
    if cell.event == ():
        mean = "prediction" if cell.lower.histograms is None else "mean prediction"
        number_of = result.claim.quantity if result.claim.computed else mean
        seen = f"{number_of} is {cell.p1:.6g} on {one} and {cell.p0:.6g} on {other}"
    elif result.claim.coupled:
        at, seen = "", _bad_strings(evidence)
    elif counts is not None:
        seen = (
            f"{event} {'happened' if learned else 'was given'} in {counts.x:,} of {counts.n1:,} "
            f"runs on {one} and in {counts.y:,} of {counts.n0:,} on {other}"
        )
    elif exact is not None and exact.value == 0:
        delta = float(getattr(result.claim, "delta", 0.0))
        more = f" more than δ = {allowance(delta)} allows" if delta else ""
        at = at.removesuffix("the ") if asked else ""
        seen = f"{'no' if asked else 'No'} event leaks{more}, here or at any other audited cell"
    else:
        seen = f"{event} has probability {cell.p1:.6g} on {one} and {cell.p0:.6g} on {other}"
    reason = f" Chosen because {group.reason}." if kind in ("own", "learned") else ""
    if found:
        told = _searched(base, group.pairs.relation)
        reason = f" A search found the pair, {group.pairs.how}."
    else:
        shown = contents(base) if small and group.source is None else _size(base)
        told = f"{shown} ({kind})"
    return f"S: {told}. S': {change}. {at}{seen}.{reason}"


def _searched(base: Dataset, relation: str) -> str:
    """Write down a dataset that a search proposed, if it is small."""
    if not isinstance(base, Values):
        return _size(base) if base.arrays[0].size > MOST_SHOWN else contents(base)
    what = "true answer" if answers_moved(relation) is not None else "number"
    several = "s" if len(base) > 1 else ""
    if base.arrays[0].size > MOST_SHOWN:
        return f"{len(base)} {what}{several}"
    return f"the {what}{several} {', '.join(f'{value:.6g}' for value in base.values)}"


def _size(base: Dataset) -> str:
    return f"{len(base)} {'numbers' if isinstance(base, Values) else 'records'}"


def contents(base: Dataset) -> str:
    """Write a small dataset down."""
    if isinstance(base, Rows):
        return base.words
    if isinstance(base, Values):
        return f"({', '.join(f'{value:.6g}' for value in base.values)})"
    records = (
        f"({', '.join(f'{value:g}' for value in x)}; {y})"
        for x, y in zip(base.X, base.y, strict=True)
    )
    return f"{{{', '.join(records)}}}"


def event_words(result: Result, event: Event, query: NDArray[np.float64]) -> str:
    """Name an event, and say what its answers stand for where the mechanism tells it."""
    if not isinstance(event, tuple):
        return event.words if isinstance(event, Pattern) else str(event)
    labels, names = " or ".join(map(str, event)), answer_names(result.target, event, query)
    return f"{labels} ({names})" if names else labels


def answer_names(target: AuditTarget, event: Event, query: NDArray[np.float64]) -> str:
    """Return what the answers of an event stand for; empty if too many or unknown."""
    if not isinstance(event, tuple) or len(event) > MOST_NAMED:
        return ""
    return " or ".join(filter(None, (target.answer_words(label, query) for label in event)))


def _bad_strings(evidence: Evidence) -> str:
    """Return how many random strings are bad at the worst cell.

    That is its leak, whichever of good and bad is its event.
    """
    cell, moves = evidence.worst, "with it on both sides the score moves by more than is claimed"
    if (counts := cell.lower.counts) is not None:
        # the event is 'bad' on one side, or 'good' on the other, less often
        other = (counts.n0 - counts.y, counts.n0)
        bad, runs = (counts.x, counts.n1) if cell.event == (1,) else other
        return f"The random string is bad in {bad} of {runs} runs: {moves}"
    share = 0.0 if cell.exact is None else cell.exact.value
    if share > 0:
        least, blurred = cell.lower.value, share - cell.lower.value > VISIBLE
        shown = f"at least {loss(least, DOWN)}" if blurred else loss(share)
        return f"The random string is bad with probability {shown}: {moves}"
    few, most = "no audited change moves the score by more than is claimed", evidence.upper.value
    if most <= 0:
        return f"No random string is bad: {few}"
    return f"A random string is bad with probability at most {above(most)}: with all others {few}"
