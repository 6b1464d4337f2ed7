"""The page of the catalogue: wrong claims, one overview, and every mechanism, folded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from dpassay.numerics import DOWN, NEAREST, told_apart
from dpassay.reports.run.page.folder import page_files
from dpassay.reports.run.page.overview_plot import MARKS, Dot, dot_of
from dpassay.reports.run.view import ResultView
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
from dpassay.reports.shared.tables import TextTable

READING = ", read as in docs/findings.md"
READ = "\N{NO-BREAK SPACE}*"
WRONG = {REFUTED, EXPECTED}
UNDECIDED = {ERROR, MISSED, INCONCLUSIVE}


class Pair(NamedTuple):
    """What is measured, with the claim as printed and the one that is not, side by side."""

    unit: str
    printed: ResultView | None
    other: ResultView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismGroup:
    """One mechanism."""

    name: str
    anchor: str
    page: str  # its own page, from the folder of index.html
    filters: str  # classes that the filter of the page goes by
    statuses: tuple[Status, ...]  # of its results, worst first, each once
    pairs: tuple[Pair, ...]
    results: tuple[ResultView, ...]

    @property
    def dots(self) -> tuple[Dot, ...]:
        """Places of its results in the overview."""
        found = (dot_of(each.raw) for each in self.results)
        return tuple(dot for dot in found if dot is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What the page of the catalogue shows."""

    published: tuple[ResultView, ...]  # claims of papers that are wrong, the worst first
    ours: tuple[ResultView, ...]  # claims of ours that are wrong, the worst first
    groups: tuple[MechanismGroup, ...]  # every mechanism, that of the worst claim first
    files: Mapping[str, str]  # the page of each mechanism

    @property
    def starred(self) -> bool:
        """Whether a published claim is wrong as docs/findings.md reads it."""
        return any(self.source_of(each).endswith(READ) for each in self.published)

    @property
    def dots(self) -> TextTable:
        """The overview's numbers, a row for each mechanism that has one."""
        return TextTable.of(
            "Leak ÷ claim, as drawn: mechanisms by their worst claim, corrected and ours too.",
            "mechanism | claims as printed | corrected, or ours",
            (
                (
                    group.name,
                    _ratios(each for each in group.results if each.printed),
                    _ratios(each for each in group.results if not each.printed),
                )
                for group in self.groups
                if group.dots
            ),
        )

    @staticmethod
    def source_of(result: ResultView) -> str:
        """Return where a claim is from; `READ` stands for the reading that its page names."""
        source, reading, _ = result.source.partition(READING)
        return f"{source}{READ if reading else ''}"


def make_catalogue(results: Sequence[ResultView]) -> Catalogue:
    """Put the results of a catalogue together; they are the worst first."""
    in_order = sorted(results, key=lambda each: each.place)
    files = page_files(each.brief.mechanism for each in in_order)

    def worst_first(result: ResultView) -> float:
        dot = dot_of(result.raw)
        return -dot.ratio if dot else 0.0

    wrong = sorted((each for each in results if each.status in WRONG), key=worst_first)
    same: dict[str, list[ResultView]] = {}
    for each in results:
        same.setdefault(each.brief.mechanism, []).append(each)
    return Catalogue(
        published=tuple(each for each in wrong if each.printed),
        ours=tuple(each for each in wrong if not each.printed),
        groups=tuple(
            MechanismGroup(
                name=name,
                anchor=f"m{number}-{re.sub(r'[^A-Za-z0-9-]+', '-', name)}",
                page=files[name],
                filters=_filters(each.status for each in members),
                statuses=tuple(
                    status for status in ALL if any(each.status is status for each in members)
                ),
                pairs=tuple(_pairs(members)),
                results=tuple(members),
            )
            for number, (name, members) in enumerate(same.items(), 1)
        ),
        files=files,
    )


def _filters(statuses: Iterable[Status]) -> str:
    kinds = {
        "has-wrong" if each in WRONG else "has-undecided" if each in UNDECIDED else "has-held"
        for each in statuses
    }
    return " ".join(sorted(kinds))


def _pairs(members: Sequence[ResultView]) -> Iterable[Pair]:
    """Put printed claims beside the others on the same quantity, in the record's order."""
    in_order = sorted(members, key=lambda each: each.place)
    for unit in dict.fromkeys(each.unit for each in in_order):
        those = [each for each in in_order if each.unit == unit]
        for printed, other in zip_longest(
            [each for each in those if each.printed], [each for each in those if not each.printed]
        ):
            yield Pair(unit, printed, other)


def _ratios(results: Iterable[ResultView]) -> str:
    told = (
        f"{_ratio_words(each, dot)} {MARKS[dot.kind].word}"
        for each in results
        if (dot := dot_of(each.raw)) is not None
    )
    return "; ".join(told) or MISSING


def _ratio_words(result: ResultView, dot: Dot) -> str:
    """Write a ratio with three digits: nearest where the leak is known, else what is certain."""
    if math.isinf(dot.ratio):
        return INFINITY
    way = NEAREST if result.brief.found.startswith("=") else DOWN
    text = short_number(dot.ratio, way)
    above = dot.kind in {"refuted", "exceeded"}
    return told_apart(dot.ratio, 1.0, way) if above and float(text) <= 1 else text
