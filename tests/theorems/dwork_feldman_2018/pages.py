"""Rows of the tables in docs/findings.md."""

from __future__ import annotations

import re

from tests.theorems.test_rows import FINDINGS

NUMBER = r" \| (-?[\d.]+(?:e[+-]?\d+)?)"


def rows_of(first: str, numbers: int) -> list[list[float]]:
    """Return the numbers behind a first cell, for rows that have so many."""
    pattern = rf"^\| {re.escape(first)}{NUMBER * numbers} \|$"
    return [[float(n) for n in row] for row in re.findall(pattern, FINDINGS, re.MULTILINE)]
