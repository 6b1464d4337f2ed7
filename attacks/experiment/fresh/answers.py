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

from dpassay.attacks.experiment.certified import Rule
from dpassay.attacks.experiment.coins import Coins, toss
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.subjects import Protected, View
from dpassay.attacks.observed import Array
from dpassay.seeds import stream
from dpassay.stats.bounds import Counts
from dpassay.targets.groups import Progress, silent
from dpassay.trials.threads import one_thread

AT_ONCE = 10_000
"""Answers of a call."""


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
    others = toss(1, len(data.records), seed=data.seed, who="fresh answers").heads
    first = record % 2 == 0
    both = []
    for heads in (first, not first):
        mine = others.copy()
        mine[0, record // 2] = heads
        both.append(Coins(heads=mine))
    return both[0], both[1]


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
