"""Fair coins, and who may look at them; what the experiment spends: alpha, delta of m answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpassay.attacks.experiment.certified import Rule, certify
from dpassay.attacks.experiment.metrics import roc
from dpassay.attacks.experiment.models import Coins, toss
from dpassay.attacks.experiment.outcomes import Attacked, beyond
from dpassay.attacks.experiment.power import composed
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.observed import Flags, Observed
from dpassay.attacks.scores import ATTACKS, Score
from dpassay.claims import DP, RDP, Profile, zCDP
from dpassay.cli.exit_codes import Exit, of_record
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.privacy_curves import ZeroConcentrated
from tests.attacks.toys import E, Toy, floor

LOSS = {"loss-threshold": ATTACKS["loss-threshold"]}


@dataclass(frozen=True, slots=True)
class Spy:
    """The loss threshold, remembering what it was fitted on."""

    given: list[Flags] = field(default_factory=list)

    def __call__(self, reference: Observed, membership: Flags) -> Score:
        self.given.append(membership)
        return ATTACKS["loss-threshold"](reference, membership)


def attack(targets: Sequence[Target], design: Design, attacks: Any = None) -> list[Attacked]:
    return list(experiment(targets, floor(), attacks or LOSS, design))


def test_all_that_is_certified_costs_one_alpha() -> None:
    """Whatever looks worst may be reported with its bound: all of them hold together."""
    targets = [Target(name=str(i), subject=Toy(tells=0.3, name=str(i))) for i in range(3)]
    attacks = dict.fromkeys(("a", "b"), ATTACKS["loss-threshold"])
    found = attack(targets, Design(references=4, targets=6, certified=2, confidence=0.9), attacks)
    runs = [outcome.one_run for each in found for outcome in each.outcomes]
    bounds = [bound for each in found for part in each.certified.values() for bound in part]
    spent = sum(run.alpha for run in runs if run is not None)
    assert spent + sum(bound.lower.alpha for bound in bounds) == pytest.approx(0.1)


def test_attacks_are_fitted_on_references_alone() -> None:
    spy, target = Spy(), Target(name="toy", subject=Toy(tells=0.3))
    (found,) = attack([target], Design(references=4, targets=6), {"spy": spy})
    mine = toss(4, E, seed=0, who="reference", mirrored=True).membership
    whole, halves = spy.given[::3], spy.given[1::3] + spy.given[2::3]
    assert (len(whole), len(halves)) == (2, 4)  # of two views
    assert all(np.array_equal(given, mine) for given in whole)
    parts = (mine[:2], mine[2:])
    assert all(any(np.array_equal(given, part) for part in parts) for given in halves)
    ran = found.outcomes[0].one_run
    assert ran is not None
    assert ran.m == 6 * E // 2


def test_bounds_are_held_against_the_same_delta_as_the_claim() -> None:
    """Eight answers tell with probability .75, (0.01, 0.1) of each allows .8: no cut at .5."""
    claim = DP(epsilon=0.01, delta=0.1)
    target = Target(name="toy", subject=Toy(tells=0.75, budgets=(8,)), claim=claim)
    assert composed(claim, 8) == pytest.approx((0.08, 0.8))
    (found,) = attack([target], Design(references=8, targets=250, certified=1, confidence=0.95))
    assert found.certified["8 labels"][0].lower.value <= 0.08
    assert code([found]) == Exit.NOTHING


@pytest.mark.parametrize("m", [1, 8])
@pytest.mark.parametrize("rho", [0.05, 0.5])
def test_a_curve_is_composed_and_read_where_it_allows_the_fewest_guesses(
    rho: float, m: int
) -> None:
    """By the naive twin: the Gaussian pair of m rho, and no point of the curve allows fewer."""
    epsilon, delta = composed(zCDP(rho), m)
    rate = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
    mu = math.sqrt(2 * m * rho)
    assert rate >= norm.cdf(mu / 2)  # what guesses reach against Gaussian noise of mu
    all_points = ZeroConcentrated(m * rho).points()
    rates = [(math.exp(e) + d) / (1 + math.exp(e)) for e, d in all_points if e > 0]
    assert rate == min(rates)
    basic, spent = m * zCDP(rho).epsilon, m * zCDP(rho).delta
    assert rate < (math.exp(basic) + spent) / (1 + math.exp(basic))


def test_curves_whose_composition_says_nothing_are_read_at_one_point() -> None:
    claim = zCDP(200.0)
    assert composed(claim, 8) == pytest.approx((8 * claim.epsilon, 8 * claim.delta))
    known = Profile([(1.0, 0.2), (2.0, 0.01)])
    assert composed(known, 8) == pytest.approx((16.0, 0.08))
    assert composed(RDP(2, 0.5), 1)[0] > 0


def test_a_delta_of_1_promises_nothing() -> None:
    claim = DP(epsilon=0.01, delta=0.2)
    target = Target(name="toy", subject=Toy(tells=1.0, budgets=(8,)), claim=claim)
    (found,) = attack([target], Design(references=16, targets=100))
    assert {bound.lower.value for bound in found.certified["8 labels"]} == {0.0}
    assert code([found]) == Exit.INCONCLUSIVE  # so that nothing could break it


def test_a_broken_claim_is_refuted() -> None:
    target = Target(name="toy", subject=Toy(tells=1.0), claim=DP(epsilon=0.1))
    (found,) = attack([target], Design(references=16, targets=100))
    assert max(bound.lower.value for bound in found.certified["8 labels"]) > 0.8
    assert code([found]) == Exit.REFUTED


def code(found: Sequence[Attacked]) -> int:
    record = make_attack_record({"complete": True}, floor().records, found)
    return of_record(record, allow_inconclusive=False)


def one_record(own: Any) -> Observed:
    """What models show of a single record, label 0."""
    seen = np.stack([own, 1 - own], axis=1)[:, None, :]
    return Observed(seen=seen, y=np.zeros(1, dtype=np.int64))


def test_certified_counts_by_hand() -> None:
    """Rules of both directions, a share equal to the threshold, unequal numbers of members."""
    target = one_record(np.array([0.5, 0.5, 0.2, 0.8, 0.4]))
    inside = np.array([True, False, False, True, True])[:, None]
    above, below = (Rule(record=0, threshold=0.5, above=way, expected=1.0) for way in (True, False))
    one, other = certify((above, below), target, inside, delta=0.0, alpha=0.1)
    for bound, counts in ((one, (2, 3, 1, 2)), (other, (1, 3, 1, 2))):
        found = bound.lower.counts
        assert found is not None
        assert (found.x, found.n1, found.y, found.n0) == counts
    assert one.lower.alpha == other.lower.alpha == 0.05
    assert (one.right, one.guesses) == (3, 5)


def test_certified_value_is_the_inverse_of_the_best_accuracy() -> None:
    """Of T right guesses of T: q^T = alpha, and q = (e^epsilon + delta) / (1 + e^epsilon)."""
    T, alpha = 40, 0.05
    own = np.tile([1.0, 0.0], T // 2)
    rule = Rule(record=0, threshold=1.0, above=True, expected=1.0)
    for delta in (0.0, 0.1, 0.4):
        (found,) = certify((rule,), one_record(own), own[:, None] == 1, delta=delta, alpha=alpha)
        grow = np.exp(found.lower.value)
        assert ((grow + delta) / (1 + grow)) ** T == pytest.approx(alpha, rel=1e-9)
        assert ((1 + found.gamma) / 2) ** T == pytest.approx(alpha, rel=1e-9)


def test_beyond_is_the_largest_excess_where_errors_are_frequent() -> None:
    members, others = np.arange(200.0) + 150, np.arange(200.0)
    curve = roc(members, others)
    worst = 0.0
    for cut in range(351):
        tpr, fpr = float((members >= cut).mean()), float((others >= cut).mean())
        if fpr * 200 >= 10 and (1 - tpr) * 200 >= 10:
            worst = max(worst, tpr - min(np.e * fpr, 1 - (1 - fpr) / np.e, 1.0))
    assert worst > 0
    assert beyond(curve, (1.0, 0.0), 200, 200) == pytest.approx(worst)


def test_coins_are_fair_pairs_of_a_fixed_size() -> None:
    coins = toss(200, 100, seed=3, who="target")
    assert coins.membership.shape == (200, 100)
    assert (coins.membership[:, 0::2] ^ coins.membership[:, 1::2]).all()
    assert np.array_equal(coins.membership[:, 0::2], coins.heads)
    assert {len(coins.rows(i)) for i in range(200)} == {50}
    n, heads = coins.heads.size, int(coins.heads.sum())
    assert binom.ppf(5e-4, n, 0.5) <= heads <= binom.isf(5e-4, n, 0.5)
    # neighbours agree half the time, in both directions: independence that a bound would miss
    for lag in (1, 2):
        for same in (
            coins.heads[lag:] == coins.heads[:-lag],
            coins.heads[:, lag:] == coins.heads[:, :-lag],
        ):
            assert binom.ppf(5e-4, same.size, 0.5) <= same.sum() <= binom.isf(5e-4, same.size, 0.5)


def test_one_coin_replaces_one_record_that_keeps_its_place() -> None:
    records = Labelled(np.arange(40.0)[:, None], np.zeros(40, dtype=np.int64))
    coins = toss(1, 40, seed=3, who="target")
    for pair in range(20):
        turned = coins.heads.copy()
        turned[0, pair] = ~turned[0, pair]
        rows = (each.rows(0) for each in (coins, Coins(heads=turned)))
        one, other = map(records.take, rows)
        differs = (one.X != other.X).any(axis=1)
        assert np.flatnonzero(differs).tolist() == [pair]


def test_references_have_coins_of_their_own_and_more_models_keep_the_first_ones() -> None:
    one, other = toss(50, 40, seed=3, who="target"), toss(50, 40, seed=3, who="reference")
    same = one.heads == other.heads
    assert binom.ppf(5e-4, same.size, 0.5) <= same.sum() <= binom.isf(5e-4, same.size, 0.5)
    for mirrored in (False, True):
        few, many = (toss(n, 40, seed=3, who="reference", mirrored=mirrored).heads for n in (7, 12))
        assert np.array_equal(few, many[:7])


def test_mirrored_coins_put_every_record_into_half_of_the_models() -> None:
    coins = toss(8, 40, seed=3, who="reference", mirrored=True)
    assert (coins.membership.sum(axis=0) == 4).all()
    assert np.array_equal(coins.heads[0::2], toss(8, 40, seed=3, who="reference").heads[0::2])


@pytest.mark.parametrize(("models", "e"), [(0, 4), (1, 3), (1, 0), (1.0, 4), (True, 4)])
def test_refused_coins(models: Any, e: Any) -> None:
    with pytest.raises(InvalidInput):
        toss(models, e, seed=0, who="target")
