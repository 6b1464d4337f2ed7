"""The Markdown report, for pull requests and job summaries on GitHub, which are read on phones.

The story of each result where they are few, else a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from dpassay.reports.run.lead import lead
from dpassay.reports.run.terminal import row_of
from dpassay.reports.run.view import FullView, RunView, make_view
from dpassay.reports.run.words import Part
from dpassay.reports.shared.numbers import MISSING, clean
from dpassay.reports.shared.shortening import Frames, ReportPiece, fits, shortened
from dpassay.reports.shared.statuses import ALL, EXPECTED, STAND, WRONG, Status
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]
LIMIT = 60_000  # bytes that a report stays below: a comment on GitHub takes 65,536 characters
FEW = 10  # so many results are always told in full; of more there is a digest if they do not fit
MARKUP = re.compile(r"[\\`*_\[\]|~$]")
LINKED = re.compile(r"[@#](?=\w)|:(?=//)|\b(?:www(?=\.)|GH(?=-\d))", re.IGNORECASE)
"""What a forge, such as GitHub, makes a link of: persons, issues, addresses."""
TOLD = ("Claim", "Verdict", "Witness")
"""Parts of the story of a result that somebody needs to act on it."""
CORRECTED = "corrected or sharper claim"
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
    view, run = make_view(record), record["run"]
    headline = f"# {text_md(lead(record))}\n\n"
    facts = "".join(f"* {text_md(name)}: {text_md(fact)}\n" for name, fact in view.facts)
    command = f"## Reproduce\n\n{code_md(view.command)}\n\n{facts}\n"
    reproduce = ReportPiece("how to reproduce", command)
    notes = "".join(f"{text_md(note)}\n\n" for note in (f"{view.headline}.", *view.notes))
    if view.caveat:
        notes += f"> **{text_md(view.caveat)}** {text_md(view.caveat_detail)}\n\n"
    pieces, frames = _story(view, notes, reproduce, run["confidence"])
    if len(view.results) > FEW and not fits(headline, pieces, frames, limit):
        head, rows = _rows(*by_mechanism(view))
        pieces = [
            ReportPiece("the notes", notes),
            *(_section(r, run["confidence"]) for r in view.results if r.status not in STAND),
            *rows,
            reproduce,
            ReportPiece("the findings", MORE.format(IN_FULL[bool(run["catalogue"])])),
        ]
        act = "## Refuted, failed or undecided\n\n"
        frames = {"row": (f"## Every mechanism\n\n{head}", "\n"), "result": (act, "")}
    return shortened(headline, pieces, frames, limit)


def text_md(text: str) -> str:
    """Escape a text so that it shows as it is, also in a table, on one line.

    No markup, no HTML, no column break, no address, person or issue that a forge would link to.
    """
    return _unlinked(MARKUP.sub(r"\\\g<0>", escape(clean(text), quote=False)))


def _unlinked(text: str) -> str:
    """Break what a forge would make a link of."""
    return LINKED.sub("\\g<0>\N{WORD JOINER}", text)


def folded(title: str, content: str) -> str:
    """Fold a content behind a title, where some read Markdown and others do not."""
    plain = _unlinked(escape(clean(title), quote=False))
    plain = MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", plain)
    return f"<details><summary>{plain}</summary>\n\n{content}</details>\n\n"


def code_md(text: str) -> str:
    """Put a text into a code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text}\n{fence}"


def table_md(table: TextTable) -> str:
    """Write a table, numbers aligned at the right."""
    ruler = ("---:" if numeric else "---" for numeric in table.numeric)
    rows = [table.columns, *table.rows]
    head, *body = (f"| {' | '.join(text_md(cell) for cell in row)} |" for row in rows)
    return "\n".join([head, f"| {' | '.join(ruler)} |", *body])


def captioned(table: TextTable) -> str:
    """Write a table below its caption: units, and what its signs mean."""
    return f"{text_md(table.caption)}\n\n{table_md(table)}"


