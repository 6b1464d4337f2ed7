"""The view: everything that any report shows, worked out once.

Formats arrange it and compute nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from dpassay.engine.wording import through_words
from dpassay.errors import InvalidInput
from dpassay.numerics import percent
from dpassay.reports.run.brief import Brief, briefs
from dpassay.reports.run.findings import (
    Finding,
    finding_of,
    findings_table,
    notions_table,
    unit_words,
)
from dpassay.reports.run.kinds import words_of
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
from dpassay.reports.run.run_words import ended, facts_of, findings_words, units_words
from dpassay.reports.run.search_words import is_searched
from dpassay.reports.run.words import Part, blurred, claim_short, looked_at
from dpassay.reports.shared.numbers import MISSING, above, below, clean, count, exact, plural, value
from dpassay.reports.shared.statuses import (
    ALL,
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    Status,
)
from dpassay.reports.shared.tables import TextTable

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
class ResultView:
    """One result, ready to be shown: beside the record and the brief, what is longer.

    `top` is '= ' the exact value or '≤ ' the upper bound; of a part of the release it is '≥ ' what
    is certain, and nothing is known from above.
    """

    raw: Raw = field(compare=False)  # views are equal that show the same
    brief: Brief
    anchor: str  # the id made safe for a link, unique in the report
    place: int  # in the record, where results are not ordered by how bad they are
    claim: str
    lower: str
    top: str
    through: str  # the answers through which so much is detectable, if it matters
    claimed: float
    unit: str  # what is measured, and in what: for an axis
    bar: float | None  # exact leak, else the lower bound; None for an error
    upper: float | None
    parts: tuple[Part, ...]  # the story of the result
    queries: tuple[QueryView, ...]
    profile: ProfileView | None  # that of the worst query point
    finding: Finding | None

    @property
    def id(self) -> str:
        """Its id in the record."""
        return self.brief.id

    @property
    def status(self) -> Status:
        """What became of the claim."""
        return self.brief.status

    @property
    def sampled(self) -> bool:
        """Whether the numbers come from trials."""
        return self.brief.sampled

    @property
    def printed(self) -> bool:
        """Whether a paper prints the claim."""
        return bool(self.raw["claim"]["status"] == "printed")

    @property
    def source(self) -> str:
        """Where the claim is from."""
        return clean(self.raw["claim"]["source"])

    @property
    def detectable(self) -> str:
        """The smallest leak that would have been refuted."""
        return above(value(self.raw["detectable"]))

    @property
    def query_table(self) -> TextTable:
        """All query points in order."""
        what = "Every query point" if self._asked else "The worst cell"
        caption = f"{what} of {self.id}: {self.unit}"
        return query_table(merged(self.queries), sampled=self.sampled, caption=caption)

    @property
    def query_shortlist(self) -> TextTable:
        """The worst query points, the worst first."""
        what = "Query points" if self._asked else "Cells"
        return shortlist(
            merged(self.queries),
            sampled=self.sampled,
            limit=SHORTLIST,
            caption=f"{what} with the largest {self.unit}",
        )

    @property
    def more(self) -> int:
        """How many query points the short list leaves out."""
        shown = worst_rows(merged(self.queries), SHORTLIST)
        return len(self.queries) - sum(row.of for row in shown)

    @property
    def _asked(self) -> bool:
        """Whether what was looked at depends on a query."""
        return bool((self.raw["searched"] or {}).get("asked", True))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A record, ready to be shown.

    `notes` say what limits the headline: an interrupted run, the catalogue instead of the
    user's mechanisms, what was sampled.
    """

    headline: str  # the one sentence that a reader must not miss
    notes: tuple[str, ...]
    counts: tuple[tuple[int, Status], ...]  # statuses that occur, worst first
    results: tuple[ResultView, ...]  # worst first
    summary: TextTable  # the same as a table
    findings: TextTable  # claims that are refuted, exceeded or loose
    findings_words: tuple[str, ...]  # what the table does not show
    notions: TextTable  # epsilon and gamma of every mechanism whose law is known
    facts: tuple[tuple[str, str], ...]  # version, commit, seed, data and so on
    command: str  # what made the record, and makes it again
    caveat: str = CAVEAT
    caveat_detail: str = CAVEAT_DETAIL
    glossary: tuple[Status, ...] = ALL  # every status with its meaning


def make_view(record: Raw) -> RunView:
    """Work out everything a report shows."""
    run = record["run"]
    taken: set[str] = set()
    found = zip(record["results"], briefs(record), strict=True)
    results = sorted(
        (_result_view(raw, brief, run, place, taken) for place, (raw, brief) in enumerate(found)),
        key=_worst_first,
    )
    numbers = Counter(result.status for result in results)
    findings = tuple(result.finding for result in results if result.finding is not None)
    return RunView(
        headline=headline_of(numbers, results, run),
        notes=notes_of(numbers, results, run),
        counts=tuple((numbers[status], status) for status in ALL if numbers[status]),
        results=tuple(results),
        summary=_summary(results),
        findings=findings_table(findings),
        findings_words=findings_words(findings, sum(result.bar is not None for result in results)),
        notions=notions_table(record["results"]),
        facts=facts_of(record),
        command=clean(run["command"]),
    )


