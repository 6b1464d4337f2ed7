"""docs/findings.md is held to what the code computes."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk, Ties
from dpassay.pairs import FlipLabel, Pairs
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE

LOSSES = re.findall(
    r"^\| ([a-z-]+) \| (\d) \| (\d+) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE
)
BASIC = re.findall(
    r"^\| ([a-z-]+,\w=\d+) \| ([\d.]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$",
    PAGE,
    re.MULTILINE,
)
COMPOSED = re.findall(r"^\| ([a-z-]+,\w=\d+)" + r" \| ([\d.]+)" * 8 + r" \|$", PAGE, re.MULTILINE)
ADVERSARIES = re.findall(r"^\| (repeat|sweep|adaptive|any) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
TIES = re.findall(
    r"^\| (index|label|sum) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$",
    PAGE,
    re.MULTILINE,
)


def test_the_page_has_its_rows() -> None:
    assert len(LOSSES) == 12
    assert len(TIES) == 3
    assert (len(BASIC), len(COMPOSED), len(ADVERSARIES)) == (6, 6, 4)


@pytest.mark.parametrize(("name", "epsilon", "size", "claimed", "true", "factor"), LOSSES)
def test_losses(name: str, epsilon: str, size: str, claimed: str, true: str, factor: str) -> None:
    letter = "T" if name == "projected-walk" else "r"
    mechanism = resolve(name, {"epsilon": float(epsilon), letter: int(size)}).mechanism
    result = audit(mechanism, mode="exact")
    assert result.evidence is not None
    assert result.exact is not None
    assert result.evidence.any_size is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)
    assert f"{result.exact:.6f}" == true
    assert f"{result.claim.promised:g}" == claimed
    assert f"{result.claim.promised / result.exact:.3f}" == factor
    refuted = name == "soft-majority-overview" and int(size) > 1
    assert result.verdict == ("refuted" if refuted else "not refuted")


def test_the_corrected_claim_is_not_refuted() -> None:
    mechanism = resolve("soft-majority-overview").mechanism
    assert audit(mechanism, claim=DP(epsilon=2.0), mode="exact").verdict == "not refuted"


@pytest.mark.parametrize(("ties", "n", "T", "k", "epsilon", "error", "bound"), TIES)
def test_ties(ties: Ties, n: str, T: str, k: str, epsilon: str, error: str, bound: str) -> None:
    walk = ProjectedWalk(epsilon=float(epsilon), T=int(T), ties=ties)
    last = int(ties == "label")
    data = Labelled(np.ones((int(n), 1)), np.array([1 - last] * 6 + [last] * 2))
    law = walk.distribution(walk.prepare(data), points([[1.0]], "queries"))
    wrong = law.p[0, 1 - data.y].mean()
    assert f"{wrong:.6f}" == error
    best_threshold = min(data.y.mean(), 1 - data.y.mean())
    assert f"{best_threshold + walk.excess_error(int(n), int(k)):.6f}" == bound


@pytest.mark.parametrize(("base", "epsilon", "m", "claimed", "true", "factor"), BASIC)
def test_basic_composition(
    base: str, epsilon: str, m: str, claimed: str, true: str, factor: str
) -> None:
    """True: m times the largest loss of the base, and the composed worst case of any size."""
    name, _, parameter = base.partition(",")
    single = any_size(
        resolve(name, {"epsilon": epsilon, parameter[0]: parameter[2:]}), DP(epsilon=1.0)
    )
    target = resolve("interface", {"base": base, "epsilon": epsilon, "m": m})
    worst = any_size(target, target.claims[0])
    assert single is not None
    assert worst is not None
    assert worst.loss == pytest.approx(int(m) * single.loss, rel=1e-12)
    assert f"{target.claims[0].promised:g}" == claimed
    assert f"{worst.loss:.6f}" == true
    assert f"{target.claims[0].promised / worst.loss:.3f}" == factor


@pytest.mark.parametrize("row", COMPOSED, ids="-".join)
def test_composition_with_a_delta(row: Any) -> None:
    base, epsilon, m, delta, basic, advanced, optimal, true, factor = row
    target = resolve("interface", {"base": base, "epsilon": epsilon, "m": m, "delta_prime": delta})
    printed, corrected = target.claims
    worst = any_size(target, corrected)
    assert worst is not None
    assert f"{printed.promised:g}" == basic
    assert f"{advanced_composition(float(epsilon), int(m), float(delta)):.6f}" == advanced
    assert f"{corrected.promised:.6f}" == optimal
    assert f"{worst.loss:.6f}" == true
    assert f"{corrected.promised / worst.loss:.3f}" == factor


def test_the_hand_sized_composition() -> None:
    assert f"{optimal_composition(1.0, 2, 0.01):.3f}" == "1.981"
    assert f"{advanced_composition(1.0, 2, 0.01):.3f}" == "7.728"
    c = math.e
    assert f"{math.log((1 - 1 / (1 + c) ** 2 - 0.01) / (1 - c**2 / (1 + c) ** 2)):.3f}" == "0.679"


@pytest.mark.parametrize(("adversary", "loss"), ADVERSARIES)
def test_the_worst_adversary_need_not_repeat(adversary: str, loss: str) -> None:
    claim, parameters = (
        DP(epsilon=4.0, delta=0.07),
        {"base": "soft-majority,r=3,learner=nearest", "epsilon": 2.0, "m": 2},
    )
    if adversary == "any":
        assert f"{worst_of_any_adversary(epsilon=2.0, r=3, delta=0.07):.6f}" == loss
        return
    target = resolve("interface", parameters | {"adversary": adversary})
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 0, 0, 1])
    pairs = Pairs(base=Labelled(X, y), changes=(FlipLabel(2),), how="record 2 flipped")
    found = audit(target.mechanism, claim=claim, pairs=pairs, queries=[[0.0], [1.0]])
    assert found.exact is not None
    if adversary != "repeat":
        assert f"{found.exact:.6f}" == loss
        return
    everywhere = any_size(target, claim)
    assert everywhere is not None
    assert f"{everywhere.loss:.6f}" == loss
    assert found.exact <= everywhere.loss + 1e-12


def worst_of_any_adversary(epsilon: float, r: int, delta: float) -> float:
    """Two answers, the move of votes chosen anew after the first.

    Bisection for the least epsilon at delta.
    """

    def one(votes: int) -> float:
        return 1 / (1 + math.exp(-epsilon * (2 * votes - r) / 2))

    ups = [(one(k), one(k + 1)) for k in range(r)]
    moves = ups + [(q, p) for p, q in ups]

    def least_delta(factor: float, left: int) -> float:
        """Largest P[E] - factor Q[E] that `left` more answers can reach."""
        if left == 0:
            return max(0.0, 1 - factor)
        return max(
            p * least_delta(factor * q / p, left - 1)
            + (1 - p) * least_delta(factor * (1 - q) / (1 - p), left - 1)
            for p, q in moves
        )

    low, high = 0.0, 2 * epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if least_delta(math.exp(middle), 2) > delta else (low, middle)
    return high
