"""Certified numbers of an attack that two records have counted, and limits on each made anew.

Guesses: the chance q that they are right, at the coin of a record, by a rule; the loss of which
is ln((q - delta) / (1 - q)). Repeated answers: the chances of an event on both sides. The same
rule, or event, in both records is the same number, whatever code lies between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scipy.special import betaincinv

from dpassay.numerics import DOWN, written
from dpassay.record.attack_events import (
    answers,
    both_exact,
    counted_rungs,
    of_events,
    of_laws,
    same_event,
)
from dpassay.record.attack_numbers import Number, chance_limits
from dpassay.stats.bounds import clopper_pearson_lower
from dpassay.stats.power import POWER
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All numbers of an entry that both records have."""

    numbers: tuple[Number, ...]
    of: int
    elsewhere: str = ""

    @property
    def rose(self) -> tuple[Number, ...]:
        """Those that rose."""
        return tuple(each for each in self.numbers if each.rose)

    @property
    def fell(self) -> tuple[Number, ...]:
        """Those that fell."""
        return tuple(each for each in self.numbers if each.fell)

    @property
    def could(self) -> int:
        """Return how many could have shown a rise at all."""
        return sum(each.least < math.inf for each in self.numbers)

    @property
    def best(self) -> Number | None:
        """The one that would have shown the smallest loss."""
        could = [each for each in self.numbers if each.least < math.inf]
        return min(could, key=lambda each: each.least, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guesses:
    """Guesses by a rule at the coin of a record."""

    view: str
    record: int
    threshold: float
    above: bool
    right: int
    targets: int
    place: str = field(compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        return self.view, self.record, self.threshold, self.above

    @property
    def name(self) -> str:
        side = "from" if self.above else "below"
        return (
            f"guesses at {self.place} in the view '{self.view}' (a member {side} a share of "
            f"{self.threshold:g})"
        )


def limits_of(entry: Raw) -> list[str]:
    """Return what an entry has certified numbers of: views, and numbers of repeated answers."""
    views = dict.fromkeys(each.view for each in _guesses(entry["subject"]))
    return [*views, *(answers(rung["m"]) for rung in counted_rungs(entry["repeated"]))]


def counted_again(old: Raw, new: Raw, tolerance: float, alpha: float) -> Counted:
    """Return the numbers that both records have of an entry."""
    mine, theirs = _guesses(old["subject"]), _guesses(new["subject"])
    again = {each.key: each for each in theirs}
    pairs = [(each, again[each.key]) for each in mine if each.key in again]
    rungs = {rung["m"]: rung for rung in counted_rungs(new["repeated"])}
    delta = _delta(old["repeated"])
    both = [
        (rung, rungs[rung["m"]])
        for rung in counted_rungs(old["repeated"])
        if rung["m"] in rungs and _delta(new["repeated"]) == delta
    ]
    sampled = [each for each in both if not both_exact(*each) and same_event(*each)]
    share = alpha / max(1, len(pairs) + len(sampled))
    allowed = _allowed(old["subject"])
    numbers = [_of_guesses(*each, allowed[each[0].view], tolerance, share) for each in pairs]
    numbers += [of_laws(*each, tolerance) for each in both if both_exact(*each)]
    numbers += [of_events(*each, delta, tolerance, share) for each in sampled]
    return Counted(
        numbers=tuple(numbers),
        of=len(mine) + len(counted_rungs(old["repeated"])),
        elsewhere=next(_larger(mine, new["subject"], both, sampled), ""),
    )


def _delta(repeated: Raw | None) -> float:
    """Return delta of a single answer: losses at different ones are different numbers."""
    return 0.0 if repeated is None else float(repeated.get("delta", 0.0))


def _guesses(subject: Raw | None) -> list[_Guesses]:
    """All guesses that a record counts of a subject: with bounds of their own, and anew."""
    if subject is None or subject["error"] is not None:
        return []
    found = {}
    targets = 0
    for bound in subject["certified"]:
        if bound["counts"] is not None:
            right, targets = _at_targets(bound)
            place = f"record {bound['record']}" + (
                f" (line {bound['line']})" if "line" in bound else ""
            )
            one = _made(bound["view"], bound["rule"], right, targets, place)
            found[one.key] = one
    for told in subject.get("again", ()):
        place = f"record {told['rule']['record']}"
        one = _made(told["view"], told["rule"], told["right"], targets, place)
        if targets:
            found.setdefault(one.key, one)
    return list(found.values())


def _at_targets(bound: Raw) -> tuple[int, int]:
    """Return how many guesses at target models were right, and how many there were.

    Without those from fresh answers, of which there may be other numbers in other records.
    """
    counts, fresh = bound["counts"], bound.get("fresh", {})
    x, n1, y, n0 = (counts[name] - fresh.get(name, 0) for name in ("x", "n1", "y", "n0"))
    return x + n0 - y, n1 + n0


def _made(view: str, rule: Raw, right: int, targets: int, place: str) -> _Guesses:
    return _Guesses(
        view=view,
        record=rule["record"],
        threshold=float(rule["threshold"]),
        above=rule["above"],
        right=right,
        targets=targets,
        place=place,
    )


def _allowed(subject: Raw | None) -> dict[str, tuple[float, float]]:
    """Epsilon and delta of the answers of each view; zeros where nothing is claimed."""
    if subject is None or subject["error"] is not None:
        return {}
    return {
        each["view"]["name"]: (0.0, 0.0)
        if each["allowed"] is None
        else (float(each["allowed"]["epsilon"]), float(each["allowed"]["delta"]))
        for each in subject["outcomes"]
    }


def _of_guesses(
    old: _Guesses, new: _Guesses, allowed: tuple[float, float], tolerance: float, alpha: float
) -> Number:
    epsilon, delta = allowed
    slack, n = tolerance * epsilon, new.targets
    before = _of_rule(old.right, old.targets, delta, alpha)

    def rises(right: int) -> bool:
        return _of_rule(right, n, delta, alpha)[0] > before[1] + slack

    least = math.inf
    if rises(n):
        low, high = n // 2, n  # from one half on the limit rises with the right guesses
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if rises(middle) else (middle, high)
        least = _loss(float(betaincinv(high, n - high + 1, POWER)), delta)
    return Number(
        name=old.name if "line" in old.place else new.name,
        before=before,
        after=_of_rule(new.right, n, delta, alpha),
        slack=slack,
        least=least,
        counts=f"{new.right} of {n} are right, and {old.right} of {old.targets} were",
    )


@lru_cache(maxsize=4096)
def _of_rule(right: int, trials: int, delta: float, alpha: float) -> tuple[float, float]:
    """Limits on the loss that a rule shows, both hold with probability 1 - alpha.

    Wrong guesses show it as well as right ones: then the opposite rule guesses. A rule that was
    chosen where nothing leaked may be wrong about the side of a later leak.
    """
    low, high = chance_limits(right, trials, alpha / 2)
    return (
        max(_loss(low, delta), _loss(1 - high, delta)),
        max(_loss(high, delta), _loss(1 - low, delta)),
    )


def _loss(q: float, delta: float) -> float:
    """Loss that right guesses with chance q show."""
    if q >= 1:
        return math.inf
    return max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0


def _larger(
    mine: Sequence[_Guesses],
    subject: Raw | None,
    both: Sequence[tuple[Raw, Raw]],
    sampled: Sequence[tuple[Raw, Raw]],
) -> Iterator[str]:
    known = {each.key for each in mine}
    certified = [] if subject is None or subject["error"] is not None else subject["certified"]
    for bound in certified:
        rule = bound["rule"]
        key = (bound["view"], rule["record"], float(rule["threshold"]), rule["above"])
        most = max(
            (each.right / each.targets for each in mine if each.view == bound["view"]), default=1.0
        )
        if bound["counts"] is None or key in known or not float(bound["lower"]) > 0:
            continue
        q = float(clopper_pearson_lower(*_at_targets(bound), bound["alpha"]))
        if q > most:
            yield (
                f"record {bound['record']} in the view '{bound['view']}' loses at least "
                f"{written(float(bound['lower']), 4, DOWN)}, which was not counted before: that it "
                "rose is not certified"
            )
    for old, new in both:
        compared = (old, new) in sampled or both_exact(old, new)
        if not compared and float(new["lower"]) > float(old["lower"]):
            yield (
                f"of {answers(new['m'])} at least "
                f"{written(float(new['lower']), 4, DOWN)} is lost, by another event or at another "
                "pair than before: that it rose is not certified"
            )
