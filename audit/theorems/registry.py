"""Which statements and rows there are.

A paper is a package with `statements.py`, and with `ROW_FILES`: the files that have its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from dpassay.errors import InvalidInput, near
from dpassay.theorems.row import Row
from dpassay.theorems.statement import PAPERS, Statement


def package_of(paper: str) -> str:
    """Return the package of a paper."""
    return f"dpassay.theorems.{paper.replace('-', '_')}"


@cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Return the quantitative statements of a paper, in its order."""
    found: tuple[Statement, ...] = import_module(f"{package_of(paper)}.statements").STATEMENTS
    return found


@cache
def rows(paper: str) -> tuple[Row, ...]:
    """Return the rows of a paper, in the order of its statements."""
    files = import_module(package_of(paper)).ROW_FILES
    found: list[Row] = []
    for name in files:
        found += import_module(f"{package_of(paper)}.{name}").ROWS
    order = [each.name for each in statements(paper)]
    return tuple(sorted(found, key=lambda row: order.index(row.statement)))


def every_row() -> tuple[Row, ...]:
    """Return the rows of all papers."""
    return tuple(row for paper in PAPERS for row in rows(paper))


def chosen(names: Iterable[str], papers: Iterable[str] = ()) -> tuple[Row, ...]:
    """Return the rows of these names and papers; all of them where nothing is said.

    Names are keys, or the first one or two parts of keys; papers are keys of `PAPERS`.
    """
    known, wanted = every_row(), [*names, *papers]
    for name in wanted:
        if not any(_named(row, name) for row in known):
            keys = [*PAPERS, *(row.key for row in known)]
            meant = near(name, keys)
            hint = f"; did you mean '{meant}'?" if meant else ""
            raise InvalidInput(f"'{name}': no such row of `dpassay theorem list`{hint}")
    return tuple(row for row in known if not wanted or any(_named(row, name) for name in wanted))


def _named(row: Row, name: str) -> bool:
    return row.key == name or row.key.startswith(f"{name}/")
