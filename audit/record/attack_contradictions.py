"""Contradictions in a record of attacks: what no experiment can have found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from dpassay.claims import DP
from dpassay.record.contradictions import ROUNDING
from dpassay.record.rebound import at_alpha
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.lower_bounds import MOST_ALPHA
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]


def contradiction(record: Raw) -> str:
    """Say what of a record contradicts the rest of it.

    Parameters
    ----------
    record : mapping
        Of attacks, that its schema allows.

    Returns
    -------
    str
        One line about the first contradiction; empty if there is none.
    """
    subjects = (
        f"{each['name']} {told}"
        for each in record["subjects"]
        if each["error"] is None
        for told in _of_subject(each)
    )
    repeated = (
        f"{each.get('name', 'repeated')} {told}"
        for each in record["repeated"]
        if not each.get("error")
        for rung in each.get("rungs", [])
        for told in _of_rung(rung)
    )
    return next(chain(subjects, repeated), "")


def _of_subject(subject: Raw) -> Iterator[str]:
    """Yield what is wrong; what comes later may rely on what came before."""
    outcomes = subject["outcomes"]
    deltas = {
        each["view"]["name"]: 0.0 if each["allowed"] is None else each["allowed"]["delta"]
        for each in outcomes
    }
    if any((each["allowed"] is None) != (subject["claim"] is None) for each in outcomes):
        yield "is held against a claim that it has not"
    if any(len(each["roc"]["fpr"]) != len(each["roc"]["tpr"]) for each in outcomes):
        yield "has a curve with more rates of one kind"
    targets = {len(rates) for each in outcomes for rates in each["tpr_per_target"]}
    if len(targets) > 1:
        yield f"has rates of {min(targets)} targets and of {max(targets)}: must be of the same"
    for bound in subject["certified"]:
        if bound["view"] not in deltas:
            yield "has a bound for a view that nothing was attacked in"
        else:
            yield from _of_guesses(bound, float(deltas[bound["view"]]))


def _of_guesses(bound: Raw, delta: float) -> Iterator[str]:
    """Say what of a bound does not follow from the guesses at the coin of a record."""
    counts, lower = bound["counts"], float(bound["lower"])
    if counts is None:
        return
    yield from _of_counts(counts, bound["alpha"])
    fresh = bound.get("fresh", {})
    if any(counts[name] < number for name, number in fresh.items()):
        yield "counts more guesses from fresh answers than in all"
    right, trials = counts["x"] + counts["n0"] - counts["y"], counts["n1"] + counts["n0"]
    q = float(clopper_pearson_lower(right, trials, bound["alpha"]))
    proven = max(0.0, float(Ratio(delta).between(q, 1 - q))) if 0 < q < 1 else math.inf * (q > 0)
    yield from _of_lower(lower, proven)


def _of_rung(rung: Raw) -> Iterator[str]:
    """Say what of repeated answers does not follow from their transcripts, or is misjudged."""
    counts, lower, basic = rung.get("counts"), float(rung["lower"]), rung.get("basic")
    if basic is not None and "broken" in rung and rung["broken"] != (lower > float(basic)):
        yield f"loses {lower} of {basic} in {rung['m']} answers, and is broken: {rung['broken']}"
    if counts is None or not {"alpha", "method"} <= rung.keys():
        return
    yield from _of_counts(counts, rung["alpha"])
    claim = DP(epsilon=1.0, delta=float(rung.get("delta", 0.0)))
    cell = {"query": 0, "counts": counts, "method": rung["method"]}
    yield from _of_lower(lower, at_alpha(cell, claim, rung["alpha"]))


def _of_counts(counts: Raw, alpha: float) -> Iterator[str]:
    if not (counts["x"] <= counts["n1"] and counts["y"] <= counts["n0"]):
        yield "counts more answers than trials"
    if not counts["n1"] + counts["n0"]:
        yield "has a bound of no trials"
    if not 0 < alpha <= MOST_ALPHA:
        yield f"has alpha = {alpha}: must be in (0, {MOST_ALPHA}]"


def _of_lower(lower: float, proven: float) -> Iterator[str]:
    if lower > proven + ROUNDING * max(1.0, proven):
        yield f"has a lower bound, {lower}, where its trials show {proven:.12g}"
