"""Certified numbers of an attack that two records have counted, and limits on each made anew.

Guesses: the chance q that they are right, at the coin of a record, by a rule; the loss of which
is ln((q - delta) / (1 - q)). Repeated answers: the chances of an event on both sides. The same
rule, or event, in both records is the same number, whatever code lies between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from scipy.special import betaincinv

from dpassay.numerics import DOWN, UP, written
from dpassay.record.attack_record import rungs_of
from dpassay.stats.binomial_law import quantile
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.power import POWER, tight_pair
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]
Span = tuple[float, float]
"""Both limits on a loss, in nats."""

MOST_SUMS = 3000
"""Combinations of labels that two events are compared on; above that by their scores."""
NEAR = 1e-8
"""Sums of scores so near to a threshold reach it: records hold twelve digits."""
MOST_LEAK = 50.0
"""Larger losses are not looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossNumber:
    """One number that both records have."""

    name: str  # what it is of, in words
    before: Span
    after: Span
    slack: float  # how far it may rise before that is said
    least: float  # smallest loss now that would be called a rise with probability 0.9, or inf
    counts: str = ""  # of both records, in words; empty of an exact number
    exact: bool = False  # both were computed from exact laws

    @property
    def rose(self) -> bool:
        """Return whether it rose by more than the slack, beyond chance."""
        return self.after[0] > self.before[1] + self.slack

    @property
    def fell(self) -> bool:
        """Return whether it fell by more than the slack, beyond chance."""
        return self.before[0] > self.after[1] + self.slack

    @property
    def apart(self) -> float:
        """Return how far the limits are apart, in nats."""
        return max(self.after[0] - self.before[1], self.before[0] - self.after[1])

    @property
    def words(self) -> str:
        """Return what is compared, and how it stands."""
        loss = f"the loss is {_limits(self.after)}, and was {_limits(self.before)}"
        return f"{self.name}: {self.counts}{'' if self.exact else '; '}{loss}"


class GuessRule(NamedTuple):
    """A rule that guesses at the coin of a record, in the answers of a view."""

    view: str
    record: int
    threshold: float
    above: bool  # whether a member is guessed from the threshold on

    @property
    def words(self) -> str:
        """Return whom the rule calls a member."""
        side = "from" if self.above else "below"
        return f"in the view '{self.view}' (a member {side} a share of {self.threshold:g})"


class Guesses(NamedTuple):
    """Guesses by a rule at target models."""

    right: int
    targets: int
    place: str  # the record, in words


def limits_of(entry: Raw) -> list[str]:
    """Return what an entry has certified numbers of: views, and numbers of repeated answers."""
    views = dict.fromkeys(rule.view for rule in _guesses(entry["subject"]))
    return [*views, *(answers(rung["m"]) for rung in _counted_rungs(entry["repeated"]))]


def counted_again(
    old: Raw, new: Raw, tolerance: float, alpha: float
) -> tuple[list[LossNumber], int, str]:
    """Return the numbers that both records have of an entry, out of how many, and what is new.

    The last says which number of the new record is larger, and was not counted before.
    """
    mine, theirs = _guesses(old["subject"]), _guesses(new["subject"])
    shared = [rule for rule in mine if rule in theirs]
    counted, now = (_counted_rungs(each["repeated"]) for each in (old, new))
    # losses at different delta of a single answer are different numbers
    delta, other = (float((each["repeated"] or {}).get("delta", 0.0)) for each in (old, new))
    rungs = {rung["m"]: rung for rung in now if delta == other}
    both = [(rung, rungs[rung["m"]]) for rung in counted if rung["m"] in rungs]
    exact = [each for each in both if _both_exact(*each)]
    sampled = [each for each in both if each not in exact and _same_event(*each)]
    share = alpha / max(1, len(shared) + len(sampled))
    allowed = {
        each["view"]["name"]: each["allowed"] or {"epsilon": 0.0, "delta": 0.0}
        for each in (old["subject"]["outcomes"] if shared else ())
    }
    numbers = [
        _of_guesses(rule, mine[rule], theirs[rule], allowed[rule.view], tolerance, share)
        for rule in shared
    ]
    numbers += [_of_laws(*each, tolerance) for each in exact]
    numbers += [_of_events(*each, delta, tolerance, share) for each in sampled]
    uncompared = [each for each in both if each not in exact and each not in sampled]
    elsewhere = next(_larger(mine, new["subject"], uncompared), "")
    return numbers, len(mine) + len(counted), elsewhere


