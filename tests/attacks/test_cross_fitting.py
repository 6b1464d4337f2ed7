"""The share of coins that the one-run audit guesses at is chosen on the reference models alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.special import expit

from dpassay.attacks.experiment.models import toss
from dpassay.attacks.experiment.one_run import (
    SHARES,
    CrossFitted,
    cross_fit,
    largest_rejected,
    one_run,
)
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS, Score, lira

ALPHA = 1e-6


@dataclass(frozen=True, slots=True)
class Spy:
    """The loss threshold, remembering what it was fitted on and what it scored."""

    seen: list[tuple[Flags, Array]] = field(default_factory=list)

    def __call__(self, reference: Observed, membership: Flags) -> Score:
        fitted = ATTACKS["loss-threshold"](reference, membership)

        def score(target: Observed) -> Array:
            self.seen.append((membership, target.own))
            return fitted(target)

        return score


def of(own: Array) -> Observed:
    return Observed(seen=np.stack([1 - own, own], axis=2), y=np.ones(own.shape[1], dtype=np.int64))


def responding(epsilons: Array, models: int, seed: int) -> CrossFitted:
    """Guesses at coins that are told by randomised response, the surest where most is told."""
    rng = np.random.default_rng(seed)
    heads = rng.random((models, len(epsilons))) < 0.5
    right = rng.random(heads.shape) < expit(epsilons)
    return CrossFitted(guesses=np.where(heads == right, 1, -1) * (1 + epsilons), heads=heads)


@pytest.mark.parametrize("references", [4, 5, 6, 7, 8, 64])
def test_each_half_is_guessed_at_by_an_attack_fitted_on_the_other(references: int) -> None:
    coins = toss(references, 8, seed=3, who="reference", mirrored=True)
    own = np.random.default_rng(references).random((references, 8))
    spy = Spy()
    found = cross_fit(spy, of(own), coins)
    rows = [row.tolist() for row in own]
    scored = [[rows.index(row.tolist()) for row in target] for _, target in spy.seen]
    assert sorted(i for part in scored for i in part) == list(range(references))
    for part, (membership, _) in zip(scored, spy.seen, strict=True):
        rest = [i for i in range(references) if i not in part]
        assert np.array_equal(membership, coins.membership[rest])
        assert not membership.all(axis=0).any()
        assert membership.any(axis=0).all()
    assert np.array_equal(found.guesses, coins.guesses(of(own).phi))
    assert np.array_equal(found.heads, coins.heads)


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_can_be_fitted_on_a_half_of_four(name: str) -> None:
    coins = toss(4, 8, seed=3, who="reference", mirrored=True)
    own = np.random.default_rng(0).random((4, 8))
    assert cross_fit(ATTACKS[name], of(own), coins).share(10, ALPHA) in SHARES


def test_an_attack_that_knows_its_models_by_heart_is_not_believed() -> None:
    """LiRA tells the four models that it was fitted on from their noise, and no others."""
    coins = toss(4, 400, seed=3, who="reference", mirrored=True)
    seen = of(np.random.default_rng(1).random((4, 400)))
    scores = lira(seen, coins.membership)(seen)
    by_heart = (coins.guesses(scores) >= 0) == coins.heads
    crossed = cross_fit(lira, seen, coins)
    assert by_heart.mean() > 0.75
    assert abs(((crossed.guesses >= 0) == crossed.heads).mean() - 0.5) < 0.1


@pytest.mark.parametrize(
    ("epsilons", "expected"),
    [
        (np.full(200, 1.0), {1.0}),
        (np.repeat([8.0, 0.0], [2, 198]), {0.02}),
        (np.repeat([3.0, 0.0], [20, 180]), {0.1}),
    ],
)
def test_as_many_coins_as_leak_are_guessed_at(epsilons: Array, expected: set[float]) -> None:
    found = {responding(epsilons, 64, seed).share(100, ALPHA) for seed in range(10)}
    assert found == expected


def test_the_share_is_the_one_whose_expected_bound_is_largest() -> None:
    epsilons = np.linspace(2.5, 0.0, 200)
    known = responding(epsilons, 64, 0)
    bounds = {}
    for share in SHARES:
        ran = one_run(known.guesses, known.heads, share=share, alpha=ALPHA)
        bounds[share] = largest_rejected(ran.v, ran.r, m=ran.m, alpha=ALPHA)
    assert known.share(64, ALPHA) == max(bounds, key=bounds.__getitem__)
    assert len(set(bounds.values())) == len(SHARES)
    few = np.arange(200) < 7
    assert known.of(few).heads.shape == (64, 7)


def test_ties_go_to_the_larger_share() -> None:
    known = CrossFitted(guesses=np.ones((4, 1)), heads=np.ones((4, 1), dtype=bool))
    assert known.share(10, ALPHA) == 1.0
