"""The Markdown report, for pull requests and job summaries on GitHub, which are read on phones.

The story of each result where they are few, else a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from dpassay.reports.run.brief import lead
from dpassay.reports.run.digest import Entry, by_mechanism, entries
from dpassay.reports.run.view import View, make_view
from dpassay.reports.run.words import Part
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.shortening import Pieces, fits, shortened
from dpassay.reports.shared.statuses import EXPECTED
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]

LIMIT = 60_000
"""Bytes that a report stays below: a comment on GitHub takes 65,536 characters."""
FEW = 10
"""So many results are always told in full; of more there is a digest if they do not fit."""
MARKUP = re.compile(r"[\\`*_\[\]|~$]")
LINKED = re.compile(r"[@#](?=\w)|:(?=//)|\b(?:www(?=\.)|GH(?=-\d))", re.IGNORECASE)
"""What a forge, such as GitHub, makes a link of: persons, issues, addresses."""
ACT = "## Refuted, failed or undecided\n\n"
MORE = """## More

* {} every result in full, with pictures and tables; record.json has all numbers.
* cells.csv.gz has every pair, query and direction that leaks.
* One result in full, in a terminal, in the folder of this report:

```
dpassay explain ID --record record.json
```
"""


IN_FULL = {
    False: "index.html has",
    True: "The pages in mechanisms/, which index.html links to, have",
}
"""Where the catalogue is told in full, and where a run of other mechanisms is."""


def to_markdown(record: Raw, limit: int = LIMIT) -> str:
    """Write a record as GitHub-flavoured Markdown of fewer bytes than `limit`.

    Where more than `FEW` results do not fit, it is a digest: what somebody has to act on, then a
    table of all mechanisms. What does not fit even so is left out by whole sections, the least bad
    results first, and a line at the top says so.
    """
    view = make_view(record)
    told = entries(record, view)
    pieces = _story(record, view, told)
    if len(told) > FEW and not fits(pieces, limit):
        pieces = _digest(record, view, told)
    return shortened(pieces, limit)


def text_md(text: str) -> str:
    """Escape a text so that it shows as it is, also in a table, on one line.

    No markup, no HTML, no column break, no address, person or issue that a forge would link to.
    """
    return unlinked(MARKUP.sub(r"\\\g<0>", escape(clean(text), quote=False)))


def unlinked(text: str) -> str:
    """Break what a forge would make a link of."""
    return LINKED.sub("\\g<0>\N{WORD JOINER}", text)


def folded(title: str, content: str) -> str:
    """Fold a content behind a title, where some read Markdown and others do not."""
    plain = unlinked(escape(clean(title), quote=False))
    plain = MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", plain)
    return f"<details><summary>{plain}</summary>\n\n{content}</details>\n\n"


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


def _story(record: Raw, view: View, told: Sequence[Entry]) -> Pieces:
    head, rows = ("", ()) if view.summary is None else _rows(view.summary)
    lines = ""
    for entry in told:
        if len(told) <= FEW or not entry.stands:
            about = f"About: {entry.about}." if entry.about else ""
            said = " ".join(filter(None, (f"{entry.title}.", entry.seen, about)))
            lines += f"* {text_md(said)}\n"
    return Pieces(
        headline=f"# {text_md(lead(record))}\n\n",
        opening=_opening(view, f"{lines}\n" if lines else ""),
        table_head=head,
        rows=rows,
        reproduce=_reproduce(view),
        findings=_findings(view) if view.results else "",
        results=tuple(
            f"### {result.status.symbol} {text_md(result.id)}: {result.status.word}\n\n"
            + _parts(result.parts)
            for result in view.results
        ),
        tables=tuple(
            ""
            if result.query_table is None
            else folded(result.query_table.caption, f"{table_md(result.query_table)}\n\n")
            for result in view.results
        ),
        statuses=tuple(result.status for result in view.results),
    )


def _digest(record: Raw, view: View, told: Sequence[Entry]) -> Pieces:
    """Tell what somebody has to act on, the worst first, and put all mechanisms into a table."""
    table, statuses = by_mechanism(record, view)
    head, rows = _rows(table)
    acted = [entry for entry in told if not entry.stands]
    return Pieces(
        headline=f"# {text_md(lead(record))}\n\n",
        opening=_opening(view, ""),
        table_head=f"## Every mechanism\n\n{head}",
        rows=rows,
        row_statuses=statuses,
        reproduce=_reproduce(view),
        findings=MORE.format(IN_FULL[bool(record["run"]["catalogue"])]),
        heading=ACT,
        results=tuple(map(_section, acted)),
        tables=("",) * len(acted),
        statuses=tuple(entry.status for entry in acted),
    )


def _opening(view: View, lines: str) -> str:
    notes = "".join(f"{text_md(note)}\n\n" for note in (f"{view.headline}.", *view.notes))
    return f"{lines}{notes}> **{text_md(view.caveat)}** {text_md(view.caveat_detail)}\n\n"


def _section(entry: Entry) -> str:
    """Write what there is to act on; what was refuted as declared is folded."""
    story = f"{text_md(entry.seen)}\n\n" if entry.seen else ""
    story += f"{code_md(entry.replay)}\n\n" if entry.replay else ""
    story += _parts(entry.parts)
    if entry.status is not EXPECTED:
        return f"### {text_md(entry.title)}\n\n{story}"
    return folded(entry.title, story)


def _parts(parts: Iterable[Part]) -> str:
    return "".join(
        f"**{text_md(part.title)}.** {text_md(' '.join(part.texts))}\n\n"
        + ("" if part.command is None else f"{code_md(part.command)}\n\n")
        for part in parts
    )


def _reproduce(view: View) -> str:
    facts = "".join(f"* {text_md(name)}: {text_md(fact)}\n" for name, fact in view.facts)
    return f"## Reproduce\n\n{code_md(view.command)}\n\n{facts}\n"


def _rows(table: Table) -> tuple[str, tuple[str, ...]]:
    titles, ruler, *rows = table_md(table).split("\n")
    return f"{text_md(table.caption)}\n\n{titles}\n{ruler}\n", tuple(f"{row}\n" for row in rows)


def _findings(view: View) -> str:
    table = "" if view.findings is None else f"{captioned(view.findings)}\n\n"
    words = "".join(f"{text_md(text)}\n\n" for text in view.findings_words)
    notions = "" if view.notions is None else f"## Both notions\n\n{captioned(view.notions)}\n\n"
    return f"## Findings\n\n{table}{words}{notions}"