def _guesses(subject: Raw | None) -> dict[GuessRule, Guesses]:
    """Return all guesses that a record counts of a subject: with bounds of their own, and anew."""
    if subject is None or subject["error"] is not None:
        return {}
    found: dict[GuessRule, Guesses] = {}
    targets = 0
    for bound in subject["certified"]:
        if bound["counts"] is not None:
            right, targets = _at_targets(bound)
            line = f" (line {bound['line']})" if "line" in bound else ""
            found[_rule(bound)] = Guesses(right, targets, f"record {bound['record']}{line}")
    for told in subject.get("again", ()) if targets else ():
        place = f"record {told['rule']['record']}"
        found.setdefault(_rule(told), Guesses(told["right"], targets, place))
    return found


def _rule(held: Raw) -> GuessRule:
    rule = held["rule"]
    return GuessRule(held["view"], rule["record"], float(rule["threshold"]), rule["above"])


def _at_targets(bound: Raw) -> tuple[int, int]:
    """Return how many guesses at target models were right, and how many there were.

    Without those from fresh answers, of which there may be other numbers in other records.
    """
    counts, fresh = bound["counts"], bound.get("fresh", {})
    x, n1, y, n0 = (counts[name] - fresh.get(name, 0) for name in ("x", "n1", "y", "n0"))
    return x + n0 - y, n1 + n0


def _of_guesses(
    rule: GuessRule, old: Guesses, new: Guesses, allowed: Raw, tolerance: float, alpha: float
) -> LossNumber:
    """Compare the guesses by one rule in two records."""
    delta, slack, n = float(allowed["delta"]), tolerance * float(allowed["epsilon"]), new.targets
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
    return LossNumber(
        name=f"guesses at {old.place if 'line' in old.place else new.place} {rule.words}",
        before=before,
        after=_of_rule(new.right, n, delta, alpha),
        slack=slack,
        least=least,
        counts=f"{new.right} of {n} are right, and {old.right} of {old.targets} were",
    )


@lru_cache(maxsize=4096)
def _of_rule(right: int, trials: int, delta: float, alpha: float) -> Span:
    """Return limits on the loss that a rule shows; both hold with probability 1 - alpha.

    Wrong guesses show it as well as right ones: then the opposite rule guesses. A rule that was
    chosen where nothing leaked may be wrong about the side of a later leak.
    """
    low, high = _chance_limits(right, trials, alpha / 2)
    return (
        max(_loss(low, delta), _loss(1 - high, delta)),
        max(_loss(high, delta), _loss(1 - low, delta)),
    )


def _loss(q: float, delta: float) -> float:
    """Return the loss that right guesses with chance q show."""
    if q >= 1:
        return math.inf
    return max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0


def _chance_limits(right: int, trials: int, alpha: float) -> Span:
    """Return both limits on a chance, each with the error probability."""
    return (
        float(clopper_pearson_lower(right, trials, alpha)),
        float(clopper_pearson_upper(right, trials, alpha)),
    )


def answers(m: int) -> str:
    """Write how many answers to one query."""
    return "one answer" if m == 1 else f"{m} answers to one query"


def _counted_rungs(repeated: Raw | None) -> Sequence[Raw]:
    """Return the rungs that have counts, or exact laws, each with the `pair` that it is of."""
    if repeated is None or repeated.get("error"):
        return []
    return [
        dict(rung) | {"pair": rung.get("losing") or repeated.get("reason", "")}
        for rung in rungs_of(repeated)
        if rung.get("counts") or rung.get("limits")
    ]


def _both_exact(old: Raw, new: Raw) -> bool:
    """Return whether both records know the exact loss, at the same examined pairs or more."""
    return all("epsilon" in (rung.get("limits") or ()) for rung in (old, new))


def _same_event(old: Raw, new: Raw) -> bool:
    """Return whether two rungs count the same event at the same pair."""
    if old["pair"] != new["pair"] or not (old.get("counts") and new.get("counts")):
        return False
    one, other, m = old.get("event"), new.get("event"), old["m"]
    if one is None or other is None or one["from_base"] != other["from_base"]:
        return False
    labels = len(one["scores"])
    if labels != len(other["scores"]):
        return False
    if math.comb(m + labels - 1, labels - 1) > MOST_SUMS:
        return bool(one == other)

    def calls(event: Raw, answered: Sequence[int]) -> bool:
        total = sum(float(event["scores"][label]) for label in answered)
        return total >= float(event["threshold"]) - NEAR

    possible = combinations_with_replacement(range(labels), m)
    return all(calls(one, each) == calls(other, each) for each in possible)


