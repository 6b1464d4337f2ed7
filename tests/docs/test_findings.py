"""docs/findings.md is held to what the code computes."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)
from dpassay.mechanisms.dwork_feldman_2018.interface import Interface
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.pairs import FlipLabel, Pairs
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS, compared, printed, table

BASE = r"([a-z-]+,\w=\d+)"


@pytest.mark.parametrize(
    "row", table(r"([a-z-]+) \| (\d) \| (\d+) \| (\d)", 2, many=12), ids=" ".join
)
def test_losses(row: Any) -> None:
    name, epsilon, size, *said = row
    letter = "T" if name == "projected-walk" else "r"
    mechanism = resolve(name, {"epsilon": float(epsilon), letter: int(size)}).mechanism
    result = audit(mechanism, mode="exact")
    assert result.evidence is not None
    assert result.exact is not None
    assert result.evidence.any_size is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)
    assert tuple(said) == compared(result.claim.promised, result.exact)
    refuted = name == "soft-majority-overview" and int(size) > 1
    assert result.verdict == ("refuted" if refuted else "not refuted")


def test_the_corrected_claim_is_not_refuted() -> None:
    mechanism = resolve("soft-majority-overview").mechanism
    assert audit(mechanism, claim=DP(epsilon=2.0), mode="exact").verdict == "not refuted"


@pytest.mark.parametrize("row", table(r"(index|label|sum) \| (8)", 5, many=3), ids=" ".join)
def test_ties(row: Any) -> None:
    ties, n, T, k, epsilon, *said = row
    walk = ProjectedWalk(epsilon=float(epsilon), T=int(T), ties=ties)
    last = int(ties == "label")
    data = Labelled(np.ones((int(n), 1)), np.array([1 - last] * 6 + [last] * 2))
    law = walk.distribution(walk.prepare(data), points([[1.0]], "queries"))
    wrong = law.p[0, 1 - data.y].mean()
    best_threshold = min(data.y.mean(), 1 - data.y.mean())
    bound = best_threshold + walk.excess_error(int(n), int(k))
    assert tuple(said) == printed("{:.6f} {:.6f}", wrong, bound)


@pytest.mark.parametrize("row", table(BASE, 5, many=6), ids=" ".join)
def test_basic_composition(row: Any) -> None:
    """True: m times the largest loss of the base, and the composed worst case of any size."""
    base, epsilon, m, *said = row
    name, _, parameter = base.partition(",")
    single = any_size(
        resolve(name, {"epsilon": epsilon, parameter[0]: parameter[2:]}), DP(epsilon=1.0)
    )
    target = resolve("interface", {"base": base, "epsilon": epsilon, "m": m})
    claimed, worst = target.claims[0].promised, any_size(target, target.claims[0])
    assert single is not None
    assert worst is not None
    assert worst.loss == pytest.approx(int(m) * single.loss, rel=1e-12)
    assert tuple(said) == compared(claimed, worst.loss)


@pytest.mark.parametrize("row", table(BASE, 8, many=6), ids=" ".join)
def test_composition_with_a_delta(row: Any) -> None:
    base, epsilon, m, delta, *said = row
    target = resolve("interface", {"base": base, "epsilon": epsilon, "m": m, "delta_prime": delta})
    basic, corrected = target.claims
    worst = any_size(target, corrected)
    assert worst is not None
    advanced = advanced_composition(float(epsilon), int(m), float(delta))
    assert tuple(said) == printed(
        "{:g} {:.6f} {:.6f} {:.6f} {:.3f}",
        basic.promised,
        advanced,
        corrected.promised,
        worst.loss,
        corrected.promised / worst.loss,
    )


def test_the_hand_sized_composition() -> None:
    assert f"{optimal_composition(1.0, 2, 0.01):.3f}" == "1.981"
    assert f"{advanced_composition(1.0, 2, 0.01):.3f}" == "7.728"


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


@pytest.mark.parametrize(
    ("adversary", "loss"), table("(repeat|sweep|adaptive|any)", 1, many=4), ids=str
)
def test_the_worst_adversary_need_not_repeat(adversary: str, loss: str) -> None:
    if adversary == "any":
        most, unit = float(loss), 5e-7
        assert least_delta(2.0, most + unit, r=3, m=2) <= 0.07
        assert least_delta(2.0, most - unit, r=3, m=2) > 0.07
        return
    claim = DP(epsilon=4.0, delta=0.07)
    base = "soft-majority,r=3,learner=nearest"
    target = resolve("interface", {"base": base, "epsilon": 2.0, "m": 2, "adversary": adversary})
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
