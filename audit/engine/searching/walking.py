"""Walking: where a path of neighbours turns from one answer to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.engine.searching.drawing import Drawing
from dpassay.engine.searching.pair_candidates import Candidate, Features
from dpassay.errors import TargetError
from dpassay.search.outputs import OUTCOME, Encoder
from dpassay.search.proposals.paths import Path
from dpassay.search.proposals.proposal import Proposal, mixed

RUNS = 40
"""Trials of each dataset of a path that is looked at."""
APART = 0.5
"""An event whose frequencies differ by so much at the ends is followed."""
SHOWN = 2
"""So many cells outside of the described domain are named."""
EVENTS = 3
"""So many events of a path are followed."""


@dataclass(slots=True, kw_only=True)
class Way:
    """An event that turns on a path between two of its datasets: a range of a feature."""

    path: Path
    query: int
    column: int
    low: float
    high: float
    first: float
    one: int
    other: int

    def frequency(self, features: Features) -> float:
        """Return how often it is seen."""
        column = features[self.query, :, self.column]
        return float(((column >= self.low) & (column <= self.high)).mean())


def walked(drawing: Drawing, encoder: Encoder, paths: Sequence[Path]) -> list[Proposal]:
    """Return the edges of paths where an event turns that tells the ends apart.

    Every step halves what is left of each path, as bisection does: the event is seen about as
    often as at the one end, or as at the other.
    """
    ways = []
    ends = [(path, _drawn(drawing, encoder, [path] * 2, [0, path.length - 1])) for path in paths]
    for path, (start, end) in ends:
        if start is not None and end is not None:
            ways += _turning(encoder, path, start.one[-1], end.other[-1])
    while steps := [way for way in ways if way.other - way.one > 1]:
        middles = [(way.one + way.other) // 2 for way in steps]
        drawn = _drawn(drawing, encoder, [way.path for way in steps], middles)
        for way, middle, each in zip(steps, middles, drawn, strict=True):
            if each is None:
                ways.remove(way)
                continue
            here, there = (way.frequency(side[-1]) for side in (each.one, each.other))
            if abs(here - there) >= APART:
                way.one, way.other = middle, middle + 1
            elif abs(here - way.first) < APART:
                way.one = middle + 1
            else:
                way.other = middle
            if way.other <= way.one:
                way.one, way.other = middle, middle + 1
    found = (way.path.edge(way.one) for way in ways)
    return mixed([(each for each in found if each is not None)], len(ways))


def most(paths: Sequence[Path]) -> int:
    """Return the runs of a walk at most."""
    return 2 * RUNS * sum(2 + EVENTS * (path.length - 1).bit_length() for path in paths)


def outside(drawing: Drawing, encoder: Encoder, pairs: Sequence[Proposal]) -> str:
    """Name the pairs outside of what the user described that are told apart for sure.

    None of those on which the mechanism raises an exception: it refuses such records.
    """
    found = []
    for pair in pairs:
        path = Path(length=1, edge=lambda _, pair=pair: pair)  # type: ignore[misc]
        try:
            (each,) = _drawn(drawing, encoder, [path], [0])
        except TargetError:
            continue
        ways = [] if each is None else _turning(encoder, path, each.one[-1], each.other[-1])
        if not ways or any(encoder.looks[way.column] == OUTCOME for way in ways):
            continue
        way, other = ways[0], each.other[-1]  # type: ignore[union-attr]
        if {way.first, way.frequency(other)} == {0.0, 1.0}:
            found.append(pair.family)
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return bool(found) * (
        f"Outside the described domain, {'; '.join(found[:SHOWN])}{more}: one record is told from "
        f"another in {RUNS} of {RUNS} runs on each side. The verdict does not count it: add such "
        "cells to the data to have it certified."
    )


def _drawn(
    drawing: Drawing, encoder: Encoder, paths: Sequence[Path], places: Sequence[int]
) -> list[Candidate | None]:
    """Draw edges of paths; None for those on which the mechanism fails."""
    edges = [path.edge(place) for path, place in zip(paths, places, strict=True)]
    some = [None if each is None else Candidate(proposal=each) for each in edges]
    known = [each for each in some if each is not None]
    told = drawing.told("along paths", len(known))
    drawn = drawing.draw(encoder, known, RUNS, "walk", told) if known else []
    return [each if each in drawn else None for each in some]


def _turning(encoder: Encoder, path: Path, one: Features, other: Features) -> list[Way]:
    """Return the events that tell the ends of a path apart best, each seen in other trials."""
    found: dict[bytes, tuple[float, bool, Way]] = {}
    for query in range(len(one)):
        for column, look in enumerate(encoder.looks):
            a, b = one[query, :, column], other[query, :, column]
            both = np.concatenate([a, b])
            values, places = np.unique(both[~np.isnan(both)], return_inverse=True)
            if not len(values):
                continue
            here = np.bincount(places[: (~np.isnan(a)).sum()], minlength=len(values)) / len(a)
            there = np.bincount(places[(~np.isnan(a)).sum() :], minlength=len(values)) / len(b)
            below = np.abs(np.cumsum(here - there))
            alike = np.abs(here - there)
            at, value = int(below.argmax()), int(alike.argmax())
            low = float(values[value]) if alike[value] >= below[at] else -np.inf
            high = float(values[value if alike[value] >= below[at] else at])
            way = Way(
                path=path,
                query=query,
                column=column,
                low=low,
                high=high,
                first=0.0,
                one=0,
                other=path.length,
            )
            way.first = way.frequency(one)
            apart = abs(way.first - way.frequency(other))
            seen = ((both >= low) & (both <= high)).tobytes()
            if apart >= APART and seen not in found:
                found[seen] = apart, look == OUTCOME, way
    ranked = sorted(found.values(), key=lambda each: (-each[0], not each[1]))
    return [way for _, _, way in ranked[:EVENTS]]
