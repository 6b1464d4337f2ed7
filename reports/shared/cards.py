"""What the first screens of reports are made of: large numbers, bars, a number line, steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpassay.numerics import plain
from dpassay.reports.shared.statuses import Status

ROOM = 1.08
"""End of a number line, over the largest number on it."""
FAR = 3.0
"""An upper bound farther than this many times everything else ends the line with an arrow."""
CLOSE = 8.0
"""Per cent of the line within which its start is not written."""
NEAR = 22.0
"""Per cent of the line that two labels need between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeNumber:
    """One of the few numbers that the first screen shows in large type."""

    name: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The answer on one side: `width` in per cent of the whole."""

    side: str
    text: str
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMark:
    """A mark on the number line."""

    kind: str  # 'claim', 'least' or 'most'
    at: float  # per cent of the line
    text: str
    align: str  # where its label begins: 'start', 'middle' or 'end'
    row: int  # 0 above the line, 1 or 2 below it


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLine:
    """The number line: marks, the certified interval, and its start where no mark is near."""

    start: str
    marks: tuple[LineMark, ...]
    left: float
    width: float
    beyond: bool
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do now, with the command for it."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One result, or what was attacked, on the first screen.

    `times` is what is lost at least, as a multiple of a broken claim; empty where unknown.
    """

    name: str
    anchor: str  # the section that tells it in full
    status: Status
    numbers: tuple[LargeNumber, ...] = ()
    verdict: str = ""
    seen: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    scale: str = ""
    line: NumberLine | None = None
    steps: tuple[Step, ...] = ()
    looked: tuple[str, ...] = ()
    times: str = ""


def number_line(
    claim: tuple[float, str], least: tuple[float, str], most: tuple[float, str] | None = None
) -> NumberLine | None:
    """Place claim, lower and upper bound, each with its label, on a line that begins at 0.

    The upper bound may be infinite. None if the lower bound is infinite, or nothing is above 0.
    """
    (claimed, claim_text), (lower, least_text) = claim, least
    if math.isinf(lower) or not max(claimed, lower) > 0:
        return None
    near = max(claimed, lower)
    beyond = most is not None and most[0] > FAR * near
    end = ROOM * max(near, most[0] if most is not None and not beyond else 0.0)
    start = min(0.0, lower * ROOM)

    def at(number: float) -> float:
        return round(100 * (number - start) / (end - start), 2)

    marks = [_mark("claim", at(claimed), claim_text, 0), _mark("least", at(lower), least_text, 1)]
    last = 100.0 if beyond else at(lower if most is None else most[0])
    if most is not None:
        row = 1 if last - at(lower) > NEAR and at(lower) < 100 - NEAR else 2
        marks.append(_mark("most", last, most[1], row, beyond=beyond))
        if row == 1 and at(lower) > NEAR:
            marks[1] = LineMark(kind="least", at=at(lower), text=least_text, align="end", row=1)
    told = ", ".join(mark.text for mark in marks)
    return NumberLine(
        start=plain(start) if min(mark.at for mark in marks) > CLOSE else "",
        marks=tuple(marks),
        left=0.0 if most is None else at(lower),
        width=round(last - at(lower), 2) if most is not None else at(lower),
        beyond=beyond,
        told=f"Number line from {plain(start)}: {told}",
    )


def _mark(kind: str, at: float, text: str, row: int, *, beyond: bool = False) -> LineMark:
    align = "end" if at > 100 - NEAR or beyond else "start" if at < NEAR else "middle"
    return LineMark(kind=kind, at=at, text=text, align=align, row=row)
