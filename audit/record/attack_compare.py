"""What has become worse from one record of attacks to another, subject by subject.

A rise is certified: guesses by the same rule, fixed before either set of targets was looked at,
at the coin of the same record, are right more often than chance explains; or the same event of
repeated answers is, whatever code lies between the two records. Guesses that are right with chance
q show a loss of ln((q - delta) / (1 - q)). Losses that are computed from exact laws are compared as
they are. What is merely estimated is news, unless it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from typing import Any

from dpassay.numerics import DOWN, UP, percent, written
from dpassay.record.attack_record import BROKEN, HELD, broken, outspent, renyi_name, rungs_of
from dpassay.record.comparer import Comparer, Difference, RiseLimit, Span, difference, lies_above
from dpassay.stats.binomial_law import quantile
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.power import POWER, tight_pair
from dpassay.stats.scales import Ratio

Raw = Mapping[str, Any]

MOST_SUMS = 3000
"""Combinations of labels that two events are compared on; above that by their scores."""
NEAR = 1e-8
"""Sums of scores so near to a threshold reach it: records hold twelve digits."""
MOST_LEAK = 50.0
"""Larger losses are not looked for."""


class AttackComparer(Comparer):
    """Holds the subjects and services of a record of attacks against those of an older one.

    All limits that are made anew from the counts of an entry in one record share `alpha`, so a
    correct entry is called worse with probability at most 2 alpha. If `strict`, an estimate that
    rose is a regression too: an AUC whose interval lies above the old one.
    """

    schema = "dpassay/attack-comparison/1"

    def others(self) -> Iterator[Difference]:
        """Yield each defect of a service; none is excused by having been there before."""
        known = {each.get("name") for each in self.old["defects"]}
        service = self.new["run"].get("service", "service")
        for each in self.new["defects"]:
            name = each.get("name")
            seen = "was there before" if name in known else "was not found before"
            words = f"has a defect, which {seen}: {name}: {each.get('seen', '')}"
            yield difference({"id": f"{service}: {name}"}, "refuted", words)

    def claim(self, entry: Raw) -> str:
        """Return epsilon and delta of one answer."""
        promised = self.promises(entry)
        return "" if math.inf in promised else f"({promised[0]:g}, {promised[1]:g})"

    def promises(self, entry: Raw) -> tuple[float, ...]:
        """Return epsilon and delta of one answer; infinite where nothing is claimed."""
        subject, repeated = entry["subject"], entry["repeated"] or {}
        claim = (subject or {}).get("claim") or (repeated if "epsilon" in repeated else None)
        if claim is None:
            return math.inf, math.inf
        return float(claim["epsilon"]), float(claim.get("delta", 0.0))

    def refuted(self, entry: Raw) -> Difference:
        """Say by what a claim is broken, with the largest certified loss."""
        subject, repeated = entry["subject"], entry["repeated"]
        bounds = [] if subject is None or subject["error"] is not None else list(broken(subject))
        if bounds:
            largest = max(float(each["lower"]) for each in bounds)
            words = f"guesses certify a loss of at least {_down(largest)}"
            if renyi := [each["renyi"] for each in bounds if "renyi" in each]:
                worst = max(renyi, key=lambda each: float(each["lower"]) / float(each["allowed"]))
                least, claimed = _down(worst["lower"]), worst["allowed"]
                words += f", and {renyi_name(worst)} of {least} where {claimed:g} is claimed"
        elif repeated is not None and outspent(repeated):
            rung = next(each for each in rungs_of(repeated) if each.get("broken"))
            largest = float(rung["lower"])
            words = f"{_answers(rung['m'])}: a certified loss of at least {_down(largest)}"
        else:
            words, largest = "", None
        return difference(entry, "refuted", f"the claim is broken: {words}", largest)

    @cached_property
    def again(self) -> dict[str, tuple[list[LossNumber], int, str]]:
        """Return the numbers of each entry that both records have; see `counted_again`."""
        return {
            name: counted_again(self.before[name], entry, self.tolerance, self.alpha)
            for name, entry in self.after.items()
            if name in self.before
        }

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Yield what is different of a subject: its claim, what could be seen, its numbers."""
        numbers, _, elsewhere = self.again[new["id"]]
        yield from self.restated(old, new)
        if old["told"] in (HELD, BROKEN) and new["told"] not in (HELD, BROKEN):
            words = (
                f"{new['told'] or 'nothing is known of its claim'}, and was {old['told']}: attack "
                "more --models, or more --transcripts"
            )
            yield difference(new, "blinder", words)
        counted = {each.place for each in _tallies(new, {}).values()}
        places = dict.fromkeys(each.place for each in _tallies(old, {}).values())
        gone = [place for place in places if place not in counted]
        if gone and not new["failed"]:
            yield difference(new, "blinder", f"is not attacked any more: {', '.join(gone)}")
        for kind in ("rose", "fell"):
            moved = [each for each in numbers if each.moved == kind]
            if moved:  # the clearest of them in words
                clearest = max(moved, key=lambda each: each.apart)
                how = f"with {percent(1 - 2 * self.alpha)} confidence"
                how = "computed from the exact laws" if clearest.exact else how
                size = clearest.after[0] if kind == "rose" else None
                yield difference(new, kind, f"{clearest.words}{_more(moved)}; {how}", size)
        if elsewhere:
            yield difference(new, "elsewhere", elsewhere)
        if words := _estimated(old, new):
            yield difference(new, "rose" if self.strict else "estimated", words)

    def rise_limits(self) -> Iterator[RiseLimit]:
        """Yield which rises would have been seen, of what is claimed if anything is.

        It says how many numbers could have shown one, and the smallest rise that one would show.
        """
        counted = [name for name, each in self.again.items() if each[1]]
        claimed = [name for name in counted if self.after[name]["told"] is not None]
        for name in claimed or counted:
            numbers, of, _ = self.again[name]
            could = [each for each in numbers if each.least < math.inf]
            best = min(could, key=lambda each: each.least, default=None)
            yield RiseLimit(
                id=name,
                quantity="nothing" if best is None else best.name,
                cells=len(could),
                of=of,
                before=(0.0, math.inf) if best is None else best.before,
                least=math.inf if best is None else best.least,
                noun="number",
            )


