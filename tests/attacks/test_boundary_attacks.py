"""Certified bounds on boundary mechanisms: above the true loss no more often than they may be.

A mechanism that answers each record's membership bit by randomised response at epsilon loses
exactly epsilon; one that tells the bit outright with probability delta, and else does so, is
exactly (epsilon, delta)-private. The median bound reaches a stated share of epsilon, so that
validity is not bought with silence. The law of the bound of one run is enumerated in
twins/test_twin_one_run.py; here the whole path from answers to a bound is taken 1,000 times.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.experiment.certified import certify, exposed
from dpassay.attacks.experiment.models import toss
from dpassay.attacks.experiment.one_run import (
    guessed_at,
    largest_rejected,
    one_run,
    right_of_the_surest,
)
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS

REPETITIONS, ALPHA, MOST = 1000, 0.05, 66
"""STATISTICS, section 7."""


def respond(inside: Flags, epsilon: float, delta: float, rng: np.random.Generator) -> Flags:
    """Each bit, told outright with probability delta, else by randomised response at epsilon."""
    right = rng.random(inside.shape) < delta + (1 - delta) / (1 + math.exp(-epsilon))
    shown: Flags = inside == right
    return shown


def labels(shown: Flags) -> Observed:
    """One answer: the own label 1 where the bit that is shown is a member's."""
    return Observed(
        seen=np.stack([~shown, shown], axis=2).astype(float),
        y=np.ones(shown.shape[1], dtype=np.int64),
        m=1,
    )


def test_the_region() -> None:
    """P[Bin(1000, 0.05) > k] <= 1 % begins at k = 67; one less is asked for."""
    assert binom.sf(MOST + 1, REPETITIONS, ALPHA) <= 0.01 < binom.sf(MOST, REPETITIONS, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "number", "targets", "reached"),
    [
        (0.1, 0.0, 1, 400, 0.0),
        (1.0, 0.0, 1, 400, 0.75),
        (1.0, 0.0, 5, 400, 0.6),
        (0.5, 0.1, 1, 400, 0.4),
    ],
)
def test_records(epsilon: float, delta: float, number: int, targets: int, reached: float) -> None:
    """Rules from 32 references, bounds from the targets: any is wrong with alpha at most."""
    above, best = 0, []
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng([repetition, targets, number])
        mine = toss(32, 10, seed=repetition, who="reference", mirrored=True).membership
        theirs = rng.random((targets, 5)) < 0.5
        theirs = np.stack([theirs, ~theirs], axis=2).reshape(targets, 10)
        rules = exposed(labels(respond(mine, epsilon, delta, rng)), mine, number)
        found = certify(
            rules, labels(respond(theirs, epsilon, delta, rng)), theirs, delta=delta, alpha=ALPHA
        )
        assert sum(each.lower.alpha for each in found) == pytest.approx(ALPHA)
        best.append(max(each.lower.value for each in found))
        above += best[-1] > epsilon
    assert above <= MOST
    assert np.median(best) >= reached * epsilon


def guesses_of(shown: Flags, spoken: Flags) -> Array:
    """Scores, through attack and coins, of pairs of which only the first speaks, if at all."""
    first = np.where(spoken, np.where(shown, 1.0, 0.0), 0.5)
    own = np.stack([first, np.full(first.shape, 0.5)], axis=2).reshape(len(first), -1)
    seen = Observed(seen=np.stack([1 - own, own], axis=2), y=np.ones(own.shape[1], dtype=np.int64))
    scores = ATTACKS["loss-threshold"](seen, own > 0)(seen)
    return toss(len(first), own.shape[1], seed=0, who="shape").guesses(scores)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "at_once", "speaks", "reached"),
    [
        (1.0, 0.0, False, 0.5, 0.7),
        (1.0, 1e-5, False, 1.0, 0.75),
        (1.0, 0.01, True, 1.0, 0.0),
        (2.0, 0.001, True, 0.5, 0.5),
    ],
)
def test_one_run(
    epsilon: float, delta: float, at_once: bool, speaks: float, reached: float
) -> None:
    """Four models of 150 coins pooled as one run; it abstains from coins that say nothing."""
    models, coins, share = 4, 150, 0.9 * speaks
    each = guessed_at(share, coins)
    bound = lru_cache(maxsize=None)(
        partial(largest_rejected, r=models * each, delta=delta, m=models * coins, alpha=ALPHA)
    )
    bounds = []
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng([repetition, 7])
        heads = rng.random((models, coins)) < 0.5
        shown = respond(heads, epsilon, 0.0 if at_once else delta, rng)
        if at_once:
            shown = np.where(rng.random((models, 1)) < delta, heads, shown)
        guesses = guesses_of(shown, rng.random((models, coins)) < speaks)
        v = int(right_of_the_surest(guesses, heads)[:, :each].sum())
        bounds.append(bound(v))
    found = one_run(guesses, heads, share=share, alpha=ALPHA, delta=delta)
    assert (found.v, found.epsilon) == (v, bounds[-1])
    assert sum(value > epsilon for value in bounds) <= MOST
    assert np.median(bounds) >= reached * epsilon
