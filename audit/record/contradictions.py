"""Contradictions: what no audit can have found, though each field of a result may be as it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.claims import Claim, claim_from_json
from dpassay.engine.verdicts import ROUNDING as BESIDE
from dpassay.errors import InvalidInput
from dpassay.record.rebound import at_alpha
from dpassay.record.witness import witness_fault
from dpassay.stats.betting import GRID
from dpassay.stats.lower_bounds import MOST_ALPHA

Raw = Mapping[str, Any]
ROUNDING = 1e-6
"""Part of a bound by which the one that is made of the same trials again may be smaller."""
NEEDED = ("mode", "lower", "upper", "detectable", "alpha", "confidence", "searched")
"""What a result with a verdict has."""
CURVES = (
    ("epsilon", "lower", "upper"),
    ("false_positive", "trade_off_lower", "trade_off_upper"),
)
"""Curves of a profile that have a point for each of the first one's."""


def contradictions(record: Raw) -> str:
    """Say what of a record contradicts the rest of it.

    Parameters
    ----------
    record : mapping
        That its schema allows.

    Returns
    -------
    str
        One line about the first contradiction; empty if there is none.
    """
    results, allowed = record["results"], 1 - record["run"]["confidence"]
    again = [name for name, n in Counter(each["id"] for each in results).items() if n > 1]
    if again:
        return f"results has {again[0]} twice"
    found = next(filter(None, map(contradiction, results)), "")
    alpha = math.fsum(each["alpha"] or 0.0 for each in results)
    if not found and alpha > allowed * (1 + ROUNDING):
        found = (
            f"its bounds are wrong with probability {alpha:.6g} together, where confidence allows "
            f"{allowed:.6g}"
        )
    return found


def contradiction(result: Raw) -> str:
    """Say what of a result contradicts the rest of it.

    Parameters
    ----------
    result : mapping
        An entry of a record's `results` that its schema allows.

    Returns
    -------
    str
        One line about the first contradiction; empty if there is none.
    """
    try:
        claim = claim_from_json(dict(result["claim"]), result["expected"])
    except (InvalidInput, TypeError) as error:
        return f"claim of {result['id']}: {error}"
    wrong = _of_witnesses(result)
    if wrong:
        return f"the witness of {result['id']}: {wrong}"
    return next((f"{result['id']} {told}" for told in _told(result, claim)), "")


def _of_witnesses(result: Raw) -> str:
    other = result.get("other")
    held = (result["witness"], result.get("clearest"), None if other is None else other["witness"])
    return next(filter(None, (_of_witness(each) for each in held if each is not None)), "")


def _of_witness(witness: Raw) -> str:
    """Say what is wrong with a witness of a record; its file alone may lack what was measured."""
    missing = [name for name in ("p1", "p0") if name not in witness]
    told = f"it has no field '{missing[0]}', which it must have" if missing else ""
    return witness_fault(witness) or told


def _told(result: Raw, claim: Claim) -> Iterator[str]:
    """Yield what is wrong; what comes later may rely on what came before."""
    yield from _unfounded(result)
    yield from _listed_twice(result)
    for cell in result["per_query"]:
        yield from _miscounted(cell, result["mode"], result["trials"])
        yield from _crooked(cell)
    if result["verdict"] != "error":
        yield from _unordered(result)
        yield from _unproven(result, claim)
        yield from _misjudged(result, claim)
        yield from _undecided(result, claim)


def _unfounded(result: Raw) -> Iterator[str]:
    """Say what of the evidence of a result is missing."""
    if result["verdict"] != "error" and (
        any(result[name] is None for name in NEEDED) or not result["per_query"]
    ):
        yield "has a verdict and no evidence"
    searched = result["searched"] or {"how": []}
    sampled = result["verdict"] != "error" and result["mode"] == "monte-carlo"
    if sampled and "certified_cells" not in (result["searched"] or {}):
        yield "was sampled and does not say of how many cells"
    if len(searched.get("keys", searched["how"])) != len(searched["how"]):
        yield "has not as many keys of searches as words for them"


def _listed_twice(result: Raw) -> Iterator[str]:
    """Say which query has two cells; each of the mechanism's own cases begins with a query 0."""
    cases, seen = 0, set[tuple[Any, ...]]()
    for cell in result["per_query"]:
        own, query = cell["group"] == "own", cell["query"]
        cases += own and query == 0
        place = (cell["group"], cases if own else cell.get("data"), query, str(cell["point"]))
        if place in seen:
            yield f"lists query {query} of its {cell['group']} group twice"
        seen.add(place)