def _of_laws(old: Raw, new: Raw, tolerance: float) -> LossNumber:
    """Compare the exact losses of a rung in two records."""
    before, after = (float(each["limits"]["epsilon"]) for each in (old, new))
    slack = tolerance * float(old.get("basic", 0.0))
    return LossNumber(
        name=f"{answers(old['m'])} at the worst pair examined",
        before=(before, before),
        after=(after, after),
        slack=slack,
        least=before + slack,
        exact=True,
    )


def _of_events(old: Raw, new: Raw, delta: float, tolerance: float, alpha: float) -> LossNumber:
    """Compare the counts of one event in two records, each with error probability alpha.

    The smallest rise that would be seen is one of randomised response: counts at least as telling
    as those at the 5 % quantiles have probability 0.9.
    """
    loss = Ratio(min(1.0, old["m"] * delta))
    before, after = (_of_event(each["counts"], loss, alpha) for each in (old, new))
    slack = tolerance * float(old.get("basic", 0.0))
    n1, n0, above = new["counts"]["n1"], new["counts"]["n0"], before[1] + slack

    def seen(leak: float) -> bool:
        p1, p0 = tight_pair(leak, loss.delta)
        counts = {"x": int(quantile(0.05, n1, p1)), "y": int(quantile(0.95, n0, p0))}
        return _of_event(counts | {"n1": n1, "n0": n0}, loss, alpha)[0] > above

    low, least = above, MOST_LEAK
    if above >= least or not seen(least):
        least = math.inf
    while least - low > 1e-3 and least < math.inf:
        middle = (low + least) / 2
        low, least = (low, middle) if seen(middle) else (middle, least)
    shown = [f"{each['counts']['x']} and {each['counts']['y']}" for each in (new, old)]
    return LossNumber(
        name=f"{answers(old['m'])}, where {old['pair']}",
        before=before,
        after=after,
        slack=slack,
        least=least,
        counts=f"the event was seen {shown[0]} times of {n1}, and {shown[1]} times before",
    )


def _of_event(counts: Raw, loss: Ratio, alpha: float) -> Span:
    """Return limits on the loss of an event; each limit on a chance has half of alpha."""
    p1 = _chance_limits(counts["x"], counts["n1"], alpha / 2)
    p0 = _chance_limits(counts["y"], counts["n0"], alpha / 2)
    low = max(0.0, float(loss.between(p1[0], p0[1]))) if p1[0] > 0 else 0.0
    return low, math.inf if p0[0] <= 0 else max(0.0, float(loss.between(p1[1], p0[0])))


def _larger(
    mine: Mapping[GuessRule, Guesses],
    subject: Raw | None,
    uncompared: Sequence[tuple[Raw, Raw]],
) -> Iterator[str]:
    """Say which certified numbers are larger, and cannot be held against the old record."""
    certified = [] if subject is None or subject["error"] is not None else subject["certified"]
    for bound in certified:
        if bound["counts"] is None or _rule(bound) in mine or not float(bound["lower"]) > 0:
            continue
        shares = (
            each.right / each.targets for rule, each in mine.items() if rule.view == bound["view"]
        )
        right, targets = _at_targets(bound)
        if float(clopper_pearson_lower(right, targets, bound["alpha"])) > max(shares, default=1.0):
            yield (
                f"record {bound['record']} in the view '{bound['view']}' loses at least "
                f"{down(bound['lower'])}, which was not counted before: that it rose is not "
                "certified"
            )
    for old, new in uncompared:
        if float(new["lower"]) > float(old["lower"]):
            yield (
                f"of {answers(new['m'])} at least {down(new['lower'])} is lost, by another event "
                "or at another pair than before: that it rose is not certified"
            )


def _limits(loss: Span) -> str:
    if loss[0] == loss[1]:
        return f"{loss[0]:.4g}"
    high = "∞" if loss[1] == math.inf else written(loss[1], 4, UP)
    return f"from {down(loss[0])} to {high}"


def down(bound: float | str) -> str:
    """Write a lower bound on a loss with four digits."""
    return written(float(bound), 4, DOWN)