def _estimated(old: Raw, new: Raw) -> str:
    """Say which estimates rose: the area under a curve, whose 95 % interval lies above the old."""
    before, after = _areas(old), _areas(new)
    risen = [key for key in after if key in before and after[key][0] > before[key][1]]
    if not risen:
        return ""
    view, attack = max(risen, key=lambda key: after[key][0] - before[key][1])
    (low, high), was = after[view, attack], before[view, attack]
    return (
        f"an estimate rose, which certifies nothing: the AUC of {attack} in the view '{view}' "
        f"is in [{low:.3f}, {high:.3f}], and was in [{was[0]:.3f}, {was[1]:.3f}], at 95 % "
        f"each{_more(risen)}"
    )


def _more(risen: list[Any]) -> str:
    return f"; so did {len(risen) - 1} more" if len(risen) > 1 else ""


def _areas(entry: Raw) -> dict[tuple[str, str], tuple[float, float]]:
    subject = entry["subject"]
    return {
        (each["view"]["name"], each["attack"]): (float(each["auc_low"]), float(each["auc_high"]))
        for each in (() if subject is None or subject["error"] is not None else subject["outcomes"])
    }


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
    def moved(self) -> str:
        """Return which way it moved by more than the slack, beyond chance; empty if neither."""
        if lies_above(self.after, self.before, self.slack):
            return "rose"
        return "fell" if lies_above(self.before, self.after, self.slack) else ""

    @property
    def apart(self) -> float:
        """Return how far the limits are apart, in nats."""
        return max(self.after[0] - self.before[1], self.before[0] - self.after[1])

    @property
    def words(self) -> str:
        """Return what is compared, and how it stands."""
        now, was = (
            f"{low:.4g}"
            if low == high
            else f"from {_down(low)} to {'∞' if high == math.inf else written(high, 4, UP)}"
            for low, high in (self.after, self.before)
        )
        return f"{self.name}: {self.counts}the loss is {now}, and was {was}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLoss:
    """A certified number of one record: guesses by a rule, or repeated answers."""

    place: str  # the view, or the number of answers
    name: str
    shown: str  # its counts
    claimed: float
    delta: float
    event: Hashable = None  # what was counted; of guesses the rule says it
    exact: float | None = None
    limits: Callable[[float], Span]  # on the loss, with an error probability
    unlucky: Callable[[float, float], float]  # lower limit of a leak's 10 % least telling counts

    def against(self, old: CountedLoss, tolerance: float, alpha: float) -> LossNumber:
        """Compare the same number of two records, each with error probability alpha."""
        exact, slack = self.same_law(old), tolerance * old.claimed
        before, after = (
            (each.exact, each.exact) if exact and each.exact is not None else each.limits(alpha)
            for each in (old, self)
        )
        above = max(before[1], before[0] + slack)
        low, least = above, MOST_LEAK
        if exact:
            least = above
        elif above >= least or self.unlucky(least, alpha) <= above:
            least = math.inf
        while 1e-3 < least - low < math.inf:
            middle = (low + least) / 2
            seen = self.unlucky(middle, alpha) > above
            low, least = (low, middle) if seen else (middle, least)
        counts = "" if exact else f"{self.shown}, and {old.shown} before; "
        return LossNumber(
            name=old.name if "(line" in old.name else self.name,
            before=before,
            after=after,
            slack=slack,
            least=least,
            counts=counts,
            exact=exact,
        )

    def same_law(self, old: CountedLoss) -> bool:
        """Return whether both records know the exact loss, at the same examined pairs or more."""
        return self.exact is not None and old.exact is not None


