"""The page of the catalogue: wrong claims, one overview, every mechanism, and their own pages."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from dpassay.errors import InvalidInput
from dpassay.numerics import DOWN, NEAREST, told_apart
from dpassay.reports.run.findings import known
from dpassay.reports.run.view import FullView
from dpassay.reports.shared.chart import (
    CLAIM,
    CLAIMED,
    PALETTE,
    Look,
    beside,
    drawing,
    frame,
    marks,
    rule,
    svg,
)
from dpassay.reports.shared.numbers import INFINITY, MISSING, clean, plural, short_number, shorten
from dpassay.reports.shared.statuses import ALL, UNDECIDED, WRONG, Status
from dpassay.reports.shared.tables import TextTable

READING = ", read as in docs/findings.md"
READ = "\N{NO-BREAK SPACE}*"
FOLDER = "mechanisms"  # beside index.html
GENERATOR = "dpassay, a mechanism of the catalogue"
"""What the head of a page names as its maker: only such pages are removed."""
HEAD = 4000  # bytes of a page within which it names its maker
LONGEST = 60


PITCH = 0.165  # of a row of the overview, in inches
LEAST, MOST = 0.02, 130.0
"""Ends of the overview's axis; what lies beyond is drawn there, with its value beside it."""
RATIOS = (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


class Mark(NamedTuple):
    """How a kind of finding is drawn."""

    word: str
    symbol: str  # the shape, for people
    slug: str  # of its colour
    told: str  # what the word means
    style: dict[str, Any]

    @property
    def look(self) -> Look:
        """Return the style in the colour of its slug."""
        return Look(PALETTE.get(self.slug, CLAIM), **self.style)


_TALL = {"marker": "|", "size": 7, "width": 1.2}
_BEYOND = "by a dataset that was not audited"
MARKS = {
    "refuted": Mark("refuted", "▲", "refuted", "", {"marker": "^", "size": 6.4}),
    "exceeded": Mark("exceeded", "✕", "missed", _BEYOND, {"marker": "x", "width": 1.1}),
    "tight": Mark("tight", "✚", "held", "within 1 % of the claim", {"marker": "+", "width": 2}),
    "loose": Mark("loose", "○", "verified", "", {"marker": "o", "hollow": True, "width": 1.1}),
    "seen": Mark("at least", "│", "soft", "worst case not known", _TALL),
}
"""Every kind, the worst first. Only 'refuted' shares its shape with a status, its own."""


class Dot(NamedTuple):
    """One result in the overview."""

    kind: str  # a key of `MARKS`
    ratio: float  # leak over claim; may be inf


def dot_of(r: FullView) -> Dot | None:
    """Return the place of a result; None where nothing is known of its leak, or claimed."""
    found = known(r.raw)
    leak = 0.0 if found is None else max(0.0, found[0])
    if found is None or not (r.promised or leak):
        return None
    ratio = leak / r.promised if r.promised else math.inf
    return Dot(kind="seen" if r.finding is None else r.finding.kind, ratio=ratio)


def overview_plot(rows: Sequence[tuple[str, Sequence[Dot]]], *, name: str, part: str = "") -> str:
    """Draw leak ÷ claim on a logarithmic axis as SVG, one row for each mechanism from above.

    `part` says which part of the overview it is, if it has several.
    """
    dots = [(place, dot) for place, (_, row) in enumerate(rows) for dot in row]
    with drawing(PITCH * max(1, len(rows)) + 0.75, left=2.05) as (axes,):
        frame(
            axes,
            (LEAST, MOST),
            (len(rows) - 0.4, -0.6),
            logarithmic="x",
            x_ticks={tick: f"{tick:g}" for tick in RATIOS},
            y_ticks={place: shorten(clean(label), 38) for place, (label, _) in enumerate(rows)},
            names=("leak ÷ claim", ""),
        )
        axes.grid(visible=False, axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(labelsize=7.6)
        axes.xaxis.label.set_fontsize(8.5)
        rule(axes, 1.0, CLAIMED, upright=True)
        for kind, mark in reversed(MARKS.items()):
            those = [(_within(dot.ratio), place) for place, dot in dots if dot.kind == kind]
            marks(axes, those, mark.look)
        small = {"fontsize": 7.6}
        for place, ratio in sorted({(place, dot.ratio) for place, dot in dots}):
            if _within(ratio) != ratio:  # beyond the end of the axis
                told = "∞" if math.isinf(ratio) else f"{ratio:.2g}"
                beside(axes, told, (_within(ratio), place), (6, 0), va="center", **small)
        beside(axes, "the claim", (1.0, -0.6), (0, 4), ha="center", color=CLAIM, **small)
        return svg(
            axes,
            name=name,
            title=f"Leak ÷ claim{part}, of every result that has one",
            description=(
                f"{plural(len(rows), 'mechanism')}, {plural(len(dots), 'result')}, on a "
                "logarithmic axis with a dashed line at 1, the claim: what lies right of it "
                "leaks more than is claimed. The table below has the same numbers."
            ),
        )


def _within(ratio: float) -> float:
    return min(max(ratio, LEAST), MOST)


class ClaimPair(NamedTuple):
    """What is measured, with the claim as printed and the one that is not, side by side."""

    unit: str
    printed: FullView | None
    other: FullView | None


class MechanismGroup(NamedTuple):
    """One mechanism."""

    name: str
    anchor: str
    page: str  # its own page, from the folder of index.html
    filters: str  # classes that the filter of the page goes by
    statuses: tuple[Status, ...]  # of its results, worst first, each once
    pairs: tuple[ClaimPair, ...]
    results: tuple[FullView, ...]
    dots: tuple[Dot, ...]  # places of its results in the overview


class Catalogue(NamedTuple):
    """What the page of the catalogue shows."""

    published: tuple[FullView, ...]  # claims of papers that are wrong, the worst first
    ours: tuple[FullView, ...]  # claims of ours that are wrong, the worst first
    groups: tuple[MechanismGroup, ...]  # every mechanism, that of the worst claim first
    files: Mapping[str, str]  # the page of each mechanism
    dots: TextTable  # the overview's numbers, a row for each mechanism that has one
    starred: bool  # whether a published claim is wrong as docs/findings.md reads it

    @staticmethod
    def source_of(result: FullView) -> str:
        """Return where a claim is from; `READ` stands for the reading that its page names."""
        source, reading, _ = result.source.partition(READING)
        return f"{source}{READ if reading else ''}"


def make_catalogue(results: Sequence[FullView]) -> Catalogue:
    """Put the results of a catalogue together; they are the worst first."""
    in_order = sorted(results, key=lambda each: each.place)
    files = page_files(each.mechanism for each in in_order)
    dots = {each.place: dot for each in results if (dot := dot_of(each)) is not None}
    wrong = sorted(
        (each for each in results if each.status in WRONG),
        key=lambda each: -dots[each.place].ratio if each.place in dots else 0.0,
    )
    published = tuple(each for each in wrong if each.printed)
    groups = []
    for number, name in enumerate(dict.fromkeys(each.mechanism for each in results), 1):
        members = tuple(each for each in results if each.mechanism == name)
        statuses = {each.status for each in members}
        kinds = {
            "has-wrong" if each in WRONG else "has-undecided" if each in UNDECIDED else "has-held"
            for each in statuses
        }
        group = MechanismGroup(
            name=name,
            anchor=f"m{number}-{re.sub(r'[^A-Za-z0-9-]+', '-', name)}",
            page=files[name],
            filters=" ".join(sorted(kinds)),
            statuses=tuple(status for status in ALL if status in statuses),
            pairs=tuple(_pairs([each for each in in_order if each.mechanism == name])),
            results=members,
            dots=tuple(dots[each.place] for each in members if each.place in dots),
        )
        groups.append(group)
    drawn = [
        (
            group.name,
            *(
                "; ".join(
                    _ratio_words(each, dots[each.place])
                    for each in group.results
                    if each.printed is printed and each.place in dots
                )
                or MISSING
                for printed in (True, False)
            ),
        )
        for group in groups
        if group.dots
    ]
    caption = "Leak ÷ claim, as drawn: mechanisms by their worst claim, corrected and ours too."
    return Catalogue(
        published=published,
        ours=tuple(each for each in wrong if not each.printed),
        groups=tuple(groups),
        files=files,
        dots=TextTable.of(caption, "mechanism | claims as printed | corrected, or ours", drawn),
        starred=any(Catalogue.source_of(each).endswith(READ) for each in published),
    )


def _pairs(in_order: Sequence[FullView]) -> Iterable[ClaimPair]:
    """Put printed claims beside the others on the same quantity, in the record's order."""
    for unit in dict.fromkeys(each.unit for each in in_order):
        printed, others = (
            [each for each in in_order if each.unit == unit and each.printed is told]
            for told in (True, False)
        )
        yield from (ClaimPair(unit, *each) for each in zip_longest(printed, others))


def _ratio_words(r: FullView, dot: Dot) -> str:
    """Write a ratio with three digits: nearest where the leak is known, else what is certain."""
    text = INFINITY
    if not math.isinf(dot.ratio):
        way = NEAREST if r.found.startswith("=") else DOWN
        text = short_number(dot.ratio, way)
        if dot.kind in {"refuted", "exceeded"} and float(text) <= 1:
            text = told_apart(dot.ratio, 1.0, way)
    return f"{text} {MARKS[dot.kind].word}"


def page_files(mechanisms: Iterable[str]) -> dict[str, str]:
    """Return the file of each mechanism below the folder of the reports.

    Lower-case letters, digits, dashes and dots only; no two mechanisms share one.
    """
    files: dict[str, str] = {}
    for name in dict.fromkeys(mechanisms):
        stem = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:LONGEST] or "mechanism"
        unique, number = stem, 1
        while f"{FOLDER}/{unique}.html" in files.values():
            number += 1
            unique = f"{stem}-{number}"
        files[name] = f"{FOLDER}/{unique}.html"
    return files


def remove_stale(directory: Path, kept: Collection[str] = ()) -> None:
    """Remove pages of mechanisms that we wrote, and their folder if nothing is left in it.

    `kept` are pages of this run, as `page_files` names them.
    """
    folder = directory / FOLDER
    if not folder.is_dir():
        return
    try:
        for path in sorted(folder.glob("*.html")):
            if f"{FOLDER}/{path.name}" not in kept and _ours(path):
                path.unlink()
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None
    with suppress(OSError):
        folder.rmdir()  # what is not ours stays, and the folder with it


def _ours(path: Path) -> bool:
    """Return whether a file says in its head that we wrote it."""
    try:
        with path.open("rb") as file:
            return f'<meta name="generator" content="{GENERATOR}">'.encode() in file.read(HEAD)
    except OSError:
        return False
