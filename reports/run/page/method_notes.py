"""Method notes: what is said of many results in the same words, said once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpassay.reports.run.parts import ONE_BY_ONE
from dpassay.reports.run.scope_parts import SINGLE_ANSWERS
from dpassay.reports.run.view import ResultView
from dpassay.reports.run.words import Part

OFTEN = 8
"""A sentence that more results share than this is a note, unless it begins with a number."""
SHARED = (
    "Verdict",
    "How the bound was made",
    "How α was spent",
    "Goodness of fit",
    "Privacy profile",
    "Worst over all datasets",
    "What was searched",
)
"""Parts whose sentences may be notes; what the others say stays with the result."""
CAVEATS = (ONE_BY_ONE, SINGLE_ANSWERS)
"""Sentences of other parts that are notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One sentence of the method: its number on the page, what it is about, and the words."""

    number: int
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is told of a result, and the numbers of the notes that belong to it."""

    parts: tuple[Part, ...]
    notes: tuple[int, ...]


Numbers = Mapping[tuple[str, str], int]


def method_notes(results: Sequence[ResultView]) -> tuple[Note, ...]:
    """Collect the sentences that more than `OFTEN` results share, in the order of their parts."""
    shared: Counter[tuple[str, str]] = Counter()
    for result in results:
        shared.update(
            {
                (part.title, each)
                for part in result.parts
                for text in part.texts
                for each in _split(text)
                if (part.title in SHARED and not each[0].isdigit()) or each in CAVEATS
            }
        )
    often = [key for key, number in shared.items() if number > OFTEN]
    often.sort(key=lambda key: (key[0], -shared[key], key[1]))
    return tuple(
        Note(number=number, title=title, text=text) for number, (title, text) in enumerate(often, 1)
    )


def story(result: ResultView, notes: Sequence[Note]) -> Story:
    """Tell all parts of a result, without the sentences that are notes."""
    numbers = {(note.title, note.text): note.number for note in notes}
    parts, cited = [], list[int]()
    searched = next((part.texts for part in result.parts if part.title == SHARED[-1]), ())
    for part in result.parts:
        kept = []
        for text in part.texts:
            sentences = _split(text)
            cited += [
                numbers[part.title, each] for each in sentences if (part.title, each) in numbers
            ]
            rest = [
                each
                for each in sentences
                if (part.title, each) not in numbers
                and not (
                    # why a pair was chosen stands among what was searched
                    each.startswith("Chosen because ")
                    and any(each[len("Chosen because ") :].rstrip(".") in told for told in searched)
                )
            ]
            kept += [" ".join(rest)] if rest else []
        if kept or part.command is not None:
            parts.append(replace(part, texts=tuple(kept)))
    return Story(parts=tuple(parts), notes=tuple(sorted(set(cited))))


def _split(text: str) -> list[str]:
    """Part a paragraph into sentences."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)
