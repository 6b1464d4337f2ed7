"""The JUnit report: the results of a record as test cases, for whatever reads those.

CI servers, mostly.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.numerics import percent
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.view import ResultView, make_view
from dpassay.reports.run.words import ORIGIN, Part, capital
from dpassay.reports.shared.junit import PASSED, JUnitCase, alarm, junit
from dpassay.reports.shared.numbers import clean, shorten, value
from dpassay.reports.shared.statuses import ERROR, INCONCLUSIVE, MISSED, REFUTED

Raw = Mapping[str, Any]

NOT_PASSED = {
    REFUTED: ("failure", "refuted"),
    INCONCLUSIVE: ("failure", "inconclusive"),
    ERROR: ("error", "error"),
    MISSED: ("error", "blind"),
}
"""The element, and its type, that a status becomes; every other status passes."""

IF_NOT_PASSED = {
    "Verdict",
    "Cause of the error",
    "Witness",
    "Counts",
    "Worst over all datasets",
    "Replay",
}
IF_PASSED = {"Verdict", "Worst over all datasets"}
"""Which parts of the story of a result are told, besides its claim and bound."""


def to_junit(record: Raw) -> str:
    """Write a record as JUnit XML: one test case per result, in the record's order.

    A claim refuted against expectation is a failure, and so is an inconclusive result: a CI
    server must not read 'could have been missed' as a pass, whatever `--allow-inconclusive`
    made of the exit code. Errors are errors, and so is a claim known to be wrong that was not
    refuted, for the audit was blind to it. What was refuted as expected, not refuted or
    verified passes. An interrupted run and a run without results have one more test case that
    is an error.
    """
    view = make_view(record)
    in_order = sorted(view.results, key=lambda result: result.place)
    cases = [*map(_case, in_order), *_alarms(record)]
    said = "\n".join((view.headline, *view.notes, f"{view.caveat} {view.caveat_detail}"))
    return junit("dpassay", cases, said)


def _case(result: ResultView) -> JUnitCase:
    raw = result.raw
    claim, bound = words_of(raw["claim"]).name, _bound(result)
    tag, kind = NOT_PASSED.get(result.status, (PASSED, ""))
    known = bound
    if result.status == ERROR:
        known = shorten(clean(raw["reason"])) or "no cause was recorded"
    return JUnitCase(
        f"dpassay.{clean(raw['mechanism'])}",
        f"{claim} ({ORIGIN[raw['claim']['status']]}): {result.id}",
        _story(result, bound, IF_NOT_PASSED if kind else IF_PASSED),
        tag,
        kind,
        f"{result.status.word}: {claim}; {known}",
    )


def _bound(result: ResultView) -> str:
    raw = result.raw
    if raw["lower"] is None or raw["confidence"] is None:
        return "no bound was computed"
    known = f"the {result.unit} is {_least_or_most(result.top)}"
    if not result.sampled:
        return f"{known}, by the law"
    cells = (raw["searched"] or {}).get("certified_cells", len(raw["per_query"]))
    where = "cell that was" if cells == 1 else f"{cells} cells that were"
    known = f"the {result.unit} is at least {result.lower}"
    if value(raw["upper"]) != math.inf:
        known += f", and {_least_or_most(result.top)} at the {where} certified"
    seen = " ".join(filter(None, (result.detectable, result.through)))
    more = "" if value(raw["detectable"]) == math.inf else f"; detectable: {seen}"
    return f"{known} ({percent(raw['confidence'])} confidence){more}"


def _least_or_most(text: str) -> str:
    """Say in words what a sign before a number says."""
    sign, _, number = text.partition(" ")
    said = {"=": "", "≤": "at most ", "≥": "at least "}
    return f"{said[sign]}{number}" if sign in said else text


def _story(result: ResultView, bound: str, titles: set[str]) -> str:
    """Tell a result in lines of text; commands stand indented in lines of their own."""
    claim, *others = result.parts
    explain = f"dpassay explain {shlex.quote(result.id)} --record record.json"
    parts = (
        claim,
        Part(title="Bound", texts=(f"{capital(bound)}.",)),
        *(part for part in others if part.title in titles),
        Part(title="Explain", texts=("Everything known about this result:",), command=explain),
    )
    return "\n".join(
        f"{part.title}. {' '.join(part.texts)}"
        + ("" if part.command is None else f"\n    {part.command}")
        for part in parts
    )


def _alarms(record: Raw) -> Iterator[JUnitCase]:
    """Yield a test case for each thing that makes the whole run say less than it seems to."""
    if why := ended(record["run"]):
        yield alarm("dpassay", "the run is complete", "interrupted", why)
    if not record["results"]:
        words = "Nothing was audited: the run has no results."
        yield alarm("dpassay", "something was audited", "empty", words)
