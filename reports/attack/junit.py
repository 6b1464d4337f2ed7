"""A record of attacks as JUnit XML: one test case per claim and per thing that was attacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.record.attack_record import (
    BROKEN,
    HELD,
    UNEXAMINED,
    UNSEEN,
    blind_to,
    rungs_of,
    told_of_claims,
)
from dpassay.reports.attack.tables import certified_words
from dpassay.reports.attack.words import defect_words
from dpassay.reports.shared.junit import JUnitCase, alarm, junit
from dpassay.reports.shared.numbers import clean, plain

Raw = Mapping[str, Any]

NOT_PASSED = {BROKEN: "refuted", UNSEEN: "inconclusive", UNEXAMINED: "inconclusive"}
"""The type of failure that a word about a claim becomes."""
GROUP = "dpassay.attack"
FAILED = "could not be attacked"
UNCLAIMED = "nothing is claimed of it, so this case cannot fail"


def to_junit(record: Raw) -> str:
    """Write a record of attacks as JUnit XML; equal records give equal bytes.

    There is one test case for each claim, each subject of which nothing is claimed, and each
    defect. A broken claim and a defect are failures, and so is a claim that no leak could have
    broken: a CI server must not read 'could not have been seen' as a pass, whatever
    `--allow-inconclusive` made of the exit code. What could not be attacked is an error, and so
    are an interrupted attack and one of nothing.
    """
    told = told_of_claims(record)
    errors = {
        each["name"]: each["error"]
        for each in (*record["repeated"], *record["subjects"])
        if each.get("error")
    }
    names = dict.fromkeys((*(each["name"] for each in record["subjects"]), *told, *errors))
    cases = [_case(name, record, told.get(name), errors.get(name, "")) for name in names]
    cases += [_defect(each, record) for each in record["defects"]]
    cases += _alarms(record)
    counts = ", ".join(
        f"{sum(each == word for each in told.values())} {word}"
        for word in (BROKEN, HELD, UNSEEN, UNEXAMINED)
    )
    return junit("dpassay attack", cases, f"{len(told)} claims: {counts}.")


def _case(name: str, record: Raw, word: str | None, error: str) -> JUnitCase:
    story, name = "\n".join(_story(name, record)), clean(name)
    if error and word != BROKEN:
        message = f"{FAILED}: {clean(error)}"
        return JUnitCase(GROUP, name, f"{message}\n{story}", "error", "error", message)
    if word in NOT_PASSED:
        why = "; ".join(blind_to(record)) if word == UNEXAMINED else ""
        message = f"the claim: {word}{f' ({why})' if why else ''}"
        return JUnitCase(GROUP, name, story, "failure", NOT_PASSED[word], message)
    said = UNCLAIMED if word is None else f"the claim: {word}"
    return JUnitCase(GROUP, name, f"{said}\n{story}")


def _story(name: str, record: Raw) -> Iterator[str]:
    """Every certified number of a subject that is held against a claim, with its cap."""
    for subject in record["subjects"]:
        if subject["name"] == name and subject["error"] is None:
            allowed = {each["view"]["name"]: each["allowed"] for each in subject["outcomes"]}
            for bound in subject["certified"]:
                claim = allowed[bound["view"]]
                claimed = None if claim is None else float(claim["epsilon"])
                line = f", line {bound['line']}" if "line" in bound else ""
                place = f"{bound['view']}, record {bound['record']}{line}"
                bad = claimed is not None and float(bound["lower"]) > claimed
                yield _number(place, bound, claimed, bad=bad)
                if "renyi" in bound:
                    bad = float(bound["renyi"]["lower"]) > float(bound["renyi"]["allowed"])
                    words = certified_words(bound["renyi"])
                    yield f"{clean(place)}: {words}{': broken' if bad else ''}"
    for each in record["repeated"]:
        if each["name"] == name:
            for rung in rungs_of(each):
                claimed = float(rung.get("basic", rung.get("epsilon_claimed", "inf")))
                place = f"{rung.get('m', 1)} repeated answers"
                yield _number(place, rung, claimed, bad=rung.get("broken", False))


def _number(place: str, bound: Raw, claimed: float | None, *, bad: bool) -> str:
    """Write a certified number: what it is held against, and what it could have been."""
    words = f"{clean(place)}: ε ≥ {plain(float(bound['lower']))}"
    words += f", cap {plain(float(bound['cap']))}" if "cap" in bound else ""
    if claimed is None:
        return f"{words}; nothing claimed"
    seen = bad or float(bound.get("cap", 0.0)) > claimed
    blind = "" if seen else "; no leak could have broken it"
    return f"{words}; claim {plain(claimed)}{': broken' if bad else blind}"


def _defect(defect: Raw, record: Raw) -> JUnitCase:
    service = clean(record["run"].get("service", "service"))
    name = clean(defect.get("name", "a defect"))
    message = f"has a defect: {name}"
    return JUnitCase(
        GROUP, f"{service}: {name}", defect_words(defect), "failure", "refuted", message
    )


def _alarms(record: Raw) -> Iterator[JUnitCase]:
    """Yield a test case for what makes the whole record say less than it seems to."""
    if not record["run"]["complete"]:
        why = record["run"].get("changed", "The attack was interrupted.")
        yield alarm(GROUP, "the attack is complete", "interrupted", why)
    if not record["subjects"] and "service" not in record["run"]:
        yield alarm(GROUP, "something was attacked", "empty", "Nothing was attacked.")
