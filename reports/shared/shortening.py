"""Shortening: what of a long report stays where only so many bytes are taken.

Whole pieces go, and the worst results stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from dpassay.reports.shared.numbers import count, plural
from dpassay.reports.shared.statuses import ALL, Status

SHARES = {
    "the notes": 1,
    "how to reproduce": 4,
    "the findings": 4,
    "row": 2,
    "result": 1,
    "table": 1,
}
"""Every kind of piece in the order in which they get room, and the part of it that each may take,
unless all later ones have room besides."""


class ReportPiece(NamedTuple):
    """A part of a report with the newlines after it; those of a kind are the worst first."""

    kind: str
    text: str
    status: Status | None = None  # of results, and of rows of a table of results


Frames = Mapping[str, tuple[str, str]]
"""What stands before the first and after the last piece of a kind."""


def shortened(headline: str, pieces: Sequence[ReportPiece], frames: Frames, limit: int) -> str:
    """Put a report together so that it takes fewer than `limit` bytes of UTF-8.

    A report that fits is whole. Otherwise tables of query points go first, all that do not fit once
    those of worse results have their place; then sections of results, the best first. The summary
    table loses its last rows where it and the sections do not fit together and it would take more
    than half of the room; the findings and how to reproduce go where they would take more than a
    quarter. One line says what is missing. A limit that even this line does not meet leaves the
    headline, or nothing.
    """
    if fits(headline, pieces, frames, limit):
        return _joined(headline, pieces, frames, range(len(pieces)))
    # no note is longer than that of a text without anything
    room = limit - 1 - _size(headline) - _size(_note(pieces, set()))
    if room < 0:
        return headline if _size(headline) < limit else ""
    kept = _kept(pieces, frames, room)
    return _joined(headline + _note(pieces, kept), pieces, frames, sorted(kept))


def fits(headline: str, pieces: Sequence[ReportPiece], frames: Frames, limit: int) -> bool:
    """Return whether the whole report takes fewer than `limit` bytes of UTF-8."""
    return _size(_joined(headline, pieces, frames, range(len(pieces)))) < limit


def _joined(start: str, pieces: Sequence[ReportPiece], frames: Frames, kept: Iterable[int]) -> str:
    """Join pieces with what stands around those of a kind."""
    shown = [pieces[place] for place in kept]
    first = {piece.kind: place for place, piece in reversed(list(enumerate(shown)))}
    last = {piece.kind: place for place, piece in enumerate(shown)}
    text = [start]
    for place, piece in enumerate(shown):
        before, after = frames.get(piece.kind, ("", ""))
        text += [
            before if first[piece.kind] == place else "",
            piece.text,
            after if last[piece.kind] == place else "",
        ]
    return "".join(text)


def _kept(pieces: Sequence[ReportPiece], frames: Frames, room: int) -> set[int]:
    """Share the room out."""
    sizes = [_size(piece.text) for piece in pieces]
    places = {
        kind: [place for place, piece in enumerate(pieces) if piece.kind == kind] for kind in SHARES
    }
    frame = {kind: sum(map(_size, frames.get(kind, ("", "")))) for kind in SHARES}
    need = {
        kind: sum(sizes[place] for place in some) + frame[kind] * bool(some)
        for kind, some in places.items()
    }
    kept = set[int]()
    *order, _ = SHARES
    for number, kind in enumerate([*order, "row", "table"]):  # rows take what the results left
        budget = max(room // SHARES[kind], room - sum(need[each] for each in order[number + 1 :]))
        if kind == "table" and not kept.issuperset(places["result"]):
            break
        extra = frame[kind] if kept.isdisjoint(places[kind]) else 0
        for place in places[kind]:
            cost = sizes[place] + extra
            if place in kept or (kind == "table" and cost > budget):
                continue
            if cost > budget:
                break
            kept.add(place)
            budget, room, extra = budget - cost, room - cost, 0
    return kept


def _note(pieces: Sequence[ReportPiece], kept: AbstractSet[int]) -> str:
    """Say in one line what is missing; nothing if nothing is."""
    left: dict[str, list[ReportPiece]] = {kind: [] for kind in SHARES}
    for place, piece in enumerate(pieces):
        if place not in kept:
            left[piece.kind].append(piece)
    said = []
    if results := left["result"]:
        are = "is" if len(results) == 1 else "are"
        said.append(f"{plural(len(results), 'result')} {are} left out here, {_verdicts(results)}.")
    if rows := left["row"]:
        said.append(f"The table lacks its last {plural(len(rows), 'row')}, {_verdicts(rows)}.")
    if tables := left["table"]:
        said.append(f"The query points of {plural(len(tables), 'result')} are left out.")
    if missing := [kind for kind in [*SHARES][:3] if left[kind]]:
        said.append(f"Left out: {', '.join(missing)}.")
    if not said:
        return ""
    return f"**Shortened.** {' '.join(said)} The pages and record.json hold them all.\n\n"


def _size(text: str) -> int:
    return len(text.encode())


def _verdicts(pieces: Sequence[ReportPiece]) -> str:
    numbers = Counter(piece.status for piece in pieces)
    if len(numbers) > 1:
        return "; ".join(f"{count(numbers[each])} {each.word}" for each in ALL if each in numbers)
    (status,) = numbers
    return f"{'all ' if len(pieces) > 1 else ''}{status.word if status else ''}"
