"""The overview's soft majority: its printed claim fails for r >= 2, twice the claim holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.soft_majority_overview import SoftMajorityOverview
from dpassay.targets.resolve import resolve


def test_log_odds_are_twice_those_of_the_theorem() -> None:
    """P[b] is proportional to e^(epsilon n_b), so ln(P[1] / P[0]) = epsilon (n_1 - n_0)."""
    mechanism = SoftMajorityOverview(epsilon=0.7, r=5)
    np.testing.assert_allclose(
        mechanism.logit(np.arange(6)), [0.7 * (k - (5 - k)) for k in range(6)], atol=1e-15
    )


@pytest.mark.parametrize("r", [1, 2, 3, 25, 101])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_worst_case_is_between_the_claim_and_twice_the_claim(epsilon: float, r: int) -> None:
    target = resolve("soft-majority-overview", {"epsilon": epsilon, "r": r})
    found = any_size(target, target.claims[0])
    assert found is not None
    expected = math.log((1 + math.exp(epsilon * r)) / (1 + math.exp(epsilon * (r - 2))))
    assert found.loss == pytest.approx(expected, abs=1e-12)
    assert found.loss - found.error <= 2 * epsilon
    assert (found.loss > epsilon * (1 + 1e-9)) == (r >= 2)


def test_the_refutation_of_the_printed_claim_is_expected() -> None:
    printed, corrected = resolve("soft-majority-overview").claims
    assert (printed.status, printed.expected, printed.promised) == ("printed", "refuted", 1.0)
    assert (corrected.status, corrected.expected, corrected.promised) == ("corrected", None, 2.0)