def _story(
    view: RunView, notes: str, reproduce: ReportPiece, confidence: float
) -> tuple[list[ReportPiece], Frames]:
    lines = ""
    for r in view.results:
        if len(view.results) <= FEW or r.status not in STAND:
            about = f"About: {r.about}." if r.about else ""
            told = filter(None, (f"{_title(r, confidence)}.", _seen(r), about))
            lines += f"* {text_md(' '.join(told))}\n"
    head, rows = _rows(view.summary, [r.status for r in view.results])
    pieces = [ReportPiece("the notes", (f"{lines}\n" if lines else "") + notes), *rows, reproduce]
    if view.results:
        found = f"{captioned(view.findings)}\n\n" if view.findings else ""
        words = "".join(f"{text_md(text)}\n\n" for text in view.findings_words)
        notions = f"## Both notions\n\n{captioned(view.notions)}\n\n" if view.notions else ""
        pieces.append(ReportPiece("the findings", f"## Findings\n\n{found}{words}{notions}"))
    for r in view.results:
        title = f"{r.status.symbol} {text_md(r.id)}: {r.status.word}"
        pieces.append(ReportPiece("result", f"### {title}\n\n{_parts(r.parts)}", r.status))
        if table := r.query_table:
            pieces.append(ReportPiece("table", folded(table.caption, f"{table_md(table)}\n\n")))
    return pieces, {"row": (head, "\n"), "result": ("## Results\n\n", "")}


def _seen(r: FullView) -> str:
    """Return what changed where; empty where nothing was refuted."""
    return r.seen if r.status in WRONG else ""


def _section(r: FullView, confidence: float) -> ReportPiece:
    """Write what there is to act on; what was refuted as declared is folded."""
    title, seen = _title(r, confidence), _seen(r)
    story = f"{text_md(seen)}\n\n" if seen else ""
    story += f"{code_md(r.replay)}\n\n" if r.replay else ""
    story += _parts(part for part in r.parts if part.title in TOLD)
    text = folded(title, story) if r.status is EXPECTED else f"### {text_md(title)}\n\n{story}"
    return ReportPiece("result", text, r.status)


def _parts(parts: Iterable[Part]) -> str:
    return "".join(
        f"**{text_md(part.title)}.** {text_md(' '.join(part.texts))}\n\n"
        + ("" if part.command is None else f"{code_md(part.command)}\n\n")
        for part in parts
    )


def _rows(table: TextTable, statuses: Sequence[Status]) -> tuple[str, list[ReportPiece]]:
    """Part a table into its head and its rows."""
    titles, ruler, *rows = table_md(table).split("\n")
    pieces = [
        ReportPiece("row", f"{row}\n", status) for row, status in zip(rows, statuses, strict=True)
    ]
    return f"{text_md(table.caption)}\n\n{titles}\n{ruler}\n", pieces


def _title(r: FullView, confidence: float) -> str:
    """Return in a line who claims what, what was found, and the verdict."""
    who, claims, found, verdict = row_of(r, confidence)
    return f"{who}: {', '.join(filter(None, (claims, found)))}; {verdict}"


def by_mechanism(view: RunView) -> tuple[TextTable, tuple[Status, ...]]:
    """Put all results into a table: a mechanism's claims, and the corrected ones beside them.

    The worst row comes first; with it the worst status of each row is returned.
    """
    names = dict.fromkeys(r.mechanism for r in view.results)
    pairs = [
        pair for name in names for pair in _beside([r for r in view.results if r.mechanism == name])
    ]
    legend = ", ".join(f"{status.symbol} {status.word}" for _, status in view.counts)
    rows = []
    for pair in pairs:
        who = next(r for r in pair if r is not None)
        about = f"{who.mechanism} ({who.about})" if who.about else who.mechanism
        rows.append((about, *map(_claim, pair)))
    table = TextTable.of(
        f"Worst first: {legend}. Numbers are those of the audited cells: "
        f"computed, or bounds (≥, 'to'). {view.units}",
        f"mechanism | claim | {CORRECTED}",
        rows,
    )
    if all(second is None for _, second in pairs):
        table = table.without(CORRECTED)
    statuses = ([r.status for r in pair if r is not None] for pair in pairs)
    return table, tuple(min(some, key=ALL.index) for some in statuses)


def _beside(results: Sequence[FullView]) -> Iterator[tuple[FullView | None, FullView | None]]:
    """Put each corrected claim of a mechanism beside the first other one of the same thing."""
    corrected = [r for r in results if r.raw["claim"]["status"] == "corrected"]
    for r in results:
        claim = r.raw["claim"]
        if claim["status"] != "corrected":
            of = r.about, claim["kind"]
            same = [each for each in corrected if (each.about, each.raw["claim"]["kind"]) == of]
            if same:
                corrected.remove(same[0])
            yield r, same[0] if same else None
    yield from ((None, r) for r in corrected)


def _claim(r: FullView | None) -> str:
    if r is None:
        return MISSING
    return ", ".join(filter(None, (f"{r.status.symbol} {r.claimed}", row_of(r, 1.0)[2])))
