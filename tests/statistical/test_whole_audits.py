"""Whole audits, screening and choice of cells included.

False alarms on the boundary of the claim, and power beyond it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.mechanism import FunctionMechanism
from dpassay.pairs import FlipLabel, Pairs
from dpassay.stats.power import power, tight_pair
from dpassay.targets.groups import PairGroup
from tests.core.toys import response, target_of

ALPHA = 0.05
RECORDS, QUERIES = 4, 3
GROUP = PairGroup(
    pairs=Pairs(
        base=Labelled(np.zeros((RECORDS, 1)), np.zeros(RECORDS, dtype=int)),
        changes=tuple(FlipLabel(i) for i in range(RECORDS)),
        how="every label flipped",
    ),
    queries=points(np.arange(QUERIES)[:, None], "queries"),
    kind="data",
    reason="calibration",
)


def audit(truth: float, claim: float, seed: int, budget: int) -> Result:
    """Randomised response with a known loss, held against a claim at 95 % confidence."""
    mechanism = FunctionMechanism(function=response(truth), claims=(DP(epsilon=claim),))
    settings = Settings(
        mode="monte-carlo", seed=seed, confidence=1 - ALPHA, budget=budget, executor="inline"
    )  # thousands of them
    (result,) = assay([target_of(mechanism)], GROUP, settings)
    return result


def false_alarms(runs: int, claim: float, budget: int) -> tuple[int, int]:
    """Number of audits that refute a claim which holds, or bound it from too low above.

    The claim holds exactly, and their upper bound lies below it.
    """
    results = [audit(claim, claim, seed, budget) for seed in range(runs)]
    return sum(result.verdict == "refuted" for result in results), sum(
        result.upper < claim for result in results
    )


@pytest.mark.usefixtures("bounds_only")
@pytest.mark.parametrize("claim", [0.3, pytest.param(2.0, marks=pytest.mark.slow)])
def test_false_alarms_lie_in_the_exact_region(claim: float) -> None:
    runs = 200
    refuted, missed = false_alarms(runs, claim, budget=120)
    assert refuted <= binom.isf(0.01, runs, ALPHA / 2)
    assert missed <= binom.isf(0.01, runs, ALPHA / 2)


@pytest.mark.slow
@pytest.mark.usefixtures("bounds_only")
def test_false_alarms_of_a_thousand_audits() -> None:
    """At most 66 of 1,000 (STATISTICS section 7; the exact upper 1 % region begins at 68)."""
    runs = 1000
    assert binom.isf(0.01, runs, ALPHA) == 67
    refuted, missed = false_alarms(runs, 1.0, budget=300)
    assert refuted + missed <= 66


@pytest.mark.slow
def test_twice_the_claim_is_refuted() -> None:
    """At least as often as one certified cell's power says.

    By the exact region of its binomial law.
    """
    runs, budget = 60, 400
    expected = power(
        *tight_pair(2.0, 0.0), epsilon=1.0, delta=0.0, n=budget, alpha=ALPHA / 2 / QUERIES
    )
    assert expected > 0.99
    refuted = sum(audit(2.0, 1.0, seed, budget).verdict == "refuted" for seed in range(runs))
    assert refuted >= binom.ppf(0.01, runs, expected)


@pytest.mark.slow
def test_a_loss_at_detectable_is_refuted_nine_times_in_ten() -> None:
    runs, budget = 60, 400
    found = audit(1.0, 1.0, 0, budget).detectable
    assert 1.2 < found < 2.0
    refuted = sum(audit(found, 1.0, seed, budget).verdict == "refuted" for seed in range(runs))
    assert refuted >= binom.ppf(0.01, runs, 0.9)


def test_the_leak_is_seen_at_the_record_that_leaks() -> None:
    result = audit(2.0, 1.0, 0, 1000)
    assert result.evidence is not None
    assert {cell.pair for cell in result.evidence.cells} == {0}
