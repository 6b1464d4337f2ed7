"""Theorem 1: the change that the row computes is that of the mechanism's corrected claim."""

from __future__ import annotations

import pytest

from dpassay.claims import Stability
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.theorems.dagan_feldman_2020.stable_learner import needed, stability


@pytest.mark.parametrize(("gamma", "n"), [(0.3, 401), (0.9, 10)])
def test_it_is_what_the_mechanism_claims(gamma: float, n: int) -> None:
    learner = StableLearner(gamma=gamma / 3, n=n, calibration="lemma7")
    (corrected,) = (each for each in learner.claims if each.status == "corrected")
    assert isinstance(corrected, Stability)
    assert stability(gamma, n).upper == pytest.approx(corrected.gamma, rel=1e-9)


def test_what_is_needed_grows_with_one_over_gamma() -> None:
    assert needed(0.1, 0.005) == pytest.approx(10 * needed(0.1, 0.05), rel=1e-3)
