"""The Markdown report, for pull requests and job summaries on GitHub, which are read on phones.

The story of each result where they are few, else a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from dpassay.reports.run.brief import Brief, lead
from dpassay.reports.run.run_words import units_words
from dpassay.reports.run.summary import row_of
from dpassay.reports.run.view import ResultView, RunView, make_view
from dpassay.reports.run.words import Part
from dpassay.reports.shared.numbers import MISSING, clean
from dpassay.reports.shared.shortening import Frames, ReportPiece, fits, shortened
from dpassay.reports.shared.statuses import ALL, EXPECTED, HELD, REFUTED, VERIFIED, Status
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]

LIMIT = 60_000
"""Bytes that a report stays below: a comment on GitHub takes 65,536 characters."""
FEW = 10
"""So many results are always told in full; of more there is a digest if they do not fit."""
MARKUP = re.compile(r"[\\`*_\[\]|~$]")
LINKED = re.compile(r"[@#](?=\w)|:(?=//)|\b(?:www(?=\.)|GH(?=-\d))", re.IGNORECASE)
"""What a forge, such as GitHub, makes a link of: persons, issues, addresses."""
TOLD = ("Claim", "Verdict", "Witness")
"""Parts of the story of a result that somebody needs to act on it."""
CORRECTED = "corrected or sharper claim"
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
    headline = f"# {text_md(lead(record))}\n\n"
    pieces, frames = _story(record, view)
    if len(view.results) > FEW and not fits(headline, pieces, frames, limit):
        pieces, frames = _digest(record, view)
    return shortened(headline, pieces, frames, limit)


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


def table_md(table: TextTable) -> str:
    """Write a table, numbers aligned at the right."""
    ruler = ("---:" if numeric else "---" for numeric in table.numeric)
    rows = [table.columns, *table.rows]
    head, *body = (f"| {' | '.join(text_md(cell) for cell in row)} |" for row in rows)
    return "\n".join([head, f"| {' | '.join(ruler)} |", *body])


def captioned(table: TextTable) -> str:
    """Write a table below its caption: units, and what its signs mean."""
    return f"{text_md(table.caption)}\n\n{table_md(table)}"


def _story(record: Raw, view: RunView) -> tuple[list[ReportPiece], Frames]:
    lines = ""
    for result in view.results:
        if len(view.results) <= FEW or not _stands(result):
            brief = result.brief
            about = f"About: {brief.about}." if brief.about else ""
            title = f"{title_of(brief, record['run']['confidence'])}."
            lines += f"* {text_md(' '.join(filter(None, (title, _seen(brief), about))))}\n"
    head, rows = _rows(view.summary, [result.status for result in view.results])
    pieces = [ReportPiece("the notes", _opening(view, f"{lines}\n" if lines else "")), *rows]
    pieces.append(ReportPiece("how to reproduce", _reproduce(view)))
    if view.results:
        pieces.append(ReportPiece("the findings", _findings(view)))
    for result in view.results:
        title = f"{result.status.symbol} {text_md(result.id)}: {result.status.word}"
        section = f"### {title}\n\n{_parts(result.parts)}"
        pieces.append(ReportPiece("result", section, result.status))
        if table := result.query_table:
            pieces.append(ReportPiece("table", folded(table.caption, f"{table_md(table)}\n\n")))
    return pieces, {"row": (head, "\n"), "result": ("## Results\n\n", "")}


def _digest(record: Raw, view: RunView) -> tuple[list[ReportPiece], Frames]:
    """Tell what somebody has to act on, the worst first, and put all mechanisms into a table."""
    head, rows = _rows(*by_mechanism(view))
    confidence = record["run"]["confidence"]
    acted = (
        ReportPiece("result", _section(result, confidence), result.status)
        for result in view.results
        if not _stands(result)
    )
    pieces = [
        ReportPiece("the notes", _opening(view, "")),
        *acted,
        *rows,
        ReportPiece("how to reproduce", _reproduce(view)),
        ReportPiece("the findings", MORE.format(IN_FULL[bool(record["run"]["catalogue"])])),
    ]
    return pieces, {"row": (f"## Every mechanism\n\n{head}", "\n"), "result": (ACT, "")}


def _stands(result: ResultView) -> bool:
    """Whether nobody needs to act on it: not refuted, and not because the audit is weak."""
    return result.status in {HELD, VERIFIED}


def _seen(brief: Brief) -> str:
    """Say what changed where; empty where nothing was refuted."""
    return brief.seen if brief.status in {REFUTED, EXPECTED} else ""


def _opening(view: RunView, lines: str) -> str:
    notes = "".join(f"{text_md(note)}\n\n" for note in (f"{view.headline}.", *view.notes))
    return f"{lines}{notes}> **{text_md(view.caveat)}** {text_md(view.caveat_detail)}\n\n"


def _section(result: ResultView, confidence: float) -> str:
    """Write what there is to act on; what was refuted as declared is folded."""
    brief, seen = result.brief, _seen(result.brief)
    story = f"{text_md(seen)}\n\n" if seen else ""
    story += f"{code_md(brief.replay)}\n\n" if brief.replay else ""
    story += _parts(part for part in result.parts if part.title in TOLD)
    title = title_of(brief, confidence)
    if brief.status is not EXPECTED:
        return f"### {text_md(title)}\n\n{story}"
    return folded(title, story)


def _parts(parts: Iterable[Part]) -> str:
    return "".join(
        f"**{text_md(part.title)}.** {text_md(' '.join(part.texts))}\n\n"
        + ("" if part.command is None else f"{code_md(part.command)}\n\n")
        for part in parts
    )


def _reproduce(view: RunView) -> str:
    facts = "".join(f"* {text_md(name)}: {text_md(fact)}\n" for name, fact in view.facts)
    return f"## Reproduce\n\n{code_md(view.command)}\n\n{facts}\n"


def _rows(table: TextTable, statuses: Sequence[Status]) -> tuple[str, list[ReportPiece]]:
    """Part a table into its head and its rows."""
    titles, ruler, *rows = table_md(table).split("\n")
    pieces = [
        ReportPiece("row", f"{row}\n", status) for row, status in zip(rows, statuses, strict=True)
    ]
    return f"{text_md(table.caption)}\n\n{titles}\n{ruler}\n", pieces


def _findings(view: RunView) -> str:
    table = f"{captioned(view.findings)}\n\n" if view.findings else ""
    words = "".join(f"{text_md(text)}\n\n" for text in view.findings_words)
    notions = f"## Both notions\n\n{captioned(view.notions)}\n\n" if view.notions else ""
    return f"## Findings\n\n{table}{words}{notions}"


def title_of(brief: Brief, confidence: float) -> str:
    """Say in a line who claims what, what was found, and the verdict."""
    who, claims, found, verdict = row_of(brief, confidence)
    return f"{who}: {', '.join(filter(None, (claims, found)))}; {verdict}"


def by_mechanism(view: RunView) -> tuple[TextTable, tuple[Status, ...]]:
    """Put all results into a table: a mechanism's claims, and the corrected ones beside them.

    The worst row comes first; with it the worst status of each row is returned.
    """
    claims = [(result.brief, result.raw["claim"]) for result in view.results]
    rows = [
        row
        for name in dict.fromkeys(brief.mechanism for brief, _ in claims)
        for row in _beside([each for each in claims if each[0].mechanism == name])
    ]
    legend = ", ".join(f"{status.symbol} {status.word}" for _, status in view.counts)
    table = TextTable.of(
        f"Worst first: {legend}. Numbers are those of the audited cells: "
        f"computed, or bounds (≥, 'to'). {units_words({result.unit for result in view.results})}",
        f"mechanism | claim | {CORRECTED}",
        (
            (
                f"{who.mechanism} ({who.about})" if who.about else who.mechanism,
                _claim(first),
                _claim(second),
            )
            for first, second in rows
            if (who := first or second) is not None
        ),
    )
    if all(second is None for _, second in rows):
        table = table.without(CORRECTED)
    return table, tuple(
        min((each.status for each in row if each is not None), key=ALL.index) for row in rows
    )


def _beside(claims: Sequence[tuple[Brief, Raw]]) -> Iterator[tuple[Brief | None, Brief | None]]:
    """Put each corrected claim of a mechanism beside the first other one of the same thing."""
    corrected = [each for each in claims if each[1]["status"] == "corrected"]
    for brief, claim in claims:
        if claim["status"] == "corrected":
            continue
        same = [
            each
            for each in corrected
            if (each[0].about, each[1]["kind"]) == (brief.about, claim["kind"])
        ]
        if same:
            corrected.remove(same[0])
        yield brief, same[0][0] if same else None
    yield from ((None, brief) for brief, _ in corrected)


def _claim(brief: Brief | None) -> str:
    if brief is None:
        return MISSING
    _, _, found, _ = row_of(brief, 1.0)
    return ", ".join(filter(None, (f"{brief.status.symbol} {brief.claimed}", found)))
