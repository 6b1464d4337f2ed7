"""The statements of the papers with the rows that check them, for `list` and docs/theorems.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpassay.theorems.registry import rows, statements
from dpassay.theorems.row import Row
from dpassay.theorems.statement import LATER, PAPERS, Statement

HEAD = """# Theorems

Every quantitative statement of the three papers, in their order, with what checks it.
`dpassay theorem run` runs the checks, `dpassay theorem list` prints this list. A verdict is what
comes out at the default effort; `tests/theorems/` computes each again. *Verified*: in all cases of
a named domain. *Not refuted*: by a sample or a search. *Refuted*: see the linked section of
[findings](findings.md). Rows whose name begins with `slope` hold the growth of a number over a
decade or more against the printed one; `theorems.html` draws it. To audit a theorem's algorithm
with your own parameters and table, name it as the catalogue does (`dpassay list`):
`dpassay run soft-majority -p epsilon=0.3 -p r=4 --data table.csv --label y`. This page is made by
`python -m dpassay.theorems.page`.
"""
COLUMNS = "| statement | place | kind | printed | check | verdict |\n|---|---|---|---|---|---|"


def of_statement(paper: str, statement: Statement) -> tuple[Row, ...]:
    """Return the rows of a statement."""
    return tuple(row for row in rows(paper) if row.statement == statement.name)


def page() -> str:
    """Return docs/theorems.md."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield HEAD
    for paper, title in PAPERS.items():
        known = statements(paper)
        open_ = sum(each.no_row == LATER for each in known)
        todo = f"; {open_} statements have no check yet" if open_ else ""
        yield f"## {title}\n"
        yield f"{len(known)} statements, {len(rows(paper))} checks{todo}.\n\n{COLUMNS}"
        for each in known:
            yield from _rows(paper, each)
        yield ""


def _rows(paper: str, statement: Statement) -> Iterator[str]:
    start: tuple[str, ...] = (statement.number, statement.place, statement.kind, statement.printed)
    for row in of_statement(paper, statement):
        name = row.key.partition("/")[2]
        yield _line(*start, f"`{name}`: {row.checks}", _verdict(row))
        start = ("", "", "", "")
    if statement.no_row:
        yield _line(*start, statement.no_row, "–")


def _verdict(row: Row) -> str:
    if not row.derivation:
        return row.verdict
    kept = "".join(each for each in row.derivation.lower() if each.isalnum() or each in " -")
    return f"[{row.verdict}](findings/{kept.replace(' ', '-')}.md)"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def lines(papers: Iterable[str]) -> Iterator[str]:
    """Yield the list for a terminal: a line for each statement, and one for each of its rows."""
    for paper in papers:
        yield f"{PAPERS[paper]}\n"
        for each in statements(paper):
            told = f": {each.no_row}" if each.no_row else ""
            yield f"  {each.number} ({each.place}; {each.kind}){told}"
            for row in of_statement(paper, each):
                yield f"      {row.key}  [{row.method}]  {row.verdict}"
        yield ""


def as_json(papers: Iterable[str]) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "schema": "dpassay/theorem-list/1",
        "statements": [
            {
                "paper": paper,
                **{
                    name: getattr(each, name)
                    for name in ("number", "place", "printed", "hypotheses", "kind")
                },
                "no_row": each.no_row or None,
                "rows": [
                    {
                        name: getattr(row, name)
                        for name in ("key", "checks", "method", "domain", "verdict")
                    }
                    for row in of_statement(paper, each)
                ],
            }
            for paper in papers
            for each in statements(paper)
        ],
    }


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
