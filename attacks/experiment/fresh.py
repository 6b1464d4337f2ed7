"""More guesses at the coins of the chosen records, from fresh answers at a fixed pair.

A claim about one answer holds at every pair of training sets that differ in one record. So the
other coins may be tossed once: the mechanism is prepared with the record and with its partner
instead, and asked again for every guess, with coins of its own and a fair coin that says which of
the two training sets it is. Such a guess is right with no larger probability than one at a target
model, and costs an answer instead of a training. Both kinds are counted together: whatever came
before, each is right with at most that probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.certified import Rule
from dpassay.attacks.experiment.coins import Coins, toss
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RenyiClaim,
    guesses_to_certify,
    renyi_claim,
)
from dpassay.attacks.experiment.subjects import Protected, Subject, View
from dpassay.attacks.observed import Array
from dpassay.claims import DP
from dpassay.seeds import stream
from dpassay.stats.bounds import Counts
from dpassay.targets.groups import Progress, silent
from dpassay.trials.threads import one_thread

AT_ONCE = 10_000
"""Answers of a call."""
LEAST, MOST = 20_000, 100_000
"""Answers about a record: what its claim takes if that is at most MOST, LEAST otherwise."""
LARGEST = 30.0
"""Losses above it are not planned for: more than ten million guesses certify less."""


def asked_again(subject: Subject, claim: DP | None) -> View | None:
    """Return the view that fresh answers are asked for in: that of the fewest answers.

    None where there are none: without a claim, and of what does not answer labels, makes one answer
    a call, runs outside of Python, or draws coins of its own, which may be those of its training.
    """
    if claim is None or not isinstance(subject, Protected):
        return None
    light = subject.target.seeded and not subject.target.slow
    return subject.views[0] if light else None


def fresh_guesses(view: View, claim: DP, *, alpha: float, targets: int) -> int:
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
    view: View,
    rules: Sequence[Rule],
    number: int,
    progress: Progress = silent,
) -> tuple[Counts, ...]:
    """Guess at the coins of some records from fresh answers, `number` times each.

    The rules must be chosen without looking at these answers; `view` says how a guess looks at
    the record itself. The counts say how often a rule guessed 'member' at the training set with
    the record (x of n1) and at the one without it (y of n0).
    """
    found, what = [], f"{subject.key[1]}: fresh answers"
    for done, rule in enumerate(rules, start=1):
        rng = stream(
            data.seed, "fresh answers", repr(subject.key), view.name, rule.record, *data.digest
        )
        inside = int(rng.binomial(number, 0.5))
        called = [
            int(rule.calls(_shares(subject, data, coins, view, rule.record, size, rng)).sum())
            for coins, size in zip(_pair(data, rule.record), (inside, number - inside), strict=True)
        ]
        found.append(Counts(x=called[0], n1=inside, y=called[1], n0=number - inside))
        progress(what, done, len(rules))
    return tuple(found)


def _pair(data: ExperimentData, record: int) -> tuple[Coins, Coins]:
    """Return the coins of two training sets: with a record, and with its partner instead."""
    one = toss(1, len(data.records), seed=data.seed, who="fresh answers").heads
    other = one.copy()
    one[0, record // 2] = record % 2 == 0
    other[0, record // 2] = record % 2 != 0
    return Coins(heads=one), Coins(heads=other)


def _shares(
    subject: Protected,
    data: ExperimentData,
    coins: Coins,
    view: View,
    record: int,
    number: int,
    rng: np.random.Generator,
) -> Array:
    """Return the share of the record's own label in a view, looked at so often (number,)."""
    m, own, point = view.m or 1, int(data.records.y[record]), data.points.X[record : record + 1]
    found, at_once = [np.empty(0)], max(1, AT_ONCE // m)
    with one_thread():  # as target models are trained
        state: Any = subject.target.prepare(data.training(coins, 0))
        for first in range(0, number, at_once):
            some = min(at_once, number - first)
            answers = subject.target.sample(state, point, some * m, rng, "a fixed training set")
            found.append((answers.reshape(some, m) == own).mean(axis=1))
    return np.concatenate(found)
