"""The view: everything that any report shows, worked out once.

Formats arrange it and compute nothing.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from dpassay.engine.wording import through_words
from dpassay.errors import InvalidInput
from dpassay.reports.run.findings import Finding, finding_of, findings_table, unit_words
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.notions import notions_table
from dpassay.reports.run.parts import parts_of
from dpassay.reports.run.profiles import ProfileView, profile_view
from dpassay.reports.run.queries import (
    QueryView,
    merged,
    query_table,
    query_views,
    shortlist,
    worst_rows,
)
from dpassay.reports.run.run_words import (
    facts_of,
    findings_words,
    headline_of,
    notes_of,
    units_words,
)
from dpassay.reports.run.search_words import is_searched
from dpassay.reports.run.words import Part, blurred, claim_short, looked_at
from dpassay.reports.shared.numbers import (
    MISSING,
    above,
    below,
    clean,
    count,
    exact,
    value,
)
from dpassay.reports.shared.statuses import (
    ALL,
    Status,
    status_of,
)
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]
CAVEAT = "Not refuted does not mean private."
CAVEAT_DETAIL = (
    "'Not refuted' means that the audit found no violation at the pairs, queries and events that "
    "it examined. 'Would have seen', in tables 'detectable', is the smallest leak that the audit, "
    "its screening included, would "
    "have refuted with probability 0.9, if one of these pairs leaked that much through an answer "
    "of the probability that the result states. A leak through a rarer answer may go unseen. If "
    "the law is known, every cell is certified; if it was sampled, only the cells that the "
    "screening ranked first are, and an upper bound covers only those."
)
SHORTLIST = 10
"""Query points that a short table shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCount:
    """How many results have a status."""

    status: Status
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """One result, ready to be shown.

    `released` is what the claim is about. `top` is '= ' the exact value or '≤ ' the upper
    bound; of a part of the release it is '≥ ' what is certain, and nothing is known from above.
    Texts are cells of the summary.
    """

    id: str
    anchor: str  # the id made safe for a link, unique in the report
    place: int  # in the record, where results are not ordered by how bad they are
    status: Status
    claim: str
    released: str
    source: str
    lower: str
    top: str
    detectable: str
    through: str  # the answers through which so much is detectable, if it matters
    trials: str
    claimed: float
    unit: str  # what is measured, and in what: for an axis
    bar: float | None  # exact leak, else the lower bound; None for an error
    upper: float | None
    sampled: bool  # whether the numbers come from trials
    sought: bool
    parts: tuple[Part, ...]  # the story of the result
    queries: tuple[QueryView, ...]
    query_table: Table | None  # all query points in order, or None
    query_shortlist: Table | None  # the worst ones first, or None
    more: int  # query points that the short list leaves out
    profile: ProfileView | None  # that of the worst query point
    finding: Finding | None
    explain: str  # command that shows this result again
    part: str = ""  # what of the release was looked at; empty if that is all


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A record, ready to be shown.

    `notes` say what limits the headline: an interrupted run, the catalogue instead of the
    user's mechanisms, what was sampled.
    """

    headline: str  # the one sentence that a reader must not miss
    tone: str  # slug of the worst status; 'none' where nothing was audited
    notes: tuple[str, ...]
    caveat: str
    caveat_detail: str
    counts: tuple[StatusCount, ...]  # statuses that occur, worst first
    results: tuple[ResultView, ...]  # worst first
    summary: Table | None  # the same as a table; None where nothing was audited
    anchors: dict[str, str]  # from the id of a result to its anchor
    findings: Table | None  # claims that are refuted, exceeded or loose
    findings_words: tuple[str, ...]  # what the table does not show
    notions: Table | None  # epsilon and gamma of every mechanism whose law is known
    facts: tuple[tuple[str, str], ...]  # version, commit, seed, data and so on
    command: str  # what made the record, and makes it again
    glossary: tuple[Status, ...] = ALL  # every status with its meaning


def make_view(record: Raw) -> View:
    """Work out everything a report shows."""
    run = record["run"]
    taken: set[str] = set()
    results = sorted(
        (_result_view(result, run, place, taken) for place, result in enumerate(record["results"])),
        key=_worst_first,
    )
    numbers = Counter(result.status.slug for result in results)
    counts = tuple(
        StatusCount(status=status, number=numbers[status.slug])
        for status in ALL
        if numbers[status.slug]
    )
    findings = tuple(result.finding for result in results if result.finding is not None)
    return View(
        headline=headline_of(numbers, results, run),
        tone=counts[0].status.slug if counts else "none",
        notes=notes_of(numbers, results, run),
        caveat=CAVEAT,
        caveat_detail=CAVEAT_DETAIL,
        counts=counts,
        results=tuple(results),
        summary=_summary(results),
        anchors={result.id: result.anchor for result in results},
        findings=findings_table(findings),
        findings_words=findings_words(findings, sum(result.bar is not None for result in results)),
        notions=notions_table(record["results"]),
        facts=facts_of(record),
        command=clean(run["command"]),
    )


def find_result(view: View, result_id: str) -> ResultView:
    """Return one result of a view, or name the nearest ones, or all if none is near."""
    wanted = clean(result_id)
    for result in view.results:
        if result.id == wanted:
            return result
    known = [result.id for result in view.results]
    near = get_close_matches(wanted, known, n=3)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"the record has {', '.join(known)}" if known else "the record has no results"
    raise InvalidInput(f"ID = '{wanted}': no such result; {hint}")


def _result_view(result: Raw, run: Raw, place: int, taken: set[str]) -> ResultView:
    words, name = words_of(result["claim"]), clean(result["id"])
    claimed = words.promised
    status, sampled = status_of(result), result["mode"] == "monte-carlo"
    lower, upper, leak = (value(result[key]) for key in ("lower", "upper", "exact"))
    broken = result["verdict"] == "refuted"
    part, asked = looked_at(result), (result["searched"] or {}).get("asked", True)
    top = MISSING if upper is None or part else f"≤ {above(upper)}"
    bound = (
        leak == 0
        and result["witness"] is not None
        and words.at_most(value(result["witness"]["p1"]), upper)
    )
    leak_shown = None if blurred(result) or bound else leak
    queries = query_views(result)
    rows = merged(queries)
    profile = profile_view(result, queries)
    return ResultView(
        id=name,
        anchor=_anchor(name, taken),
        place=place,
        status=status,
        claim=claim_short(result["claim"], lower if broken else None),
        released=unit_words(result),
        source=clean(result["claim"]["source"]),
        lower=MISSING if bound and words.computed else below(lower, claimed),
        top=top
        if leak_shown is None
        else f"≥ {below(lower, claimed)}"
        if part
        else f"= {exact(leak_shown, claimed, exceeds=broken)}",
        detectable=above(value(result["detectable"])),
        through=through_words((result.get("sight") or {}).get("frequency")),
        trials=count(result["trials"]),
        claimed=claimed,
        unit=words.unit,
        bar=lower if leak is None else leak,
        upper=upper,
        sampled=sampled,
        sought=is_searched(result),
        parts=parts_of(result, status, run, () if profile is None else profile.words),
        queries=queries,
        query_table=query_table(
            rows,
            sampled=sampled,
            caption=f"{'Every query point' if asked else 'The worst cell'} of {name}: {words.unit}",
        ),
        query_shortlist=shortlist(
            rows,
            sampled=sampled,
            limit=SHORTLIST,
            caption=f"{'Query points' if asked else 'Cells'} with the largest {words.unit}",
        ),
        more=len(queries) - sum(row.of for row in worst_rows(rows, SHORTLIST)),
        profile=profile,
        finding=finding_of(result),
        explain=f"dpassay explain {shlex.quote(name)} --record record.json",
        part=part,
    )


def _summary(results: Sequence[ResultView]) -> Table | None:
    if not results:
        return None
    top = "exact, or upper bound of the certified cells"
    titles = (
        "status",
        "result",
        "claim",
        "lower bound",
        top,
        "detectable",
        "trials",
        "unit",
        "source",
    )
    return Table(
        caption="Every claim, worst first. "
        + units_words({result.unit for result in results})
        + (PART_ONLY if any(result.part for result in results) else ""),
        columns=titles,
        numeric=(False, False, True, True, True, True, True, False, False),
        rows=tuple(
            (
                f"{r.status.symbol} {r.status.word}",
                r.id,
                r.claim,
                r.lower,
                r.top,
                r.detectable,
                r.trials,
                r.released,
                r.source,
            )
            for r in results
        ),
    )


PART_ONLY = (
    " If only a part of the release was examined (≥), the whole release leaks at least that much, "
    "and 'detectable' is a leak of that part."
)


def _worst_first(result: ResultView) -> tuple[int, float]:
    leak = result.bar or 0.0
    factor = leak / result.claimed if result.claimed else math.inf * leak if leak else 0.0
    return result.status.rank, -factor


def _anchor(name: str, taken: set[str]) -> str:
    """Make an id of letters, digits, dots and dashes that no other result has."""
    stem = "result-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    unique = stem
    while unique in taken:
        unique = f"{stem}-{len(taken) + 1}"
        stem += "-"
    taken.add(unique)
    return unique
