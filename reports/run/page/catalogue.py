"""The page of the catalogue: wrong claims, one overview, and every mechanism, folded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from dpassay.numerics import DOWN, NEAREST, told_apart
from dpassay.reports.run.brief import Brief
from dpassay.reports.run.page.folder import page_files
from dpassay.reports.run.page.method_notes import Note, Story, method_notes, story
from dpassay.reports.run.page.overview_plot import MARKS, Dot, dot_of
from dpassay.reports.run.view import ResultView
from dpassay.reports.run.words import Part
from dpassay.reports.shared.numbers import INFINITY, MISSING, short_number
from dpassay.reports.shared.statuses import (
    ALL,
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    Status,
)
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]

READING = ", read as in docs/findings.md"
READ = "\N{NO-BREAK SPACE}*"
WRONG = {REFUTED, EXPECTED}
UNDECIDED = {ERROR, MISSED, INCONCLUSIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One result of the catalogue: record, brief, view, dot or None, page of its mechanism."""

    raw: Raw
    brief: Brief
    result: ResultView
    dot: Dot | None
    page: str

    @property
    def printed(self) -> bool:
        """Whether a paper prints the claim."""
        return bool(self.raw["claim"]["status"] == "printed")

    @property
    def source(self) -> str:
        """Where the claim is from; `READ` stands for the reading that its page names."""
        source, reading, _ = self.result.source.partition(READING)
        return f"{source}{READ if reading else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is measured, with the claim as printed and the one that is not, side by side."""

    unit: str
    printed: Entry | None
    other: Entry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One mechanism."""

    name: str
    anchor: str
    page: str  # its own page, from the folder of index.html
    filters: str  # classes that the filter of the page goes by
    statuses: tuple[Status, ...]  # of its results, worst first, each once
    pairs: tuple[Pair, ...]
    stories: tuple[tuple[Entry, Story], ...]

    @property
    def dots(self) -> tuple[Dot, ...]:
        """Places of its results in the overview."""
        return tuple(entry.dot for entry, _ in self.stories if entry.dot is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the page of the catalogue shows."""

    published: tuple[Entry, ...]  # claims of papers that are wrong, the worst first
    ours: tuple[Entry, ...]  # claims of ours that are wrong, the worst first
    groups: tuple[Group, ...]  # every mechanism, that of the worst claim first
    notes: tuple[Note, ...]
    dots: Table  # the overview's numbers

    @property
    def starred(self) -> bool:
        """Whether a published claim is wrong as docs/findings.md reads it."""
        return any(each.source.endswith(READ) for each in self.published)


def make_catalogue(
    results: Sequence[Raw], found: Sequence[Brief], views: Sequence[ResultView]
) -> Catalogue:
    """Put the results of a catalogue together.

    `found` is in the order of `results`; `views` are the worst first.
    """
    files = page_files(each.mechanism for each in found)
    entries = [
        Entry(
            raw=results[view.place],
            brief=found[view.place],
            result=view,
            dot=dot_of(results[view.place]),
            page=files[found[view.place].mechanism],
        )
        for view in views
    ]
    wrong = sorted(
        (each for each in entries if each.brief.status in WRONG),
        key=lambda each: -each.dot.ratio if each.dot else 0.0,
    )
    notes = method_notes(views)
    groups = _groups(entries, notes)
    return Catalogue(
        published=tuple(each for each in wrong if each.printed),
        ours=tuple(each for each in wrong if not each.printed),
        groups=groups,
        notes=notes,
        dots=_dots(groups),
    )


def _groups(entries: Sequence[Entry], notes: Sequence[Note]) -> tuple[Group, ...]:
    """Group results by mechanism, in the order of their worst results."""
    same: dict[str, list[Entry]] = {}
    for entry in entries:
        same.setdefault(entry.brief.mechanism, []).append(entry)
    return tuple(
        Group(
            name=name,
            anchor=f"m{number}-{re.sub(r'[^A-Za-z0-9-]+', '-', name)}",
            page=members[0].page,
            filters=_filters(each.brief.status for each in members),
            statuses=tuple(
                status for status in ALL if any(each.brief.status is status for each in members)
            ),
            pairs=tuple(_pairs(members)),
            stories=tuple(_stories(members, notes)),
        )
        for number, (name, members) in enumerate(same.items(), 1)
    )


def _stories(members: Sequence[Entry], notes: Sequence[Note]) -> Iterator[tuple[Entry, Story]]:
    """Tell every result of a mechanism; what is the same as of an earlier one is not repeated."""
    first: dict[Part, str] = {}
    for entry in members:
        told = story(entry.result, notes)
        parts = []
        for part in told.parts:
            same = f"The same as of {first.setdefault(part, entry.brief.id)}."
            again = first[part] != entry.brief.id and len(same) < sum(map(len, part.texts))
            again = again and part.title != "Verdict"
            parts.append(replace(part, texts=(same,)) if again else part)
        yield entry, replace(told, parts=tuple(parts))


def _filters(statuses: Iterable[Status]) -> str:
    kinds = {
        "has-wrong" if each in WRONG else "has-undecided" if each in UNDECIDED else "has-held"
        for each in statuses
    }
    return " ".join(sorted(kinds))


def _pairs(members: Sequence[Entry]) -> Iterable[Pair]:
    """Put printed claims beside the others on the same quantity, in the record's order."""
    in_order = sorted(members, key=lambda each: each.result.place)
    for unit in dict.fromkeys(each.brief.unit for each in in_order):
        those = [each for each in in_order if each.brief.unit == unit]
        for printed, other in zip_longest(
            [each for each in those if each.printed], [each for each in those if not each.printed]
        ):
            yield Pair(unit=unit, printed=printed, other=other)


def _dots(groups: Sequence[Group]) -> Table:
    """Write the overview's numbers, a row for each mechanism that has one."""
    return Table(
        caption="Leak ÷ claim, as drawn: mechanisms by their worst claim, corrected and ours too.",
        columns=("mechanism", "claims as printed", "corrected, or ours"),
        numeric=(False, False, False),
        rows=tuple(
            (
                group.name,
                _ratios(entry for entry, _ in group.stories if entry.printed),
                _ratios(entry for entry, _ in group.stories if not entry.printed),
            )
            for group in groups
            if group.dots
        ),
    )


def _ratios(entries: Iterable[Entry]) -> str:
    told = (
        f"{_ratio_words(entry, entry.dot)} {MARKS[entry.dot.kind].word}"
        for entry in entries
        if entry.dot is not None
    )
    return "; ".join(told) or MISSING


def _ratio_words(entry: Entry, dot: Dot) -> str:
    """Write a ratio with three digits: nearest where the leak is known, else what is certain."""
    if math.isinf(dot.ratio):
        return INFINITY
    way = NEAREST if entry.brief.found.startswith("=") else DOWN
    text = short_number(dot.ratio, way)
    above = dot.kind in {"refuted", "exceeded"}
    return told_apart(dot.ratio, 1.0, way) if above and float(text) <= 1 else text