def _miscounted(cell: Raw, mode: str | None, trials: int) -> Iterator[str]:
    """Say what of the trials of a cell cannot be."""
    counts, histograms = cell["counts"], cell["histograms"]
    if counts is not None and not (
        counts["x"] <= counts["n1"] and counts["y"] <= counts["n0"] and counts["n1"] * counts["n0"]
    ):
        yield "counts more answers than trials"
    if histograms is not None and not (sum(histograms["one"]) and sum(histograms["other"])):
        yield "has a histogram without trials"
    if mode == "monte-carlo" and counts is None and histograms is None:
        yield "was sampled and has no counts"
    drawn = [] if counts is None else [counts["n1"], counts["n0"]]
    drawn += [] if histograms is None else [sum(histograms["one"]), sum(histograms["other"])]
    if max(drawn, default=0) > trials:
        yield f"counts {max(drawn)} trials at a cell, of {trials} in all"


def _crooked(cell: Raw) -> Iterator[str]:
    """Say what of the curves and histograms of a cell does not fit together."""
    profile, histograms = cell["profile"], cell["histograms"]
    for names in () if profile is None else CURVES:
        lengths = {len(profile[name]) for name in names}
        if len(lengths) > 1 or lengths == {0}:
            yield f"has a curve whose {', '.join(names)} are not of one length"
    if histograms is None:
        return
    if not len(histograms["one"]) == len(histograms["other"]) == GRID + 1:
        yield f"has a histogram that has not {GRID + 1} points"
    if not (histograms["limits"][0] < histograms["limits"][1] and min(histograms["spreads"]) >= 0):
        yield "has a histogram between limits, or with spreads, that cannot be"


def _unordered(result: Raw) -> Iterator[str]:
    """Say which bounds are not in order, and which probability is none."""
    for each in (result, *result["per_query"]):
        lower, exact, upper = (each["lower"], each["exact"], each["upper"])
        if float(lower) > float(upper):
            yield f"has a lower bound, {lower}, above its upper bound, {upper}"
        if exact is not None and not float(lower) <= float(exact) <= float(upper):
            yield f"has an exact leak, {exact}, that is not between its bounds"
        if (exact is None) != (result["mode"] == "monte-carlo"):
            yield f"was audited by mode {result['mode']} and has exact = {exact}"
    if not 0.5 <= result["confidence"] <= 1:
        yield f"has confidence = {result['confidence']}: must be in [0.5, 1]"
    sampled = result["mode"] == "monte-carlo"
    for each, most in ((result, 0.5), *((cell, MOST_ALPHA) for cell in result["per_query"])):
        if not (0 < each["alpha"] <= most if sampled else each["alpha"] == 0):
            yield f"has alpha = {each['alpha']}: cannot be the error probability of this mode"
        if each["alpha"] > result["alpha"]:
            yield f"has alpha = {each['alpha']} at a cell, and {result['alpha']} for all of them"


def _unproven(result: Raw, claim: Claim) -> Iterator[str]:
    """Say that a result, or its worst cell, has a larger bound than follows from its trials."""
    worst = max(result["per_query"], key=lambda cell: float(cell["lower"]))
    lower = float(worst["lower"])
    if float(result["lower"]) > lower:
        yield f"has a lower bound, {result['lower']}, above that of each of its cells"
    if result["mode"] != "monte-carlo":
        return
    proven = at_alpha(worst, claim, worst["alpha"])
    if lower > proven + ROUNDING * max(1.0, proven):
        yield f"has a lower bound, {lower}, where its trials show {proven:.12g}"


def _misjudged(result: Raw, claim: Claim) -> Iterator[str]:
    """Say that a verdict is not that of the bounds."""
    verdict, stopped = result["verdict"], result.get("stopped_early")
    exceeded = float(result["lower"]) > claim.promised
    if (verdict == "refuted") != (exceeded or stopped is not None):
        yield f"is {verdict}; its lower bound is {result['lower']}, its claim {claim.promised:g}"
    if verdict == "verified" and result["mode"] != "exhaustive":
        yield f"is verified by mode {result['mode']}: must be exhaustive"
    if stopped is not None and stopped["e_value"] < stopped["threshold"]:
        yield f"was stopped early by {stopped['e_value']}, below {stopped['threshold']}"


def _undecided(result: Raw, claim: Claim) -> Iterator[str]:
    """Say that a claim is said to be kept, or undecided, where the bounds do not show it."""
    verdict, promised = result["verdict"], claim.promised
    if verdict == "refuted":
        return
    if result["mode"] != "monte-carlo":
        beyond = float(result["upper"]) > promised + BESIDE * (promised or 1.0) * (1 + ROUNDING)
        if beyond and verdict != "inconclusive":
            yield f"is {verdict}; its upper bound is {result['upper']}, its claim {promised:g}"
        if verdict == "inconclusive" and float(result["upper"]) <= promised:
            yield f"is inconclusive; its upper bound is {result['upper']}, its claim {promised:g}"
        return
    numbers = None if result["witness"] is None else result["witness"]["numbers"]
    limits = None if numbers is None else (float(numbers[0]), float(numbers[1]))
    blind = float(result["lower"]) <= 0 and not claim.coupled
    if blind and verdict == "not refuted" and promised < claim.most(limits):
        yield "is not refuted, and saw nothing move: must be inconclusive"
