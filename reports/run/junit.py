"""The JUnit report: the results of a record as test cases, for whatever reads those.

CI servers, mostly.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpassay.numerics import percent
from dpassay.reports.run.run_words import ended
from dpassay.reports.run.view import ResultView, make_view
from dpassay.reports.run.words import ORIGIN, Part, capital, claim_name
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

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of XML 1.0 may hold, not even escaped (section 2.2 there)."""


def to_junit(record: Raw) -> str:
    """Write a record as JUnit XML: one test case per result, in the record's order.

    A claim refuted against expectation is a failure, and so is an inconclusive result: a CI
    server must not read 'could have been missed' as a pass, whatever `--allow-inconclusive`
    made of the exit code. Errors are errors, and so is a claim known to be wrong that was not
    refuted, for the audit was blind to it. What was refuted as expected, not refuted or
    verified passes. An interrupted run and a run without results have one more test case that
    is an error.

    The record knows no times, so `time` is 0 and the same record gives the same bytes. Test
    cases have no properties, which the strictest readers refuse: the numbers are in the texts.
    """
    view = make_view(record)
    in_order = sorted(view.results, key=lambda result: result.place)
    cases = [_case(result, raw) for result, raw in zip(in_order, record["results"], strict=True)]
    cases += _alarms(record)
    return document(
        "dpassay",
        cases,
        "\n".join((view.headline, *view.notes, f"{view.caveat} {view.caveat_detail}")),
    )


def document(name: str, cases: Sequence[ET.Element], words: str) -> str:
    """Write a document of one suite: its test cases, and what is said of them all."""
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    suite = element(
        "testsuite",
        children=[*cases, element("system-out", words)],
        name=name,
        **counts,
        skipped="0",
        time="0",
    )
    suites = element("testsuites", children=[suite], name=name, **counts, time="0")
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def testcase(group: str, name: str, *children: ET.Element) -> ET.Element:
    """Make a test case; the record knows no times."""
    return element("testcase", children=children, classname=group, name=name, time="0")


def element(
    tag: str, text: str | None = None, children: Iterable[ET.Element] = (), **attributes: str
) -> ET.Element:
    """Make an element of foreign text; characters that XML forbids are replaced."""
    made = ET.Element(tag, {key: NO_XML.sub("\ufffd", value) for key, value in attributes.items()})
    made.text = None if text is None else NO_XML.sub("\ufffd", text)
    made.extend(children)
    return made


def _case(result: ResultView, raw: Raw) -> ET.Element:
    claim, bound = claim_name(raw["claim"]), _bound(result, raw)
    if result.status in NOT_PASSED:
        tag, kind = NOT_PASSED[result.status]
        known = (
            shorten(clean(raw["reason"])) or "no cause was recorded"
            if result.status == ERROR
            else bound
        )
        message = f"{result.status.word}: {claim}; {known}"
        outcome = element(tag, _story(result, bound, IF_NOT_PASSED), type=kind, message=message)
    else:
        outcome = element("system-out", _story(result, bound, IF_PASSED))
    return testcase(
        f"dpassay.{clean(raw['mechanism'])}",
        f"{claim} ({ORIGIN[raw['claim']['status']]}): {result.id}",
        outcome,
    )


def _bound(result: ResultView, raw: Raw) -> str:
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
    parts = (
        claim,
        Part(title="Bound", texts=(f"{capital(bound)}.",)),
        *(part for part in others if part.title in titles),
        Part(
            title="Explain", texts=("Everything known about this result:",), command=result.explain
        ),
    )
    return "\n".join(
        f"{part.title}. {' '.join(part.texts)}"
        + ("" if part.command is None else f"\n    {part.command}")
        for part in parts
    )


def _alarms(record: Raw) -> Iterator[ET.Element]:
    """Yield a test case for each thing that makes the whole run say less than it seems to."""
    if why := ended(record["run"]):
        yield _alarm("the run is complete", "interrupted", why)
    if not record["results"]:
        yield _alarm(
            "something was audited", "empty", "Nothing was audited: the run has no results."
        )


def _alarm(name: str, kind: str, words: str) -> ET.Element:
    return testcase("dpassay", name, element("error", words, type=kind, message=words))