def headline_of(numbers: Mapping[Status, int], results: Sequence[ResultView], run: Raw) -> str:
    """Say in one line what came of a run, and how sure that is."""
    if not results:
        return (
            "Nothing was audited"
            if run["complete"]
            else "Nothing was audited: the run was interrupted"
        )
    expected, refuted = numbers[EXPECTED], numbers[REFUTED] + numbers[EXPECTED]
    text = f"{refuted} of {plural(len(results), 'claim')} refuted{_how_sure(results, refuted, run)}"
    if expected:
        text += ", as expected" if expected == refuted else f", {expected} of them as expected"
    others = (
        (numbers[ERROR], "ended in an error"),
        (numbers[MISSED], "known to be wrong was not refuted"),
        (numbers[INCONCLUSIVE], "inconclusive"),
    )
    text += "".join(f"; {number} {words}" for number, words in others if number)
    return text if run["complete"] else f"{text}; the run is incomplete"


def _how_sure(results: Sequence[ResultView], refuted: int, run: Raw) -> str:
    """Say at which confidence claims were refuted.

    What was computed is certain, and is told apart.
    """
    if not any(result.sampled for result in results):
        return ""
    confidence = f"at {percent(run['confidence'])} confidence"
    drawn = sum(result.sampled and result.status in (REFUTED, EXPECTED) for result in results)
    return (
        f" {confidence}"
        if drawn == refuted
        else f" ({drawn} from trials, {confidence}; {refuted - drawn} computed)"
    )


def notes_of(
    numbers: Mapping[Status, int], results: Sequence[ResultView], run: Raw
) -> tuple[str, ...]:
    """Say what limits the results, a sentence for each reason."""
    notes = []
    if said := ended(run):
        notes.append(said)
    if run["catalogue"]:
        notes.append("This run audited the built-in catalogue, not a mechanism of yours.")
    if numbers[MISSED]:
        notes.append(
            "A claim known to be wrong was not refuted: this audit was too weak for it, or blind "
            "to it."
        )
    known = [result for result in results if result.bar is not None]
    sampled = sum(result.sampled for result in known)
    if sampled:
        rest = f", {len(known) - sampled} computed" * (sampled < len(known))
        sure = percent(run["confidence"])
        notes.append(
            f"{plural(sampled, 'result')} {'is' if sampled == 1 else 'are'} sampled{rest}; all "
            f"sampled bounds hold simultaneously with a probability of at least {sure}."
        )
        if any(result.sampled and result.upper not in (None, math.inf) for result in known):
            notes.append(
                "A sampled upper bound (≤) covers the certified cells, not those that were only "
                "screened."
            )
        through = {result.through for result in known if result.through}
        if through:
            which = (
                through.pop()
                if len(through) == 1
                else "through an answer of the probability that the result states"
            )
            of = "For sampled results, 'detectable'" if sampled < len(known) else "'Detectable'"
            rarer = (
                "through a rarer answer only a larger leak, or none, is promised to be refuted "
                "with probability 0.9"
            )
            notes.append(f"{of} is a leak {_at(known)}, {which}; {rarer}.")
    elif known:
        notes.append("Every number was computed from an exact law; none was sampled.")
    return tuple(notes)


def _at(results: Sequence[ResultView]) -> str:
    """Say at which pairs 'detectable' holds."""
    sought = {is_searched(result.raw) for result in results if result.sampled}
    if sought == {True}:
        return "at one of the pairs that the search began with"
    apart = ", or of those that the search began with" if True in sought else ""
    return f"at one of the examined pairs{apart}"


def find_result(view: RunView, result_id: str) -> ResultView:
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


def _result_view(result: Raw, brief: Brief, run: Raw, place: int, taken: set[str]) -> ResultView:
    words = words_of(result["claim"])
    claimed = words.promised
    lower, upper, leak = (value(result[key]) for key in ("lower", "upper", "exact"))
    broken = result["verdict"] == "refuted"
    bound = (
        leak == 0
        and result["witness"] is not None
        and words.at_most(value(result["witness"]["p1"]), upper)
    )
    if leak is not None and not blurred(result) and not bound:
        least, known = f"≥ {below(lower, claimed)}", exact(leak, claimed, exceeds=broken)
        top = least if looked_at(result) else f"= {known}"
    else:
        top = MISSING if upper is None or looked_at(result) else f"≤ {above(upper)}"
    queries = query_views(result)
    profile = profile_view(result, queries)
    return ResultView(
        raw=result,
        brief=brief,
        anchor=_anchor(brief.id, taken),
        place=place,
        claim=claim_short(result["claim"], lower if broken else None),
        lower=MISSING if bound and words.computed else below(lower, claimed),
        top=top,
        through=through_words((result.get("sight") or {}).get("frequency")),
        claimed=claimed,
        unit=words.unit,
        bar=lower if leak is None else leak,
        upper=upper,
        parts=parts_of(result, brief.status, run, () if profile is None else profile.words),
        queries=queries,
        profile=profile,
        finding=finding_of(result),
    )


def _summary(results: Sequence[ResultView]) -> TextTable:
    caption = f"Every claim, worst first. {units_words({result.unit for result in results})}"
    titles = (
        "status | result | claim: | lower bound: | exact, or upper bound of the certified cells: | "
        "detectable: | trials: | unit | source"
    )
    rows = (
        (
            f"{r.status.symbol} {r.status.word}",
            r.id,
            r.claim,
            r.lower,
            r.top,
            r.detectable,
            count(r.raw["trials"]),
            unit_words(r.raw),
            r.source,
        )
        for r in results
    )
    return TextTable.of(
        caption + PART_ONLY * any(looked_at(result.raw) for result in results), titles, rows
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
