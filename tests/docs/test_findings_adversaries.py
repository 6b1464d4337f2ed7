"""'Composition: the interface' in docs/findings.md: no adversary does worse than it says."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.interface import Interface
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS


def least_delta(epsilon: float, loss: float, r: int, m: int) -> float:
    """Largest P[E] - e^loss Q[E] of m answers, the move of votes chosen anew before each."""
    votes = np.arange(r + 1)
    one = 1 / (1 + np.exp(-epsilon * (2 * votes - r) / 2))
    p = np.concatenate([one[:-1], one[1:]])
    q = np.concatenate([one[1:], one[:-1]])

    def reached(factor: NDArray[np.float64], left: int) -> NDArray[np.float64]:
        if left == 0:
            return np.maximum(0.0, 1 - factor)
        yes = reached(np.multiply.outer(factor, q / p), left - 1)
        no = reached(np.multiply.outer(factor, (1 - q) / (1 - p)), left - 1)
        best: NDArray[np.float64] = np.max(p * yes + (1 - p) * no, axis=-1)
        return best

    return float(reached(np.array(math.exp(loss)), m))


def test_no_adversary_does_worse_at_the_catalogues_parameters() -> None:
    found = re.search(r"no Q does\s+worse than (1\.\d{6}) either", FINDINGS)
    assert found
    stated = float(found[1])
    target = resolve("interface", {})
    made = target.mechanism
    assert isinstance(made, Interface)
    assert made.base == "soft-majority,r=25,learner=logistic,partition=fixed"
    assert (made.epsilon, made.m, made.delta_prime) == (1.0, 3, 0.01)
    assert least_delta(1.0, stated - 1e-6, 25, 3) > 0.01 > least_delta(1.0, stated + 1e-6, 25, 3)
    worst = any_size(target, target.claims[1])
    assert worst is not None
    assert abs(worst.loss - stated) < 1e-6
    assert "the delta of the catalogue's own parameters too" in worst.argument


def test_the_same_induction_gives_the_number_for_two_answers() -> None:
    assert least_delta(2.0, 2.295221 - 1e-6, 3, 2) > 0.07 > least_delta(2.0, 2.295222, 3, 2)
