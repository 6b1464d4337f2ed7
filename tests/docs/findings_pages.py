"""The pages of findings as one text, a section each, in the order of the index; their tables."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
FINDINGS = (DOCS / "findings.md").read_text(encoding="utf-8")
FINDINGS += "".join(
    f"\n#{(DOCS / name).read_text(encoding='utf-8')}"
    for name in re.findall(r"\]\((findings/\S+\.md)\)", FINDINGS)
)
NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?|inf)"


def section(title: str) -> str:
    return FINDINGS.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(
    first: str, numbers: int, many: int, text: str = FINDINGS, last: str = ""
) -> list[tuple[str, ...]]:
    """Return the groups of a table's rows, which are so many.

    Groups are those of the pattern of the `first` cells, and the numbers in the cells behind.
    """
    cells = rf" \| {NUMBER}" * numbers
    found = re.findall(rf"^\| {first}{cells}{last} \|$", text, re.MULTILINE)
    assert len(found) == many, (first, len(found))
    return found


def printed(form: str, *values: object) -> tuple[str, ...]:
    """Return values as the cells of a row print them."""
    return tuple(form.format(*values).split())


def compared(claimed: float, true: float) -> tuple[str, ...]:
    """Return what most rows end with: claimed, true, and how much too large the claim is."""
    return printed("{:g} {:.6f} {:.3f}", claimed, true, claimed / true)
