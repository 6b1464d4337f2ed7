"""What a pipeline must be told of a record: which claim, where in the code, how bad, what next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.numerics import percent
from dpassay.reports.run.brief import Brief, briefs, leaks
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.words import FOLDER, capital
from dpassay.reports.shared.statuses import ERROR, INCONCLUSIVE, MISSED, REFUTED

Raw = Mapping[str, Any]

LEVELS = {REFUTED: "error", ERROR: "error", MISSED: "error", INCONCLUSIVE: "warning"}
"""How loudly a status is told; of every other one a pipeline hears nothing."""
MEANINGS = {each: each.meaning for each in (ERROR, MISSED)}
"""Of a refuted or an inconclusive claim the reason says it all."""
REPORT = "REPORT is the folder of the report"
"""Where a pipeline's reader has put it, nobody else knows."""
EMPTY = "Nothing was audited: the run has no results."


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that a pipeline is told of a result.

    The fingerprint is 32 hexadecimal digits that stand for the mechanism, its parameters and
    the kind of claim: no seed, number, file, line or other result moves them.
    """

    brief: Brief
    title: str  # one printable line
    text: str  # one printable line
    places: Sequence[Raw]  # `role`, `file` and `line`, see `dpassay.record.places.places_of`
    fingerprint: str


def notices(record: Raw) -> tuple[Notice, ...]:
    """Return what is wrong with a record's results, the worst first, else in the record's order."""
    from dpassay.record.entries import entry_keys

    results = record["results"]
    every = zip(results, briefs(record), entry_keys(results), strict=True)
    found = [_notice(result, brief, key) for result, brief, key in every if brief.status in LEVELS]
    return tuple(sorted(found, key=lambda notice: notice.brief.status.rank))


def alarms(record: Raw) -> tuple[str, ...]:
    """Return, in words, what makes the whole run say less than it seems to."""
    incomplete = tuple(filter(None, (ended(record["run"]),)))
    return incomplete if record["results"] else (*incomplete, EMPTY)


def _notice(result: Raw, brief: Brief, key: str) -> Notice:
    if brief.status is REFUTED:
        again = f"See it again: {replay(brief)} ({REPORT})." if brief.replay else ""
        told = (f"{brief.name} {leaks(brief)} ({certainty(result)}).", brief.seen, again)
    else:
        told = (f"{capital(brief.reason)}.", MEANINGS.get(brief.status, ""), "")
    return Notice(
        brief=brief,
        title=f"{brief.name}, {brief.claimed}: {brief.status.word}",
        text=" ".join(filter(None, told)),
        places=result.get("places", ()),
        fingerprint=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32],
    )


def replay(brief: Brief) -> str:
    """Return the command that shows a result again, for somebody in the folder of the project."""
    if FOLDER in brief.replay:
        return brief.replay
    return brief.replay.replace("dpassay replay ", f"dpassay replay {FOLDER}", 1)


def certainty(result: Raw) -> str:
    """Say how sure a refutation is."""
    if result["mode"] != "monte-carlo":
        return "computed from the exact law"
    return f"certified at {percent(result['confidence'])} confidence"
