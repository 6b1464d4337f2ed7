"""The Markdown report, for pull requests and job summaries on GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from dpassay.reports.run.published import published_table
from dpassay.reports.run.view import ResultView, View, make_view
from dpassay.reports.shared.shortening import Pieces, shortened
from dpassay.reports.shared.tables import Table

LIMIT = 1_000_000
"""Bytes that a report stays below: a job summary on GitHub takes 1 MiB."""


def to_markdown(record: Mapping[str, Any], limit: int = LIMIT) -> str:
    """Write a record as GitHub-flavoured Markdown.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.
    limit : int, optional
        The text takes fewer bytes of UTF-8 than that. What does not fit is left out by whole
        sections, the least bad results first, and a line at the top says so.

    Returns
    -------
    str
    """
    return shortened(_pieces(make_view(record), published_table(record["results"])), limit)


def text_md(text: str) -> str:
    """Escape a text so that it shows as it is, also in a table.

    No markup, no HTML, no column break.
    """
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", escape(text, quote=False))


def code_md(text: str) -> str:
    """Put a text into a code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text}\n{fence}"


def table_md(table: Table) -> str:
    """Write a table, numbers aligned at the right."""
    ruler = ("---:" if numeric else "---" for numeric in table.numeric)
    rows = [table.columns, *table.rows]
    head, *body = (f"| {' | '.join(text_md(cell) for cell in row)} |" for row in rows)
    return "\n".join([head, f"| {' | '.join(ruler)} |", *body])


def captioned(table: Table) -> str:
    """Write a table below its caption: units, and what its signs mean."""
    return f"{text_md(table.caption)}\n\n{table_md(table)}"


def _pieces(view: View, published: Table | None) -> Pieces:
    head, rows = ("", ()) if view.summary is None else _summary(view.summary)
    notes = "".join(f"{text_md(note)}\n\n" for note in view.notes)
    facts = "".join(f"* {text_md(name)}: {text_md(fact)}\n" for name, fact in view.facts)
    return Pieces(
        headline=f"# {text_md(view.headline)}\n\n",
        opening=f"{notes}> **{text_md(view.caveat)}** {text_md(view.caveat_detail)}\n\n",
        table_head=head,
        rows=rows,
        reproduce=f"## Reproduce\n\n{code_md(view.command)}\n\n{facts}\n",
        findings=_findings(view, published) if view.results else "",
        results=tuple(_result(result) for result in view.results),
        tables=tuple(
            "" if result.query_table is None else _details(result.query_table)
            for result in view.results
        ),
        statuses=tuple(result.status for result in view.results),
    )


def _summary(table: Table) -> tuple[str, tuple[str, ...]]:
    titles, ruler, *rows = table_md(table).split("\n")
    return f"{text_md(table.caption)}\n\n{titles}\n{ruler}\n", tuple(f"{row}\n" for row in rows)


def _findings(view: View, published: Table | None) -> str:
    table = "" if view.findings is None else f"{captioned(view.findings)}\n\n"
    words = "".join(f"{text_md(text)}\n\n" for text in view.findings_words)
    notions = "" if view.notions is None else f"## Both notions\n\n{captioned(view.notions)}\n\n"
    method = "" if published is None else f"## Method note\n\n{captioned(published)}\n\n"
    return f"## Findings\n\n{table}{words}{notions}{method}"


def _result(result: ResultView) -> str:
    head = f"### {result.status.symbol} {text_md(result.id)}: {result.status.word}\n\n"
    return head + "".join(
        f"**{text_md(part.title)}.** {text_md(' '.join(part.texts))}\n\n"
        + ("" if part.command is None else f"{code_md(part.command)}\n\n")
        for part in result.parts
    )


def _details(table: Table) -> str:
    return (
        f"<details><summary>{escape(table.caption)}</summary>\n\n{table_md(table)}\n\n</details>\n"
        "\n"
    )