def counted_again(
    old: Raw, new: Raw, tolerance: float, alpha: float
) -> tuple[list[LossNumber], int, str]:
    """Return the numbers that both records have of an entry, out of how many, and what is new.

    The last says which number of the new record is larger, and was not counted before.
    """
    held = (old["subject"] or {}).get("outcomes", ())
    allowed = {each["view"]["name"]: each["allowed"] for each in held}
    mine, theirs = _tallies(old, allowed), _tallies(new, allowed)
    both = [(key, mine[key], theirs[key]) for key in mine if key in theirs]
    shared = {key: (a, b) for key, a, b in both if b.same_law(a) or a.event == b.event}
    share = alpha / max(1, sum(not b.same_law(a) for a, b in shared.values()))
    numbers = [b.against(a, tolerance, share) for a, b in shared.values()]
    elsewhere = ""
    for key, now in theirs.items():
        alike = [a for a in mine.values() if (a.place, a.delta) == (now.place, now.delta)]
        if key in shared or not alike or elsewhere:
            continue
        limits = [each.limits(share) for each in alike]
        worst, least = tuple(map(max, zip(*limits, strict=True))), now.limits(share)[0]
        if least > worst[1]:
            elsewhere = (
                f"{now.name}: the loss is at least {_down(least)}, which was not counted before: "
                "that it rose is not certified"
            )
    return numbers, len(mine), elsewhere


def _tallies(entry: Raw, allowed: Raw) -> dict[Hashable, CountedLoss]:
    """Return all that a record counts of an entry, by what makes it the same in two records.

    Those are guesses with bounds of their own, guesses counted anew, and repeated answers;
    `allowed` is what the answers of a view may lose.
    """
    subject, repeated = entry["subject"], entry["repeated"]
    found: dict[Hashable, CountedLoss] = {}
    targets = 0
    if subject is not None and subject["error"] is None:
        for bound in subject["certified"]:
            if bound["counts"] is None:
                continue
            # without guesses from fresh answers, of which other records may have another number
            counts, fresh = bound["counts"], bound.get("fresh", {})
            x, n1, y, n0 = (counts[name] - fresh.get(name, 0) for name in ("x", "n1", "y", "n0"))
            targets = n1 + n0
            line = f" (line {bound['line']})" if "line" in bound else ""
            key, tally = _guesses(bound, x + n0 - y, targets, line, allowed)
            found[key] = tally
        for told in subject.get("again", ()) if targets else ():
            found.setdefault(*_guesses(told, told["right"], targets, "", allowed))
    if repeated is not None and not repeated.get("error"):
        delta = float(repeated.get("delta", 0.0))
        for rung in rungs_of(repeated):
            if rung.get("counts") or "epsilon" in (rung.get("limits") or ()):
                pair = rung.get("losing") or repeated.get("reason", "")
                # losses at different delta of a single answer are different numbers
                found[rung["m"], delta] = _rung(rung, pair, delta)
    return found


