"""Certified loss of single records.

The rule is chosen on the reference models, and counted on the targets.

Whether a record is in a target's training set is a fair coin, and the coins and the training of
different targets are independent. If what is seen of the record is (epsilon, delta)-differentially
private, a guess at its coin is right with probability at most (e^epsilon + delta) / (1 +
e^epsilon), and at most (1 + gamma) / 2 if it is gamma-stable, whatever the rule and the coins of
the other records. So the number of right guesses over T targets is at most Bin(T, that), and its
Clopper-Pearson limit bounds epsilon and gamma from below. Guesses from fresh answers at a fixed
pair of training sets are right with no larger probability, and are counted with them; see
`dpassay.attacks.experiment.fresh.answers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.stats.bounds import Bound, Counts, clopper_pearson_lower
from dpassay.stats.scales import Ratio

METHOD = "guesses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the membership of one record is guessed; fixed before the targets are looked at."""

    record: int
    threshold: float  # of the share of the record's own label
    above: bool  # whether a member is guessed from the threshold on, else below it
    expected: float  # share of right guesses on the reference models: an estimate, biased upwards

    def calls(self, shares: Array, near: float = 0.0) -> Flags:
        """Return whether each share of the record's own label, shape (n,), is called a member's.

        Shares so little below the threshold reach it, where it was rounded.
        """
        called: Flags = (shares >= self.threshold - near) == self.above
        return called


NONE = Counts(x=0, n1=0, y=0, n0=0)
"""No guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """Bounds for one record, both from the same guesses.

    `gamma` bounds from below how much the record changes the probability of the guess 'member',
    and so the stability of what is seen, at the same alpha.
    """

    rule: Rule
    lower: Bound  # of the loss in nats, at a delta
    gamma: float
    guesses: int
    right: int  # among the guesses
    fresh: Counts = NONE  # guesses from fresh answers, included above


def exposed(reference: Observed, membership: Flags, number: int) -> tuple[Rule, ...]:
    """Choose the records whose membership the reference models tell best, and their thresholds.

    The best comes first, and ties go to the first record. There may be fewer than `number`.
    """
    own = reference.own
    order = np.argsort(own, axis=0, kind="stable")
    shares, inside = (
        np.take_along_axis(own, order, axis=0),
        np.take_along_axis(membership, order, axis=0),
    )
    outside = ~inside
    # of the models before the k-th, with smaller or equal shares
    out_below: Array = np.cumsum(outside, axis=0) - outside
    in_from = inside.sum(axis=0) - (np.cumsum(inside, axis=0) - inside)
    # the reference coins need not be balanced, those to come are fair
    with np.errstate(invalid="ignore", divide="ignore"):
        # of the rule: member from the k-th share on
        right = (out_below / outside.sum(axis=0) + in_from / inside.sum(axis=0)) / 2
    right = np.where(np.isfinite(right), right, 0.5)
    cut = np.ones_like(inside)
    cut[1:] = shares[1:] > shares[:-1]  # a threshold cannot part equal shares
    either = np.where(cut, np.maximum(right, 1 - right), 0.0)
    place, records = either.argmax(axis=0), np.arange(own.shape[1])
    best = either[place, records]
    return tuple(
        Rule(
            record=record,
            threshold=float(shares[place[record], record]),
            above=bool(right[place[record], record] >= 0.5),
            expected=float(best[record]),
        )
        for record in np.argsort(-best, kind="stable")[:number].tolist()
    )


def certify(
    rules: Sequence[Rule],
    target: Observed,
    membership: Flags,
    *,
    delta: float,
    alpha: float,
    fresh: Sequence[Counts] = (),
) -> tuple[Certified, ...]:
    """Bound the losses of the chosen records from below in nats, jointly with error alpha.

    The targets need independent coins and independent training, and the rules must be chosen
    without looking at them. `delta` is that of all the answers in a share; at 1 nothing is
    promised, and the bounds are 0. `fresh` holds for each rule its guesses from fresh answers,
    whose number was fixed before anybody looked at them.
    """
    found, own = [], target.own
    for rule, more in zip(rules, fresh or [NONE] * len(rules), strict=True):
        called, inside = rule.calls(own[:, rule.record]), membership[:, rule.record]
        counts = Counts(
            x=int((called & inside).sum()) + more.x,
            n1=int(inside.sum()) + more.n1,
            y=int((called & ~inside).sum()) + more.y,
            n0=int((~inside).sum()) + more.n0,
        )
        right, guesses = counts.x + counts.n0 - counts.y, counts.n1 + counts.n0
        q = float(clopper_pearson_lower(right, guesses, alpha / len(rules)))
        value = max(0.0, float(Ratio(delta).between(q, 1 - q))) if q > 0 else 0.0
        lower = Bound(value=value, alpha=alpha / len(rules), method=METHOD, counts=counts)
        found.append(
            Certified(
                rule=rule,
                lower=lower,
                gamma=max(0.0, 2 * q - 1),
                guesses=guesses,
                right=right,
                fresh=more,
            )
        )
    return tuple(found)


def right_guesses(
    rules: Sequence[Rule], target: Observed, membership: Flags, *, near: float = 0.0
) -> Array:
    """Return, for each record (e,), how many guesses at its coin are right; 0 without a rule.

    There is at most one rule for each record. Shares up to `near` below a threshold count as
    reaching it, because thresholds may be rounded.
    """
    found, own = np.zeros(membership.shape[1]), target.own
    for rule in rules:
        called = rule.calls(own[:, rule.record], near)
        found[rule.record] = (called == membership[:, rule.record]).sum()
    return found


def chosen(rules: Sequence[Rule], number: int, columns: Mapping[str, Flags]) -> tuple[Rule, ...]:
    """Choose the rules that share the error probability of a view.

    These are the first `number` of the rules, which are sorted from the best on, and the best
    rule of each slice in `columns`.
    """
    best = [next(rule for rule in rules if flags[rule.record]) for flags in columns.values()]
    return tuple(dict.fromkeys((*rules[:number], *best)))
