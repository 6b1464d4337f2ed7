"""What the experiment spends (alpha, delta of m answers), and who may look at targets' coins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.attacks.experiment.certified import Rule, certify
from dpassay.attacks.experiment.metrics import roc
from dpassay.attacks.experiment.models import toss
from dpassay.attacks.experiment.outcomes import Attacked, beyond
from dpassay.attacks.experiment.power import composed
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.observed import Flags, Observed
from dpassay.attacks.scores import ATTACKS, Score
from dpassay.claims import DP, RDP, Profile, zCDP
from dpassay.cli.exit_codes import Exit, of_record
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
    spent = sum(run.alpha for run in runs if run is not None)
    spent += sum(
        bound.lower.alpha
        for each in found
        for bounds in each.certified.values()
        for bound in bounds
    )
    assert spent == pytest.approx(0.1)


def test_attacks_are_fitted_on_references_alone() -> None:
    spy = Spy()
    (found,) = attack(
        [Target(name="toy", subject=Toy(tells=0.3))], Design(references=4, targets=6), {"spy": spy}
    )
    mine = toss(4, E, seed=0, who="reference", mirrored=True).membership
    whole, halves = spy.given[::3], spy.given[1::3] + spy.given[2::3]
    assert (len(whole), len(halves)) == (2, 4)  # of two views
    assert all(np.array_equal(given, mine) for given in whole)
    assert all(
        any(np.array_equal(given, part) for part in (mine[:2], mine[2:])) for given in halves
    )
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
    claim = DP(epsilon=0.1)
    (found,) = attack(
        [Target(name="toy", subject=Toy(tells=1.0), claim=claim)],
        Design(references=16, targets=100),
    )
    assert max(bound.lower.value for bound in found.certified["8 labels"]) > 0.8
    assert code([found]) == Exit.REFUTED


def code(found: Sequence[Attacked]) -> int:
    return of_record(
        make_attack_record({"complete": True}, floor().records, found), allow_inconclusive=False
    )


def test_certified_counts_by_hand() -> None:
    """Rules of both directions, a share equal to the threshold, unequal numbers of members."""
    own = np.array([0.5, 0.5, 0.2, 0.8, 0.4])
    target = Observed(
        seen=np.stack([own, 1 - own], axis=1)[:, None, :], y=np.zeros(1, dtype=np.int64)
    )
    inside = np.array([True, False, False, True, True])[:, None]
    above, below = (Rule(record=0, threshold=0.5, above=way, expected=1.0) for way in (True, False))
    one, other = certify((above, below), target, inside, delta=0.0, alpha=0.1)
    for bound, counts in ((one, (2, 3, 1, 2)), (other, (1, 3, 1, 2))):
        found = bound.lower.counts
        assert found is not None
        assert (found.x, found.n1, found.y, found.n0) == counts
    assert one.lower.alpha == other.lower.alpha == 0.05


def test_certified_value_is_the_inverse_of_the_best_accuracy() -> None:
    """Of T right guesses of T: q^T = alpha, and q = (e^epsilon + delta) / (1 + e^epsilon)."""
    T, alpha = 40, 0.05
    own = np.tile([1.0, 0.0], T // 2)
    target = Observed(
        seen=np.stack([own, 1 - own], axis=1)[:, None, :], y=np.zeros(1, dtype=np.int64)
    )
    rule = Rule(record=0, threshold=1.0, above=True, expected=1.0)
    for delta in (0.0, 0.1, 0.4):
        (found,) = certify((rule,), target, own[:, None] == 1, delta=delta, alpha=alpha)
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
