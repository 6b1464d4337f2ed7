"""The comment on a pull request: what was checked, what was found, how bad, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpassay.reports.run.comparisons import SYMBOLS, headline
from dpassay.reports.run.lead import briefs, lead, leaks
from dpassay.reports.run.markdown import text_md
from dpassay.reports.run.pipeline import LEVELS, REPORT, Notice, alarms, certainty, notices, replay
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.view import CAVEAT
from dpassay.reports.shared.numbers import plural, shorten
from dpassay.reports.shared.statuses import INCONCLUSIVE, REFUTED

Raw = Mapping[str, Any]
LIMIT = 60_000  # bytes; GitHub takes 65,536 characters
FIRST = 5  # so many results are told in full; the rest has a line each
GROUPS = (
    ("Refuted or failing now", ("refuted", "failed")),
    ("Worse", ("rose", "weakened", "blinder", "repointed")),
    ("Gone", ("vanished",)),
    ("New", ("new",)),
    ("Better", ("fell", "tightened", "recovered")),
    ("Also different", ("elsewhere", "reworded")),
)
"""Every kind of change, under the words that a reader looks for."""


def to_comment(record: Raw, comparison: Raw | None = None) -> str:
    """Write a record as Markdown for a pull request, of at most `LIMIT` bytes."""
    kept: list[str] = []
    size = left = 0
    for part in _parts(record, comparison):
        more = len(part.encode()) + 1
        if size + more > LIMIT - 100:
            left += 1
        else:
            kept.append(part)
            size += more
    if left:
        kept.append(f"{plural(left, 'more entry')}: see the report.\n")
    return "\n".join(kept)


def _parts(record: Raw, comparison: Raw | None) -> Iterator[str]:
    """Yield paragraphs, the most important first: one that does not fit is left out."""
    found, every = notices(record), briefs(record)
    yield f"### {text_md(lead(record))}\n"
    yield f"{_checked(record, every)}\n"
    yield from (f"**{text_md(words)}**\n" for *_, words in alarms(record))
    yield from map(_told, found[:FIRST])
    yield from _to_do(found)
    if comparison is not None:
        yield f"**Against the accepted baseline:** {text_md(headline(comparison))}.\n"
        yield from _changes(comparison)
    rest = [
        f"* {each.brief.status.symbol} {text_md(each.title)}: {text_md(shorten(each.brief.reason))}"
        for each in found[FIRST:]
    ]
    passed = [_line(each) for each in every if each.status not in LEVELS]
    yield from _folded("More that did not pass", rest)
    yield from _folded("Not refuted, or refuted as declared", passed)
    if passed:
        yield f"{CAVEAT}\n"


def _checked(record: Raw, every: Sequence[ResultView]) -> str:
    """Return what was checked, and where it looked."""
    run, data = record["run"], record["run"]["data"]
    of = "" if data is None else f" on {text_md(data.get('name', 'the data'))}"
    searched = [each.searched for each in every if each.searched]
    pairs, queries = (
        max((each[name] for each in searched), default=0) for name in ("pairs", "queries")
    )
    where = f", at most {plural(pairs, 'pair')} and {plural(queries, 'query point')} each"
    mechanisms = plural(len({each.mechanism for each in every}), "mechanism")
    return (
        f"Checked: {plural(len(every), 'claim')} of {mechanisms}{of}{where if searched else ''}; "
        f"seed {run['seed']}."
    )


def _told(notice: Notice) -> str:
    """Return one result that did not pass."""
    r = notice.brief
    where = "".join(f" ({each['file']}:{each['line']})" for each in notice.places[:1])
    head = f"{r.status.symbol} **{text_md(r.name)}**{text_md(where)}"
    if r.status is REFUTED:
        found = f"claimed {text_md(r.claimed)}, found {text_md(r.found)}, {text_md(certainty(r))}"
        return f"{head} {text_md(leaks(r))}: {found}. {text_md(r.seen)}\n"
    told = f"claims {text_md(r.claimed)}: {r.status.word}"
    return f"{head} {told}; {text_md(shorten(r.reason, 400))}.\n"


def _to_do(found: Sequence[Notice]) -> Iterator[str]:
    """Yield what to do about what was found."""
    statuses = {each.brief.status for each in found}
    refuted = [each.brief for each in found if each.brief.status is REFUTED]
    again = next((replay(each) for each in refuted if each.replay), "")
    told = (
        (again, f"see it again, in your project: ``{again}`` ({REPORT})"),
        (refuted, "correct the mechanism, or claim less"),
        (
            statuses - {REFUTED, INCONCLUSIVE},
            "find the cause of what failed in the report, and correct it",
        ),
        (
            INCONCLUSIVE in statuses,
            "where it is inconclusive: raise the budget, or ask where a record matters",
        ),
        (found, "run again, with the same seed"),
    )
    steps = [step for needed, step in told if needed]
    if steps:
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        yield f"Do now:\n{listed}\n"


def _changes(comparison: Raw) -> Iterator[str]:
    """Yield the difference to the baseline by groups; what is let pass says so."""
    excused = {(each["id"], each["kind"]) for each in comparison["suppressed"]}
    every = [*comparison["regressions"], *comparison["news"]]
    for title, kinds in GROUPS:
        lines = [
            f"* {SYMBOLS[each['kind']]} "
            + text_md(f"{each['id']}: {shorten(each['words'], 400)}")
            + " (suppressed)" * ((each["id"], each["kind"]) in excused)
            for each in every
            if each["kind"] in kinds
        ]
        if lines:
            *most, last = f"{title}:\n{lines[0]}", *lines[1:]
            yield from (*most, f"{last}\n")


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Fold a list up; as many of its lines as are sure to fit."""
    if not lines:
        return
    shown, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size < LIMIT // 4:
            shown.append(line)
    if len(shown) < len(lines):
        shown.append(f"* {plural(len(lines) - len(shown), 'more entry')}: see the report")
    listed = "\n".join(shown)
    yield f"<details><summary>{title}: {len(lines)}</summary>\n\n{listed}\n\n</details>\n"


def _line(r: ResultView) -> str:
    where = " where it was certified" if " to " in r.found else ""
    found = f", found {text_md(r.found)}{where}" if r.found else ""
    sight = f", would have seen {text_md(r.sight)} where it looked" if r.sight else ""
    return (
        f"* {r.status.symbol} {text_md(r.name)} claims {text_md(r.claimed)}: "
        f"{r.status.word}{found}{sight}"
    )
