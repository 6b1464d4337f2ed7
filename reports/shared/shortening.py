"""Shortening: what of a long report stays where only so many bytes are taken.

Whole sections go, and the worst results stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dpassay.reports.shared.numbers import count, plural
from dpassay.reports.shared.statuses import ALL, Status

RESULTS = "## Results\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A report in pieces, each with the newlines after it.

    Without results everything but `reproduce` is empty. Tuples have one entry per result, worst
    first.
    """

    headline: str
    opening: str  # notes and caveat
    table_head: str  # titles and ruler of the summary table
    rows: tuple[str, ...]
    reproduce: str
    findings: str
    results: tuple[str, ...]
    tables: tuple[str, ...]  # of query points; empty if there are none
    statuses: tuple[Status, ...]
    row_statuses: tuple[Status, ...] = ()  # of the rows, where they are not one per result
    heading: str = RESULTS  # any but the usual one is a digest's, whose results come first


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What stays: whole pieces, numbers of first rows and results, and which query tables."""

    opening: bool
    rows: int
    reproduce: bool
    findings: bool
    results: int
    tables: frozenset[int]


def shortened(pieces: Pieces, limit: int) -> str:
    """Put a report together so that it takes fewer than `limit` bytes of UTF-8.

    A report that fits is whole. Otherwise tables of query points go first, all that do not fit once
    those of worse results have their place; then sections of results, the best first. The summary
    table loses its last rows where it and the sections do not fit together and it would take more
    than half of the room; the findings and how to reproduce go where they would take more than a
    quarter. One line says what is missing. A limit that even this line does not meet leaves the
    headline, or nothing.
    """
    text = _whole(pieces)
    if _size(text) < limit:
        return text
    nothing = Kept(
        opening=False, rows=0, reproduce=False, findings=False, results=0, tables=frozenset()
    )
    # no note is longer than that of a text without anything
    room = limit - 1 - sum(map(_size, _texts(pieces, nothing)))
    if room >= 0:
        return "".join(_texts(pieces, _kept(pieces, room)))
    return pieces.headline if _size(pieces.headline) < limit else ""


def fits(pieces: Pieces, limit: int) -> bool:
    """Return whether the whole report takes fewer than `limit` bytes of UTF-8."""
    return _size(_whole(pieces)) < limit


def _whole(pieces: Pieces) -> str:
    tables = frozenset(place for place, table in enumerate(pieces.tables) if table)
    kept = Kept(
        opening=True,
        rows=len(pieces.rows),
        reproduce=True,
        findings=True,
        results=len(pieces.results),
        tables=tables,
    )
    return "".join(_texts(pieces, kept))


def _size(text: str) -> int:
    return len(text.encode())


def _kept(pieces: Pieces, room: int) -> Kept:
    """Share the room out.

    A piece may take its share, and more where all but the tables of query points still fits.
    """
    frame, heading = _size(pieces.table_head) + 1, _size(pieces.heading)
    rows, sections = (
        [_size(row) for row in pieces.rows],
        [_size(section) for section in pieces.results],
    )
    need = frame + sum(rows) + heading + sum(sections)

    opening = _size(pieces.opening) <= room
    room -= opening * _size(pieces.opening)
    reproduce = _size(pieces.reproduce) <= max(room // 4, room - need - _size(pieces.findings))
    room -= reproduce * _size(pieces.reproduce)
    findings = _size(pieces.findings) <= max(room // 4, room - need)
    room -= findings * _size(pieces.findings)

    shown = _first(rows, max(room // 2, room - heading - sum(sections)) - frame)
    results = _first(sections, room - bool(shown) * frame - sum(rows[:shown]) - heading)
    room -= bool(results) * heading + sum(sections[:results])
    shown = _first(rows, room - frame)  # also where the sections left more than half
    room -= bool(shown) * frame + sum(rows[:shown])

    tables = set()
    for place, table in enumerate(pieces.tables if results == len(sections) else ()):
        if table and _size(table) <= room:
            tables.add(place)
            room -= _size(table)
    return Kept(
        opening=opening,
        rows=shown,
        reproduce=reproduce,
        findings=findings,
        results=results,
        tables=frozenset(tables),
    )


def _first(sizes: Iterable[int], room: int) -> int:
    """Return how many of the first fit together."""
    return sum(total <= room for total in accumulate(sizes))


def _texts(pieces: Pieces, kept: Kept) -> Iterator[str]:
    yield pieces.headline
    yield _note(pieces, kept)
    if kept.opening:
        yield pieces.opening
    digest = pieces.heading != RESULTS
    if digest:
        yield from _results(pieces, kept)
    if kept.rows:
        yield from (pieces.table_head, *pieces.rows[: kept.rows], "\n")
    if kept.reproduce:
        yield pieces.reproduce
    if kept.findings:
        yield pieces.findings
    if not digest:
        yield from _results(pieces, kept)


def _results(pieces: Pieces, kept: Kept) -> Iterator[str]:
    if kept.results:
        yield pieces.heading
    for place, section in enumerate(pieces.results[: kept.results]):
        yield section
        if place in kept.tables:
            yield pieces.tables[place]


def _note(pieces: Pieces, kept: Kept) -> str:
    """Say in one line what is missing; nothing if nothing is."""
    results = pieces.statuses[kept.results :]
    rows = (pieces.row_statuses or pieces.statuses)[kept.rows :]
    tables = sum(bool(table) for table in pieces.tables) - len(kept.tables)
    said = []
    if results:
        are = "is" if len(results) == 1 else "are"
        said.append(f"{plural(len(results), 'result')} {are} left out here, {_verdicts(results)}.")
    if rows:
        said.append(f"The table lacks its last {plural(len(rows), 'row')}, {_verdicts(rows)}.")
    if tables:
        said.append(f"The query points of {plural(tables, 'result')} are left out.")
    others = {
        "the notes": kept.opening,
        "how to reproduce": kept.reproduce,
        "the findings": kept.findings or not pieces.findings,
    }
    missing = [name for name, there in others.items() if not there]
    if missing:
        said.append(f"Left out: {', '.join(missing)}.")
    return (
        f"**Shortened.** {' '.join(said)} The pages and record.json hold them all.\n\n"
        if said
        else ""
    )


def _verdicts(statuses: Sequence[Status]) -> str:
    numbers = Counter(statuses)
    if len(numbers) == 1:
        return f"{'all ' if len(statuses) > 1 else ''}{statuses[0].word}"
    return "; ".join(
        f"{count(numbers[status])} {status.word}" for status in ALL if status in numbers
    )
