"""docs/findings.md on errors of the projected walk is held to what the code computes."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.data import Labelled
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import Ties, Traversed
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_error import ProjectedWalkError
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk import ProjectedWalkRisk
from dpassay.mechanisms.dwork_feldman_2018.unions import least_error
from tests.docs.findings_pages import FINDINGS as PAGE

NUMBER = r" \| ([\d.]+)"
RISKS = re.findall(
    rf"^\| (label|index|sum) \| (0\.\d+) \| (0\.\d+){NUMBER * 4} \|$", PAGE, re.MULTILINE
)
BELOW = re.findall(rf"^\| (one|two|nine) \| (below|up-to){NUMBER * 6} \|$", PAGE, re.MULTILINE)
NINE = [1, 0, 1, 0, 1, 0, 0, 1, 1]


def test_the_page_has_its_rows() -> None:
    assert (len(RISKS), len(BELOW)) == (4, 6)


@pytest.mark.parametrize(("ties", "epsilon", "alpha", "T", "n", "error", "bound"), RISKS)
def test_theorem_5_3(
    ties: Ties, epsilon: str, alpha: str, T: str, n: str, error: str, bound: str
) -> None:
    mechanism = ProjectedWalkRisk(ties=ties, epsilon=float(epsilon), alpha=float(alpha))
    assert (str(mechanism.T), str(mechanism.n)) == (T, n)
    one, four = np.array([1]), np.array([4])
    assert f"{mechanism.expected_error(one, four):.6f}" == error
    assert (
        f"{math.exp(float(epsilon)) * (least_error(one, four, 1) / 5 + float(alpha)):.6f}" == bound
    )
    assert (float(error) > float(bound)) is (ties == "label")


def test_theorem_5_3_by_hand() -> None:
    assert binom.cdf(23, 719, 0.2) < 1e-28
    assert f"{0.8 * expit(3) + 0.2 * expit(-3):.4f}" == "0.7715"
    assert f"{math.exp(0.5) * 0.3:.4f}" == "0.4946"


@pytest.mark.parametrize(("where", "traversed", "n", "T", "k", "epsilon", "error", "bound"), BELOW)
def test_points_smaller_than_x(
    where: str, traversed: Traversed, n: str, T: str, k: str, epsilon: str, error: str, bound: str
) -> None:
    mechanism = ProjectedWalkError(
        n=int(n), T=int(T), k=int(k), epsilon=float(epsilon), traversed=traversed
    )
    x, y = {
        "one": ([1] * 7, [1] * 7),
        "two": ([1, 2, 2, 2], [0, 1, 1, 1]),
        "nine": (list(range(9)), NINE),
    }[where]
    best = 3 / 9 if where == "nine" else 0
    assert f"{mechanism.prepare(Labelled(np.array(x)[:, None], np.array(y))) + best:.6f}" == error
    assert f"{mechanism.claims[0].promised + best:.6f}" == bound
    assert (float(error) > float(bound)) is (traversed == "below")


@pytest.mark.parametrize("epsilon", [12.0, 60.0])
def test_no_fewer_than_nine_different_points(epsilon: float) -> None:
    for n in range(1, 10):
        mechanism = ProjectedWalkError(n=n, T=1, epsilon=epsilon, traversed="below")
        x = np.arange(float(n))[:, None]
        worst = max(
            mechanism.prepare(Labelled(x, np.array(y))) for y in itertools.product((0, 1), repeat=n)
        )
        assert (worst > mechanism.claims[0].promised) is (n == 9)
