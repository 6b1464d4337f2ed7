"""docs/findings.md on walks and Lemma 3.1 is held to what the code computes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.group import chained_delta, printed_delta
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_error import ProjectedWalkError
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import ProjectedWalkOverview
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk import ProjectedWalkRisk
from dpassay.mechanisms.dwork_feldman_2018.unions import least_error
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import compared, printed, table


@pytest.mark.parametrize("row", table("projected-walk-overview", 5, many=6), ids=" ".join)
def test_walks(row: Any) -> None:
    """The own worst pair, the reachable states and the closed form."""
    epsilon, alpha, *said = row
    mechanism = ProjectedWalkOverview(epsilon=float(epsilon), alpha=float(alpha))
    result = audit(mechanism, mode="exact")
    assert result.evidence is not None
    assert result.evidence.any_size is not None
    assert result.exact is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)
    assert result.exact == pytest.approx(mechanism.exact_loss(), abs=1e-12)
    assert tuple(said) == compared(result.claim.promised, result.exact)
    assert result.verdict == ("refuted" if float(said[-1]) < 1 else "not refuted")


def bias(labels: list[int]) -> float:
    """p after these labels, at the catalogue's parameters."""
    mechanism, x = ProjectedWalkOverview(), np.arange(len(labels), dtype=float)[:, None]
    state = mechanism.prepare(Labelled(x, np.array(labels)))
    return float(mechanism.distribution(state, points(x[-1:], "queries")).p[0, 1])


def test_the_walk_by_hand() -> None:
    seen = {
        "one": bias([1]),
        "zero": bias([0]),
        "down": bias([1, 0]),
        "up": bias([1, 0, 1]),
        "flipped": bias([1, 0, 0]),
    }
    expected = {
        "one": "0.9500",
        "zero": "0.1839",
        "down": "0.3495",
        "up": "0.9500",
        "flipped": "0.1286",
    }
    assert {name: f"{p:.4f}" for name, p in seen.items()} == expected
    assert f"{(1 - seen['zero']) / (1 - seen['one']):.2f}" == "16.32"
    assert f"{(1 - seen['flipped']) / (1 - seen['up']):.2f}" == "17.43"
    assert f"{math.log((1 - seen['flipped']) / (1 - seen['up'])):.3f}" == "2.858"


def test_small_steps_lose_thirty_eight_times_the_claim() -> None:
    assert ProjectedWalkOverview(epsilon=1e-7).exact_loss() / 1e-7 == pytest.approx(38, rel=1e-5)


@pytest.mark.parametrize("row", table(r"group \| ([a-z-]+,\w=\d+)", 5, many=7), ids=" ".join)
def test_groups(row: Any) -> None:
    base, epsilon, k, *said = row
    target = resolve("group", {"base": base, "epsilon": epsilon, "k": k})
    claimed, worst = target.claims[0].promised, any_size(target, target.claims[0])
    assert worst is not None
    assert tuple(said) == compared(claimed, worst.loss)


@pytest.mark.parametrize("row", table("group", 9, many=4), ids=" ".join)
def test_deltas(row: Any) -> None:
    k, epsilon, delta, *said = row
    base = f"stable-gaussian,delta={delta}"
    target = resolve("group", {"base": base, "epsilon": epsilon, "k": k})
    lemma, corrected = target.claims
    assert isinstance(lemma, DP)
    assert isinstance(corrected, DP)
    numbers = lemma.epsilon, lemma.delta, corrected.delta, lemma.delta / corrected.delta
    worst = [any_size(target, claim) for claim in (lemma, corrected)]
    losses = [each.loss for each in worst if each is not None]
    assert tuple(said) == printed("{:g} {:g} {:g} {:.3f} {:.6f} {:.6f}", *numbers, *losses)


def test_the_ladder_by_hand() -> None:
    assert chained_delta(2, math.log(2), 0.01) == pytest.approx(0.03)
    assert printed_delta(2, math.log(2), 0.01) == pytest.approx(0.04)


@pytest.mark.parametrize("row", table("(label|index|sum)", 6, many=7)[3:], ids=" ".join)
def test_theorem_5_3(row: Any) -> None:
    ties, epsilon, alpha, *said = row
    mechanism = ProjectedWalkRisk(ties=ties, epsilon=float(epsilon), alpha=float(alpha))
    one, four = np.array([1]), np.array([4])
    error = mechanism.expected_error(one, four)
    bound = math.exp(float(epsilon)) * (least_error(one, four, 1) / 5 + float(alpha))
    assert tuple(said) == printed("{} {} {:.6f} {:.6f}", mechanism.T, mechanism.n, error, bound)
    assert (error > bound) is (ties == "label")


@pytest.mark.parametrize("row", table(r"(one|two|nine) \| (below|up-to)", 6, many=6), ids=" ".join)
def test_points_smaller_than_x(row: Any) -> None:
    where, traversed, n, T, k, epsilon, *said = row
    mechanism = ProjectedWalkError(
        n=int(n), T=int(T), k=int(k), epsilon=float(epsilon), traversed=traversed
    )
    x, y = {
        "one": ([1] * 7, [1] * 7),
        "two": ([1, 2, 2, 2], [0, 1, 1, 1]),
        "nine": (list(range(9)), [1, 0, 1, 0, 1, 0, 0, 1, 1]),
    }[where]
    best = 3 / 9 if where == "nine" else 0
    error = mechanism.prepare(Labelled(np.array(x)[:, None], np.array(y))) + best
    bound = mechanism.claims[0].promised + best
    assert tuple(said) == printed("{:.6f} {:.6f}", error, bound)
    assert (error > bound) is (traversed == "below")


@pytest.mark.parametrize("epsilon", [12.0, 60.0])
def test_no_fewer_than_nine_different_points(epsilon: float) -> None:
    for n in range(1, 10):
        mechanism = ProjectedWalkError(n=n, T=1, epsilon=epsilon, traversed="below")
        x = np.arange(float(n))[:, None]
        worst = max(
            mechanism.prepare(Labelled(x, np.array(y))) for y in itertools.product((0, 1), repeat=n)
        )
        assert (worst > mechanism.claims[0].promised) is (n == 9)
