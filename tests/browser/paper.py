"""A page as it comes out of a printer."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from playwright.sync_api import Page
from pypdf import PdfReader

MARGIN = "0.4in"
"""What Chromium's own print dialogue leaves free."""


@dataclass(frozen=True)
class Paper:
    """What is on the paper."""

    text: str  # without white space and capitals: names may be broken over lines
    marks: frozenset[int]  # rows of tables of which the end of the last cell is there
    rows: int  # of all tables of the page, but for those left out
    left_out: int  # rows that are folded away, and left out on purpose: `display: none`
    headings: tuple[str, ...]  # and captions, but for those left out
    pages: int

    def missing(self, names: tuple[str, ...]) -> list[str]:
        """Name what of the page, and which of these names, is not on the paper."""
        lost = [f"{name!r}" for name in (*names, *self.headings) if dense(name) not in self.text]
        rows = sorted(set(range(self.rows)) - self.marks)
        return lost + ([f"last column of {len(rows)} rows, row {rows[0]} first"] if rows else [])


def dense(text: str) -> str:
    """Leave out all white space, and what only the style sheet knows: capitals."""
    return "".join(text.split()).casefold()


def on_paper(page: Page) -> Paper:
    """Print an open page on A4, and read what came out.

    The end of every row of every table is marked. Chromium leaves out of a PDF what would lie
    beside the paper.
    """
    page.emulate_media(media="print")
    rows, left_out = page.evaluate("dpassayChecks.markLastCells()")
    headings: list[str] = page.evaluate("dpassayChecks.headings()")
    sides = {"top": MARGIN, "bottom": MARGIN, "left": MARGIN, "right": MARGIN}
    pdf = page.pdf(format="A4", print_background=True, margin=sides)  # type: ignore[arg-type]
    pages = PdfReader(io.BytesIO(pdf)).pages
    text = dense("".join(each.extract_text() for each in pages))
    marks = frozenset(int(number) for number in re.findall(r"q(\d+)z", text))
    return Paper(
        text=re.sub(r"q\d+z", "", text),
        marks=marks,
        rows=rows,
        left_out=left_out,
        headings=tuple(headings),
        pages=len(pages),
    )
