"""The one-run audit: its p-value in fractions, its error, and the share of coins it guesses at."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.experiment.models import Coins, toss
from dpassay.attacks.experiment.one_run import (
    MOST,
    SHARES,
    CrossFitted,
    cross_fit,
    largest_rejected,
    one_run,
)
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS, Score, lira
from dpassay.errors import InvalidInput
from dpassay.stats.guesses import p_value
from tests.attacks.twins import twin_scores

DELTAS = (Fraction(0), Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 20), Fraction(1))


@pytest.mark.parametrize(("r", "m"), [(1, 1), (4, 9), (15, 15), (15, 60)])
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(11, 10), Fraction(3), Fraction(50)])
def test_p_value(r: int, m: int, growth: Fraction) -> None:
    for v, delta in product(range(r + 1), DELTAS):
        twin = twin_scores.p_value(v, r, growth, delta, m)
        found = p_value(v, r, epsilon=math.log(growth), delta=float(delta), m=m)
        assert found == pytest.approx(float(twin), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("r", [500, 5000])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_p_value_of_many_guesses(r: int, epsilon: float) -> None:
    """Where most tails are 0 or 1, which are left out: the theorem looks at each i in 1..v."""
    law = binom(r, 1 / (1 + math.exp(-epsilon)))
    for v in {1, r // 3, *law.ppf([0.001, 0.5, 0.999, 1 - 1e-12]).astype(int).tolist(), r}:
        i = np.arange(1, v + 1)
        between = law.cdf(v - 1) - law.cdf(v - i - 1)
        for delta in (1e-9, 1e-5, 0.01):
            twin = min(1.0, law.sf(v - 1) + 2 * r * delta * (between / i).max())
            found = p_value(v, r, epsilon=epsilon, delta=delta, m=r)
            assert found == pytest.approx(twin, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("delta", [0.0, 1e-4, 0.02])
def test_more_right_guesses_never_certify_less(delta: float) -> None:
    """So the bound exceeds epsilon from some v on, and one p-value bounds its probability."""
    for alpha in (0.001, 0.05):
        bounds = [largest_rejected(v, 20, delta=delta, m=50, alpha=alpha) for v in range(21)]
        assert bounds == sorted(bounds)
        for v, bound in enumerate(bounds):
            if 0 < bound < MOST:
                assert p_value(v, 20, epsilon=bound, delta=delta, m=50) <= alpha
                assert p_value(v, 20, epsilon=bound + 1e-6, delta=delta, m=50) > alpha


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize(("delta", "r"), [(0.0, 40), (0.01, 40), (0.0, 100), (1e-3, 60)])
def test_error_by_enumeration(epsilon: float, delta: float, r: int) -> None:
    """Boundary mechanisms: each coin exposed alone with probability delta, or all at once."""
    alpha = 0.05
    above = np.array(
        [largest_rejected(v, r, delta=delta, m=r, alpha=alpha) > epsilon for v in range(r + 1)]
    )
    q = 1 / (1 + math.exp(-epsilon))
    alone = binom.pmf(np.arange(r + 1), r, q + delta * (1 - q))
    at_once = (1 - delta) * binom.pmf(np.arange(r + 1), r, q)
    at_once[r] += delta
    for law in (alone, at_once):
        error = float(law[above].sum())
        assert error <= alpha
    if delta == 0:
        assert float(alone[above].sum()) > 0.02  # not by giving everything away


def test_ties_are_guessed_as_heads_and_the_surest_are_guessed() -> None:
    heads = np.array([[True, True, False, False]])
    guesses = np.array([[0.0, 3.0, -2.0, 0.5]])  # right, right, right, wrong
    nothing = np.zeros((1, 4))  # the first ones, whatever the coins are
    for made, truth, share, v, r in (
        (guesses, heads, 1.0, 3, 4),
        (guesses, heads, 0.5, 2, 2),
        (guesses, heads, 0.01, 1, 1),  # rounded up
        (nothing, heads, 0.5, 2, 2),
        (nothing, ~heads, 0.5, 0, 2),
    ):
        found = one_run(made, truth, share=share, alpha=0.1)
        assert (found.v, found.r) == (v, r)


def test_guesses_do_not_look_at_the_coins() -> None:
    rng = np.random.default_rng(0)
    guesses = rng.normal(size=(3, 10))
    heads = rng.random((3, 10)) < 0.5
    one, other = (one_run(guesses, each, share=0.3, alpha=0.1) for each in (heads, ~heads))
    assert one.r == other.r == 9
    assert one.v + other.v == 9  # the same guesses about turned coins


def test_equal_infinite_scores_are_a_tie() -> None:
    """Modified entropy is -inf of a tree that is wrong and sure; inf - inf is no number."""
    coins = Coins(heads=np.array([[True, True, True]]))
    scores = np.array([[-np.inf, -np.inf, np.inf, np.inf, -np.inf, 1.0]])
    assert coins.guesses(scores).tolist() == [[0.0, 0.0, -np.inf]]
    assert one_run(coins.guesses(scores), coins.heads, share=1.0, alpha=0.1).v == 2


def test_models_are_pooled_as_one_run_with_all_their_coins() -> None:
    rng = np.random.default_rng(1)
    heads = rng.random((6, 20)) < 0.5
    guesses = np.where(heads, 1.0, -1.0) * np.where(rng.random((6, 20)) < 0.8, 1, -1)
    pooled = one_run(guesses, heads, share=1.0, alpha=0.05, delta=1e-4)
    flat = one_run(guesses.reshape(1, -1), heads.reshape(1, -1), share=1.0, alpha=0.05, delta=1e-4)
    assert pooled == flat
    assert pooled.m == 120


@pytest.mark.parametrize("wrong", [
    *({"v": -1}, {"v": 6}, {"r": 0}, {"m": 4}, {"epsilon": -0.1}, {"epsilon": math.nan}),
    *({"delta": 1.1}, {"delta": -1e-9}),
])  # fmt: skip
def test_refused(wrong: dict[str, float]) -> None:
    right = {"v": 3, "r": 5, "epsilon": 1.0, "delta": 0.0, "m": 5}
    p_value(**right)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        p_value(**(right | wrong))  # type: ignore[arg-type]


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


@pytest.mark.parametrize("references", [4, 5, 7, 64])
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


@pytest.mark.parametrize(("epsilons", "expected"), [
    (np.full(200, 1.0), {1.0}),
    (np.repeat([8.0, 0.0], [2, 198]), {0.02}),
    (np.repeat([3.0, 0.0], [20, 180]), {0.1}),
])  # fmt: skip
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
