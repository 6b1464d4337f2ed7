"""A digest of a record: its results in a line each, and mechanism by mechanism where they are many.

For a report that is read on a phone, as the summary of a job is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.reports.run.brief import Brief, briefs
from dpassay.reports.run.run_words import units_words
from dpassay.reports.run.summary import row_of
from dpassay.reports.run.view import ResultView, View
from dpassay.reports.run.words import Part
from dpassay.reports.shared.numbers import MISSING
from dpassay.reports.shared.statuses import ALL, EXPECTED, HELD, REFUTED, VERIFIED, Status
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]

TOLD = ("Claim", "Verdict", "Witness")
"""Parts of the story of a result that somebody needs to act on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One result in a line."""

    status: Status
    title: str  # who claims what, what was found, and the verdict
    seen: str  # what changed where; empty where nothing was refuted
    about: str  # what was looked at of the claim; empty for a single prediction
    replay: str  # the command that shows it again, if there is one
    parts: tuple[Part, ...]  # of its story those in `TOLD`

    @property
    def stands(self) -> bool:
        """Whether nobody needs to act on it: not refuted, and not because the audit is weak."""
        return self.status in {HELD, VERIFIED}


def entries(record: Raw, view: View) -> tuple[Entry, ...]:
    """Return every result in a line, in the order of the view, worst first."""
    found, confidence = briefs(record), record["run"]["confidence"]
    return tuple(_entry(result, found[result.place], confidence) for result in view.results)


def by_mechanism(record: Raw, view: View) -> tuple[Table, tuple[Status, ...]]:
    """Put all results into a table: a mechanism's claims, and the corrected ones beside them.

    The worst row comes first; with it the worst status of each row is returned.
    """
    found = briefs(record)
    claims = [
        (found[result.place], record["results"][result.place]["claim"]) for result in view.results
    ]
    rows = [
        row
        for name in dict.fromkeys(brief.mechanism for brief, _ in claims)
        for row in _beside([each for each in claims if each[0].mechanism == name])
    ]
    some = any(second is not None for _, second in rows)
    titles = ("mechanism", "claim", *(("corrected or sharper claim",) if some else ()))
    legend = ", ".join(f"{each.status.symbol} {each.status.word}" for each in view.counts)
    table = Table(
        caption=f"Worst first: {legend}. Numbers are those of the audited cells: "
        f"computed, or bounds (≥, 'to'). {units_words({result.unit for result in view.results})}",
        columns=titles,
        numeric=(False,) * len(titles),
        rows=tuple(
            (
                f"{who.mechanism} ({who.about})" if who.about else who.mechanism,
                _claim(first),
                *((_claim(second),) if some else ()),
            )
            for first, second in rows
            if (who := first or second) is not None
        ),
    )
    return table, tuple(
        min((each.status for each in row if each is not None), key=ALL.index) for row in rows
    )


def _entry(result: ResultView, brief: Brief, confidence: float) -> Entry:
    who, claims, found, verdict = row_of(brief, confidence)
    return Entry(
        status=brief.status,
        title=f"{who}: {', '.join(filter(None, (claims, found)))}; {verdict}",
        seen=brief.seen if brief.status in {REFUTED, EXPECTED} else "",
        about=brief.about,
        replay=brief.replay,
        parts=tuple(part for part in result.parts if part.title in TOLD),
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
