"""Repeated answers that two records have counted: the same event, or exact laws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

from dpassay.record.attack_numbers import Number, chance_limits
from dpassay.record.attack_record import rungs_of
from dpassay.stats.binomial_law import quantile
from dpassay.stats.power import tight_pair
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]

MOST_SUMS = 3000
"""Combinations of labels that two events are compared on; above that by their scores."""
NEAR = 1e-8
"""Sums of scores so near to a threshold reach it: records hold twelve digits."""
MOST_LEAK = 50.0
"""Larger losses are not looked for."""


def answers(m: int) -> str:
    """Write how many answers to one query."""
    return "one answer" if m == 1 else f"{m} answers to one query"


def counted_rungs(repeated: Raw | None) -> Sequence[Raw]:
    """Return the rungs that have counts, or exact laws, each with the `pair` that it is of."""
    if repeated is None or repeated.get("error"):
        return []
    return [
        dict(rung) | {"pair": rung.get("losing") or repeated.get("reason", "")}
        for rung in rungs_of(repeated)
        if rung.get("counts") or rung.get("limits")
    ]


def both_exact(old: Raw, new: Raw) -> bool:
    """Return whether both records know the exact loss, at the same examined pairs or more."""
    return all("epsilon" in (rung.get("limits") or ()) for rung in (old, new))


def same_event(old: Raw, new: Raw) -> bool:
    """Return whether two rungs count the same event at the same pair."""
    if old["pair"] != new["pair"] or not (old.get("counts") and new.get("counts")):
        return False
    one, other = old.get("event"), new.get("event")
    if one is None or other is None or one["from_base"] != other["from_base"]:
        return False
    labels = len(one["scores"])
    if labels != len(other["scores"]):
        return False
    if math.comb(old["m"] + labels - 1, labels - 1) > MOST_SUMS:
        return bool(one == other)
    answers = combinations_with_replacement(range(labels), old["m"])
    return all(_called(one, each) == _called(other, each) for each in answers)


def _called(event: Raw, answers: Sequence[int]) -> bool:
    total = sum(float(event["scores"][label]) for label in answers)
    return total >= float(event["threshold"]) - NEAR


def of_laws(old: Raw, new: Raw, tolerance: float) -> Number:
    """Compare the exact losses of a rung in two records; see `counted_again`."""
    before, after = (float(each["limits"]["epsilon"]) for each in (old, new))
    slack = tolerance * float(old.get("basic", 0.0))
    return Number(
        name=f"{answers(old['m'])} at the worst pair examined",
        before=(before, before),
        after=(after, after),
        slack=slack,
        least=before + slack,
        exact=True,
    )


def of_events(old: Raw, new: Raw, delta: float, tolerance: float, alpha: float) -> Number:
    """Compare the counts of one event in two records, each with error probability alpha."""
    loss = Ratio(min(1.0, old["m"] * delta))
    before, after = (_of_event(each["counts"], loss, alpha) for each in (old, new))
    slack, n = tolerance * float(old.get("basic", 0.0)), new["counts"]["n1"]
    shown = [f"{each['counts']['x']} and {each['counts']['y']}" for each in (new, old)]
    return Number(
        name=f"{answers(old['m'])}, where {old['pair']}",
        before=before,
        after=after,
        slack=slack,
        least=_least_event(n, new["counts"]["n0"], before[1] + slack, loss, alpha),
        counts=f"the event was seen {shown[0]} times of {n}, and {shown[1]} times before",
    )


def _least_event(n1: int, n0: int, above: float, loss: Ratio, alpha: float) -> float:
    """Smallest loss that would be certified above a number with probability 0.9; inf where none.

    Of randomised response: counts at least as telling as those at the 5 % quantiles have it.
    """

    def seen(leak: float) -> bool:
        p1, p0 = tight_pair(leak, loss.delta)
        counts = {"x": int(quantile(0.05, n1, p1)), "y": int(quantile(0.95, n0, p0))}
        return _of_event(counts | {"n1": n1, "n0": n0}, loss, alpha)[0] > above

    low, high = above, MOST_LEAK
    if above >= high or not seen(high):
        return math.inf
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def _of_event(counts: Raw, loss: Ratio, alpha: float) -> tuple[float, float]:
    """Limits on the loss of an event; each of its two limits on a chance has half of alpha."""
    p1 = chance_limits(counts["x"], counts["n1"], alpha / 2)
    p0 = chance_limits(counts["y"], counts["n0"], alpha / 2)
    low = max(0.0, float(loss.between(p1[0], p0[1]))) if p1[0] > 0 else 0.0
    return low, math.inf if p0[0] <= 0 else max(0.0, float(loss.between(p1[1], p0[0])))
