"""The page of the catalogue: wrong claims, one overview, every mechanism, and their own pages."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from dpassay.errors import InvalidInput
from dpassay.numerics import DOWN, NEAREST, told_apart
from dpassay.reports.run.page.overview_plot import MARKS, Dot, dot_of
from dpassay.reports.run.view import FullView
from dpassay.reports.shared.numbers import INFINITY, MISSING, short_number
from dpassay.reports.shared.statuses import ALL, UNDECIDED, WRONG, Status
from dpassay.reports.shared.tables import TextTable

READING = ", read as in docs/findings.md"
READ = "\N{NO-BREAK SPACE}*"
FOLDER = "mechanisms"  # beside index.html
GENERATOR = "dpassay, a mechanism of the catalogue"
"""What the head of a page names as its maker: only such pages are removed."""
HEAD = 4000  # bytes of a page within which it names its maker
LONGEST = 60


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
