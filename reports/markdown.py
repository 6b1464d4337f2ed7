"""The Markdown report, for pull requests and job summaries on GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from dpassay.reports.tables import Table
from dpassay.reports.view import ResultView, View, make_view


def to_markdown(record: Mapping[str, Any]) -> str:
    """Write a record as GitHub-flavoured Markdown.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.record_schema`.

    Returns
    -------
    str
        Ends with one newline.
    """
    return "\n".join(_lines(make_view(record))) + "\n"


def text_md(text: str) -> str:
    """Escape a text so that it shows as it is, also in a table: no markup, no HTML, no column break."""
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


def _lines(view: View) -> Iterator[str]:
    yield f"# {text_md(view.headline)}\n"
    yield "".join(f"{text_md(note)}\n\n" for note in view.notes) + f"> **{text_md(view.caveat)}** {text_md(view.caveat_detail)}\n"
    if view.summary is not None:
        yield f"{table_md(view.summary)}\n"
    yield f"## Reproduce\n\n{code_md(view.command)}\n"
    yield "".join(f"* {text_md(name)}: {text_md(fact)}\n" for name, fact in view.facts)
    if not view.results:
        return
    yield "## Findings\n"
    if view.findings is not None:
        yield f"{table_md(view.findings)}\n"
    yield "".join(f"{text_md(text)}\n\n" for text in view.findings_words) + "## Results\n"
    for result in view.results:
        yield from _result(result)


def _result(result: ResultView) -> Iterator[str]:
    yield f"### {result.status.symbol} {text_md(result.id)}: {result.status.word}\n"
    for part in result.parts:
        yield f"**{text_md(part.title)}.** {text_md(' '.join(part.texts))}\n"
        if part.command is not None:
            yield f"{code_md(part.command)}\n"
    if result.query_table is not None:
        summary = escape(result.query_table.caption)
        yield f"<details><summary>{summary}</summary>\n\n{table_md(result.query_table)}\n\n</details>\n"
