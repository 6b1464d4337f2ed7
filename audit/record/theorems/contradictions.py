"""Contradictions in a record of theorems: what no check can have found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import mul
from statistics import fmean
from typing import Any

from dpassay.stats.lower_bounds import MOST_ALPHA

Raw = Mapping[str, Any]

EQUAL = 2e-9
"""A check calls numbers equal that are so near: `dpassay.theorems.row.ROUNDING`, and the digits."""
ASKED = 1.5
"""A sampled row decides nothing if a violation by this factor could have been missed:
`dpassay.theorems.row.ASKED`."""
WITHIN = 0.01
"""By so much a slope may be below the one that it is to be at least: `theorems.slopes.WITHIN`."""
DRAWN = 1e-6
"""By so much a slope of points with twelve digits may differ from that of the points themselves."""
SPOKEN = {"exact": "verified", "certified": "not refuted", "search": "not refuted"}
"""What is said of a statement that no case violates, by how its cases were measured."""


def contradiction(record: Raw) -> str:
    """Say what of a record contradicts the rest of it.

    Parameters
    ----------
    record : mapping
        Of theorems, that its schema allows.

    Returns
    -------
    str
        One line about the first contradiction; empty if there is none.
    """
    again = [name for name, n in Counter(row["id"] for row in record["results"]).items() if n > 1]
    if again:
        return f"results has {again[0]} twice"
    return next((told for row in record["results"] for told in _of_row(row)), "")


def _of_row(row: Raw) -> Iterator[str]:
    """Yield what is wrong; what comes later may rely on what came before."""
    name, verdict = row["id"], row["verdict"]
    if (row["witness"] is not None) != (verdict == "refuted"):
        yield f"{name} is {verdict}, {_with(row['witness'])} a witness"
    measured = row["worst"] is not None
    if measured == (verdict == "error") or measured != (row["cells"] > 0):
        yield f"{name} is {verdict}, {_with(row['worst'])} numbers, of {row['cells']} cases"
    if verdict not in ("error", "refuted", "inconclusive", SPOKEN[row["method"]]):
        yield f"{name} is {verdict}, which {row['method']} numbers cannot show"
    for what in ("worst", "witness"):
        if row[what] is not None:
            yield from (f"{what} of {name} {told}" for told in _of_numbers(row[what], row))
    yield from _ranked(row)
    if row.get("series") is not None:
        yield from (f"series of {name} {told}" for told in _of_series(row))


def _with(held: object) -> str:
    return "without" if held is None else "with"


def _of_numbers(held: Raw, row: Raw) -> Iterator[str]:
    """Say what of the numbers of a case cannot be, or does not lead to the verdict."""
    lower, upper, relation = held["lower"], held["upper"], row["relation"]
    if float(lower) > float(upper):
        yield f"has lower = {lower} above its upper"
    if (held["alpha"] > 0) != (row["method"] == "certified") or held["alpha"] > MOST_ALPHA:
        yield f"has alpha = {held['alpha']}: cannot be that of {row['method']} numbers"
    if held["detectable"] is not None and not held["alpha"]:
        yield f"has detectable = {held['detectable']}, and was not sampled"
    yield from _of_factor(held)
    if not _judged(held, row):
        yield (
            f"is {lower} to {upper}, claimed {relation} {held['claimed']}, and the verdict "
            f"{row['verdict']}"
        )


def _of_factor(held: Raw) -> Iterator[str]:
    """Say that a factor is not that of the true and the claimed number."""
    factor, claimed = held["factor"], float(held["claimed"])
    if (factor is not None) != (0 < claimed < math.inf):
        yield f"has factor = {factor} of a claimed {held['claimed']}"
    if factor is None:
        return
    low, high = float(held["lower"]) / claimed, float(held["upper"]) / claimed
    if not (low <= float(factor) <= high or _near(float(factor), low, high)):
        yield f"has factor = {factor}, where {held['lower']} to {held['upper']} is true"


def _near(value: float, *others: float) -> bool:
    return any(math.isclose(value, other, rel_tol=EQUAL) for other in others)


def _judged(held: Raw, row: Raw) -> bool:
    """Whether a verdict follows from the numbers of a case.

    It is refuted if and only if the number is beyond its claim for certain and by more than
    rounding. Computed numbers verify the statement if and only if none may be beyond it; sampled
    ones must have been able to see a violation.
    """
    claimed, verdict = float(held["claimed"]), row["verdict"]
    least, most = (float(held[name]) for name in ("lower", "upper"))
    at_most = row["relation"] == "at most"
    certain = least > claimed if at_most else most < claimed
    possible = most > claimed if at_most else least < claimed
    same = _near(least, claimed) and _near(most, claimed)
    if verdict == "refuted" or (certain and not same):
        return verdict == "refuted" and certain
    if verdict == "verified":
        return same or not possible
    if verdict == "not refuted" and row["method"] == "certified":
        return _seen(held, claimed, at_most=at_most)
    return verdict != "inconclusive" or row["method"] != "exact" or possible


def _seen(held: Raw, claimed: float, *, at_most: bool) -> bool:
    """Whether a violation of this case by the factor that is asked for would have been seen."""
    if held["detectable"] is None:
        return False
    seen = float(held["detectable"])
    one, other = (seen, claimed) if at_most else (claimed, seen)
    return other > 0 and one / other <= ASKED * (1 + EQUAL)


def _of_series(row: Raw) -> Iterator[str]:
    """Say what of a growth cannot be drawn, or has another slope than is claimed of the row."""
    points = [[float(each) for each in point] for point in row["series"]["points"]]
    if row["worst"] is None or len(points) < 2:
        yield f"has {len(points)} points, and the row {_with(row['worst'])} numbers"
        return
    if not all(0 < each < math.inf for point in points for each in point):
        yield "has numbers that no log scale has"
        return
    places = [math.log(place) for place, *_ in points]
    if places != sorted(set(places)):
        yield "has places that do not rise"
    for _, claimed, lower, upper in points:
        if lower > upper:
            yield f"has {lower} to {upper} where {claimed} is claimed"
    yield from _of_slope(points, row)


def _of_slope(points: Sequence[Sequence[float]], row: Raw) -> Iterator[str]:
    """Say that the slopes of a growth are not the numbers of its row.

    They are against the place, or against 1 / place: then all signs are the other ones.
    """
    places = [math.log(place) for place, *_ in points]
    apart = [each - fmean(places) for each in places]
    weights = [each / sum(one * one for one in apart) for each in apart]
    claimed, lower, upper = ([math.log(point[k]) for point in points] for k in (1, 2, 3))
    both = list(zip(weights, lower, upper, strict=True))
    low = math.fsum(w * (one if w > 0 else other) for w, one, other in both)
    high = math.fsum(w * (other if w > 0 else one) for w, one, other in both)
    slope, worst = math.fsum(map(mul, weights, claimed)), row["worst"]
    told = [float(worst[name]) for name in ("claimed", "lower", "upper")]
    told[0] += WITHIN if row["relation"] == "at least" else 0.0
    if not any(
        max(abs(one - other) for one, other in zip(told, made, strict=True)) <= DRAWN
        for made in ((slope, low, high), (-slope, -high, -low))
    ):
        yield f"has slopes of {slope:.6g}, {low:.6g} to {high:.6g}, which are not those of the row"


def _ranked(row: Raw) -> Iterator[str]:
    """Say that the worst case of a refuted row is nearer to its claim than the witness."""
    if row["witness"] is None:
        return
    worst, witness = (_beyond(row[name], row["relation"]) for name in ("worst", "witness"))
    if worst < witness - EQUAL * max(1.0, abs(witness)):
        yield f"worst of {row['id']} is {worst:.6g} beyond its claim, its witness {witness:.6g}"


def _beyond(held: Raw, relation: str) -> float:
    """How far a number is beyond its claim for certain, as `dpassay.theorems.row.beyond` has it."""
    claimed = float(held["claimed"])
    true = float(held["lower" if relation == "at most" else "upper"])
    apart = 0.0 if claimed == true else true - claimed if relation == "at most" else claimed - true
    return apart / claimed if 0 < claimed < math.inf else apart