def _guesses(
    held: Raw, right: int, targets: int, line: str, allowed: Raw
) -> tuple[Hashable, CountedLoss]:
    """Return guesses at target models by a rule, and what the rule is known by."""
    view, rule = held["view"], held["rule"]
    threshold, claim = float(rule["threshold"]), allowed.get(view) or {"epsilon": 0.0, "delta": 0.0}
    delta = float(claim["delta"])

    def unlucky(leak: float, alpha: float) -> float:
        right = int(quantile(1 - POWER, targets, tight_pair(leak, delta)[0]))
        return _of_rule(right, targets, delta, alpha)[0]

    side = "from" if rule["above"] else "below"
    tally = CountedLoss(
        place=view,
        name=f"right guesses at record {rule['record']}{line} in the view '{view}' (a member "
        f"{side} a share of {threshold:g})",
        shown=f"{right} of {targets}",
        claimed=float(claim["epsilon"]),
        delta=delta,
        limits=lambda alpha: _of_rule(right, targets, delta, alpha),
        unlucky=unlucky,
    )
    return (view, rule["record"], threshold, rule["above"]), tally


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


def _rung(rung: Raw, pair: str, delta: float) -> CountedLoss:
    """Return what a record counts, or computes, of a number of answers to one query.

    The smallest rise that would be seen is one of randomised response: counts at least as telling
    as those at the 5 % quantiles have probability 0.9.
    """
    counts: Raw = rung.get("counts") or {}
    law: Raw = rung.get("limits") or {}
    exact = float(law["epsilon"]) if "epsilon" in law else None
    loss, place = Ratio(min(1.0, rung["m"] * delta)), _answers(rung["m"])

    def limits(alpha: float) -> Span:
        return (
            (exact, exact) if exact is not None and not counts else _of_event(counts, loss, alpha)
        )

    def unlucky(leak: float, alpha: float) -> float:
        p1, p0 = tight_pair(leak, loss.delta)
        x, y = quantile(0.05, counts["n1"], p1), quantile(0.95, counts["n0"], p0)
        return _of_event({**counts, "x": int(x), "y": int(y)}, loss, alpha)[0]

    shown = "the event was seen {x} of {n1} and {y} of {n0} times" if counts else ""
    return CountedLoss(
        place=place,
        name=f"{place}, where {pair}" if counts else f"{place} at the worst pair examined",
        shown=shown.format_map(counts),
        claimed=float(rung.get("basic", 0.0)),
        delta=delta,
        event=_called(rung, pair) if counts and rung.get("event") else object(),
        exact=exact,
        limits=limits,
        unlucky=unlucky,
    )


def _called(rung: Raw, pair: str) -> Hashable:
    """Return what an event is known by: the answers that it calls, at its pair."""
    m, event = rung["m"], rung["event"]
    scores, threshold = [float(score) for score in event["scores"]], float(event["threshold"])
    calls: Sequence[float] = (*scores, threshold)
    if math.comb(m + len(scores) - 1, m) <= MOST_SUMS:
        totals = map(sum, combinations_with_replacement(scores, m))
        calls = [total >= threshold - NEAR for total in totals]
    return pair, event["from_base"], len(scores), tuple(calls)


def _of_event(counts: Raw, loss: Ratio, alpha: float) -> Span:
    """Return limits on the loss of an event; each limit on a chance has half of alpha."""
    p1 = _chance_limits(counts["x"], counts["n1"], alpha / 2)
    p0 = _chance_limits(counts["y"], counts["n0"], alpha / 2)
    low = max(0.0, float(loss.between(p1[0], p0[1]))) if p1[0] > 0 else 0.0
    return low, math.inf if p0[0] <= 0 else max(0.0, float(loss.between(p1[1], p0[0])))


def _answers(m: int) -> str:
    return "one answer" if m == 1 else f"{m} answers to one query"


def _down(bound: float | str) -> str:
    """Write a lower bound on a loss with four digits."""
    return written(float(bound), 4, DOWN)
