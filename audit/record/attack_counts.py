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
from itertools import combinations_with_replacement
from typing import Any

from scipy.special import betaincinv

from dpassay.numerics import DOWN, UP, written
from dpassay.record.attack_record import rungs_of
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.power import POWER
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]
NEAR = 1e-8
"""Sums of scores so near to a threshold reach it: records hold twelve digits."""
MOST_SUMS = 3000
"""Combinations of labels that two events are compared on; above that by their scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number that both records have.

    Parameters
    ----------
    name : str
        What it is of, in words.
    before, after : tuple of float
        Limits on the loss in either record, in nats, >= 0.
    slack : float
        How far it may rise before that is said.
    least : float
        The smallest loss now that would have been called a rise with probability 0.9; inf where
        none would.
    counts : str
        The counts of both records, in words; empty of an exact number.
    exact : bool
        Whether both were computed from exact laws.
    """

    name: str
    before: tuple[float, float]
    after: tuple[float, float]
    slack: float
    least: float
    counts: str = ""
    exact: bool = False

    @property
    def rose(self) -> bool:
        """Whether it rose by more than the slack, beyond chance."""
        return self.after[0] > self.before[1] + self.slack

    @property
    def fell(self) -> bool:
        """Whether it fell by more than the slack, beyond chance."""
        return self.before[0] > self.after[1] + self.slack

    @property
    def apart(self) -> float:
        """How far the limits are apart, in nats."""
        return max(self.after[0] - self.before[1], self.before[0] - self.after[1])

    @property
    def words(self) -> str:
        """What is compared, and how it stands."""
        loss = f"the loss is {_two(self.after)}, and was {_two(self.before)}"
        return f"{self.name}: {self.counts}{'' if self.exact else '; '}{loss}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """All numbers of an entry that both records have.

    Parameters
    ----------
    numbers : tuple of Number
    of : int
        How many the old record has.
    elsewhere : str
        What is larger than it was, but cannot be compared; else empty.
    """

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
        """How many could have shown a rise at all."""
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


def answers(m: int) -> str:
    """Write how many answers to one query."""
    return "one answer" if m == 1 else f"{m} answers to one query"


def limits_of(entry: Raw) -> list[str]:
    """Return what an entry has certified numbers of: views, and numbers of repeated answers."""
    views = dict.fromkeys(each.view for each in _guesses(entry["subject"]))
    return [*views, *(answers(rung["m"]) for rung in _rungs(entry["repeated"]))]


def counted_again(old: Raw, new: Raw, tolerance: float, alpha: float) -> Counted:
    """Return the numbers that both records have of an entry.

    Parameters
    ----------
    old, new : mapping
        What either says of it: `subject` and `repeated`.
    tolerance : float
        Part of what is claimed of a number by which it may rise.
    alpha : float
        Error probability of all limits of one record together.
    """
    mine, theirs = _guesses(old["subject"]), _guesses(new["subject"])
    again = {each.key: each for each in theirs}
    pairs = [(each, again[each.key]) for each in mine if each.key in again]
    rungs = {rung["m"]: rung for rung in _rungs(new["repeated"])}
    both = [(rung, rungs[rung["m"]]) for rung in _rungs(old["repeated"]) if rung["m"] in rungs]
    sampled = [each for each in both if not _exact(*each) and _same_event(*each)]
    share = alpha / max(1, len(pairs) + len(sampled))
    allowed = _allowed(old["subject"])
    numbers = [_of_guesses(*each, allowed[each[0].view], tolerance, share) for each in pairs]
    delta = 0.0 if old["repeated"] is None else float(old["repeated"].get("delta", 0.0))
    numbers += [_of_laws(*each, tolerance) for each in both if _exact(*each)]
    numbers += [_of_rungs(*each, delta, tolerance, share) for each in sampled]
    return Counted(
        numbers=tuple(numbers),
        of=len(mine) + len(_rungs(old["repeated"])),
        elsewhere=_elsewhere(mine, new["subject"], both, sampled),
    )


def _guesses(subject: Raw | None) -> list[_Guesses]:
    """All guesses that a record counts of a subject: with bounds of their own, and anew."""
    if subject is None or subject["error"] is not None:
        return []
    found = {}
    targets = 0
    for bound in subject["certified"]:
        counts = bound["counts"]
        if counts is not None:
            targets = counts["n1"] + counts["n0"]
            right = counts["x"] + counts["n0"] - counts["y"]
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
    low, high = _limits(right, trials, alpha / 2)
    return (
        max(_loss(low, delta), _loss(1 - high, delta)),
        max(_loss(high, delta), _loss(1 - low, delta)),
    )


def _limits(right: int, trials: int, alpha: float) -> tuple[float, float]:
    """Both limits on a chance, each with the error probability."""
    return (
        float(clopper_pearson_lower(right, trials, alpha)),
        float(clopper_pearson_upper(right, trials, alpha)),
    )


def _loss(q: float, delta: float) -> float:
    """Loss that right guesses with chance q show."""
    if q >= 1:
        return math.inf
    return max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0


def _rungs(repeated: Raw | None) -> Sequence[Raw]:
    """Rungs that have counts, or exact laws."""
    if repeated is None or repeated.get("error"):
        return []
    return [rung for rung in rungs_of(repeated) if rung.get("counts") or rung.get("limits")]


def _exact(old: Raw, new: Raw) -> bool:
    """Whether both records know the exact loss, at the same examined pairs or more."""
    return bool(old.get("limits")) and bool(new.get("limits"))


def _of_laws(old: Raw, new: Raw, tolerance: float) -> Number:
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


def _of_rungs(old: Raw, new: Raw, delta: float, tolerance: float, alpha: float) -> Number:
    loss = Ratio(min(1.0, old["m"] * delta))
    before, after = (_of_event(each["counts"], loss, alpha) for each in (old, new))
    slack, n = tolerance * float(old.get("basic", 0.0)), new["counts"]["n1"]
    most = _of_event({"x": n, "n1": n, "y": 0, "n0": new["counts"]["n0"]}, loss, alpha)[0]
    shown = [f"{each['counts']['x']} and {each['counts']['y']}" for each in (new, old)]
    return Number(
        name=f"{answers(old['m'])} at the pair '{old.get('losing', '')}'",
        before=before,
        after=after,
        slack=slack,
        least=most if most > before[1] + slack else math.inf,
        counts=f"the event was seen {shown[0]} times of {n}, and {shown[1]} times before",
    )


def _of_event(counts: Raw, loss: Ratio, alpha: float) -> tuple[float, float]:
    """Limits on the loss of an event; each of its two limits on a chance has half of alpha."""
    p1 = _limits(counts["x"], counts["n1"], alpha / 2)
    p0 = _limits(counts["y"], counts["n0"], alpha / 2)
    low = max(0.0, float(loss.between(p1[0], p0[1]))) if p1[0] > 0 else 0.0
    return low, math.inf if p0[0] <= 0 else max(0.0, float(loss.between(p1[1], p0[0])))


def _same_event(old: Raw, new: Raw) -> bool:
    """Whether two rungs count the same event at the same pair."""
    if old.get("losing") != new.get("losing") or not (old.get("counts") and new.get("counts")):
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


def _elsewhere(
    mine: Sequence[_Guesses],
    subject: Raw | None,
    both: Sequence[tuple[Raw, Raw]],
    sampled: Sequence[tuple[Raw, Raw]],
) -> str:
    """Say which number is larger than all the old ones of its kind, but of something else."""
    return next(_larger(mine, subject, both, sampled), "")


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
        counts = bound["counts"]
        if counts is None or key in known or not float(bound["lower"]) > 0:
            continue
        right = counts["x"] + counts["n0"] - counts["y"]
        q = float(clopper_pearson_lower(right, counts["n1"] + counts["n0"], bound["alpha"]))
        if q > most:
            yield (
                f"record {bound['record']} in the view '{bound['view']}' loses at least "
                f"{written(float(bound['lower']), 4, DOWN)}, which was not counted before: that it "
                "rose is not certified"
            )
    for old, new in both:
        compared = (old, new) in sampled or _exact(old, new)
        if not compared and float(new["lower"]) > float(old["lower"]):
            yield (
                f"of {answers(new['m'])} at least "
                f"{written(float(new['lower']), 4, DOWN)} is lost, by another event or at another "
                "pair than before: that it rose is not certified"
            )


def _two(limits: tuple[float, float]) -> str:
    if limits[0] == limits[1]:
        return f"{limits[0]:.4g}"
    high = "∞" if limits[1] == math.inf else written(limits[1], 4, UP)
    return f"from {written(limits[0], 4, DOWN)} to {high}"
