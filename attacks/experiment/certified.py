"""Certified loss of single records, by rules chosen on reference models and counted on targets.

Whether a record is in a target's training set is a fair coin, and the coins and the training of
different targets are independent. If what is seen of the record is (epsilon, delta)-differentially
private, a guess at its coin is right with probability at most (e^epsilon + delta) / (1 +
e^epsilon), and at most (1 + gamma) / 2 if it is gamma-stable, whatever the rule and the coins of
the other records. So the number of right guesses over T targets is at most Bin(T, that), and its
Clopper-Pearson limit bounds epsilon and gamma from below.

More guesses at the coins of the chosen records come from fresh answers. A claim about one answer
holds at every pair of training sets that differ in one record. So the other coins may be tossed
once: the mechanism is prepared with the record and with its partner instead, and asked again for
every guess, with coins of its own and a fair coin that says which of the two training sets it is.
Such a guess is right with no larger probability than one at a target model, and costs an answer
instead of a training. Both kinds are counted together: whatever came before, each is right with at
most that probability. There are as many as certify 85 % of a claim that is just kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.attacks.experiment.models import Coins, ExperimentData, toss
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RenyiClaim,
    composed,
    guesses_to_certify,
    renyi_claim,
)
from dpassay.attacks.experiment.subjects import ModelView, Protected, Subject
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.claims import DP
from dpassay.seeds import stream
from dpassay.stats.bounds import Bound, Counts, clopper_pearson_lower
from dpassay.targets.groups import Progress, silent
from dpassay.trials.threads import one_thread

METHOD = "guesses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the membership of one record is guessed; fixed before the targets are looked at."""

    record: int
    threshold: float  # of the share of the record's own label
    above: bool  # whether a member is guessed from the threshold on, else below it
    expected: float  # share of right guesses on the reference models: an estimate, biased upwards

    def calls(self, shares: Array, near: float = 0.0) -> Flags:
        """Return whether each share of the record's own label, shape (n,), is called a member's."""
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
    """Choose the records whose membership the reference models tell best, and their thresholds."""
    own = reference.own
    order = np.argsort(own, axis=0, kind="stable")
    shares: Array = np.take_along_axis(own, order, axis=0)
    inside: Flags = np.take_along_axis(membership, order, axis=0)
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
        share = alpha / len(rules)
        value = GuessClaim(delta=delta).certified(right, guesses, share)
        lower = Bound(value=value, alpha=share, method=METHOD, counts=counts)
        gamma = max(0.0, 2 * float(clopper_pearson_lower(right, guesses, share)) - 1)
        found.append(
            Certified(rule=rule, lower=lower, gamma=gamma, guesses=guesses, right=right, fresh=more)
        )
    return tuple(found)


def right_guesses(
    rules: Sequence[Rule], target: Observed, membership: Flags, *, near: float = 0.0
) -> Array:
    """Return, for each record (e,), how many guesses at its coin are right; 0 without a rule."""
    found, own = np.zeros(membership.shape[1]), target.own
    for rule in rules:
        called = rule.calls(own[:, rule.record], near)
        found[rule.record] = (called == membership[:, rule.record]).sum()
    return found


def chosen(rules: Sequence[Rule], number: int, columns: Mapping[str, Flags]) -> tuple[Rule, ...]:
    """Choose the rules that share the error probability of a view."""
    best = [next(rule for rule in rules if flags[rule.record]) for flags in columns.values()]
    return tuple(dict.fromkeys((*rules[:number], *best)))


AT_ONCE = 10_000
"""Answers of a call."""
LEAST, MOST = 20_000, 100_000
"""Answers about a record: what its claim takes if that is at most MOST, LEAST otherwise."""
LARGEST = 30.0
"""Losses above it are not planned for: more than ten million guesses certify less."""


def asked_again(subject: Subject, claim: DP | None) -> ModelView | None:
    """Return the view that fresh answers are asked for in: that of the fewest answers.

    None where there are none: without a claim, and of what does not answer labels, makes one answer
    a call, runs outside of Python, or draws coins of its own, which may be those of its training.
    """
    if claim is None or not isinstance(subject, Protected):
        return None
    light = subject.target.seeded and not subject.target.slow
    return subject.views[0] if light else None


def fresh_guesses(view: ModelView, claim: DP, *, alpha: float, targets: int) -> int:
    """Return how many guesses at one record are made besides those at the targets.

    With the targets they certify 85 % of the claim by the median, on randomised response, if
    this takes at most 100,000 answers; otherwise they use 20,000 answers. `alpha` is that of
    the bound of one record.
    """
    m = view.m or 1
    epsilon, delta = composed(claim, m)
    allowed = renyi_claim(claim, m) or GuessClaim(allowed=epsilon, delta=delta)
    needed = 0
    if isinstance(allowed, RenyiClaim) or (0 < epsilon <= LARGEST and delta < 1):
        needed = guesses_to_certify(allowed, alpha=alpha)
    if not 0 < needed * m <= MOST:
        needed = LEAST // m
    return max(0, needed - targets)


def guess_again(
    subject: Protected,
    data: ExperimentData,
    view: ModelView,
    rules: Sequence[Rule],
    number: int,
    progress: Progress = silent,
) -> tuple[Counts, ...]:
    """Guess at the coins of some records from fresh answers, `number` times each."""
    found, what, key = [], f"{subject.key[1]}: fresh answers", repr(subject.key)
    target, m = subject.target, view.m or 1
    heads = toss(1, len(data.records), seed=data.seed, who="fresh answers").heads
    for done, rule in enumerate(rules, start=1):
        record = rule.record
        own, point = int(data.records.y[record]), data.points.X[record : record + 1]
        rng = stream(data.seed, "fresh answers", key, view.name, record, *data.digest)
        inside, called = int(rng.binomial(number, 0.5)), [0, 0]
        # the training sets are the one with the record, and the one with its partner instead
        for side, size in enumerate((inside, number - inside)):
            coins = heads.copy()
            coins[0, record // 2] = (record + side) % 2 == 0
            with one_thread():  # as target models are trained
                state: Any = target.prepare(data.training(Coins(heads=coins), 0))
                for first in range(0, size, max(1, AT_ONCE // m)):
                    some = min(max(1, AT_ONCE // m), size - first)
                    answers = target.sample(state, point, some * m, rng, "a fixed training set")
                    shares = (answers.reshape(some, m) == own).mean(axis=1)
                    called[side] += int(rule.calls(shares).sum())
        found.append(Counts(x=called[0], n1=inside, y=called[1], n0=number - inside))
        progress(what, done, len(rules))
    return tuple(found)
