"""docs/findings.md on PATE, its relatives and the distance to instability is what is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP
from dpassay.engine.exact import any_size
from dpassay.mechanisms.relatives.pate_data_dependent import dependent_epsilon, log_moment, miss
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.noise import Noise
from dpassay.stats.divergence import privacy_loss
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE
from tests.docs.findings_pages import compared, printed, section, table


def worst(name: str, parameters: dict[str, Any], claim: int = 0) -> tuple[DP, float]:
    """A claim and the largest loss over all datasets of any size."""
    target = resolve(name, parameters)
    found, claimed = any_size(target, target.claims[claim]), target.claims[claim]
    assert found is not None
    assert isinstance(claimed, DP)
    return claimed, found.loss


@pytest.mark.parametrize("row", table("(pate|private-knn)", 6, many=13), ids=" ".join)
def test_votes(row: Any) -> None:
    name, gamma, r, K, *said = row
    claim, loss = worst(name, {"gamma": gamma, "k" if name == "private-knn" else "r": r, "K": K})
    assert tuple(said) == compared(claim.promised, loss)
    if K == "2" and r != "1":
        g, k = float(gamma), int(r)
        assert loss == pytest.approx(2 * g + math.log(1 - 2 * g / (2 + g * k)), rel=1e-12)


def test_three_votes_by_hand() -> None:
    none, one = (2 + 3 * math.log(2)) / 32, (2 + math.log(2)) / 8
    assert (f"{none:.5f}", f"{one:.5f}", f"{math.log(one / none):.4f}") == (
        "0.12748",
        "0.33664",
        "0.9710",
    )
    assert worst("pate", {"gamma": math.log(2), "r": 3})[1] == pytest.approx(
        math.log(one / none), rel=1e-12
    )


@pytest.mark.parametrize("row", table(r"by (\d+)", 4, many=6), ids=" ".join)
def test_leads(row: Any) -> None:
    lead, *said = row
    most = (25 + int(lead)) // 2
    noisy = NoisyMax(kind="laplace", scale=2.0)
    law = noisy.law(np.array([[most, 25 - most]])).log_p
    others = [noisy.law(np.array([[n, 25 - n]])).log_p for n in (most - 1, most + 1) if n <= 25]
    numbers = (
        miss(0.5, 2, int(lead)),
        dependent_epsilon(0.5, 2, int(lead), 1e-3),
        max(float(privacy_loss(law, other, 1e-3).value[0]) for other in others),
        worst("pate-data-dependent", {})[1],
    )
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.6f}", *numbers)
    if lead in ("25", "23"):
        assert PAGE.count(said[1]) >= 2


def test_back_from_a_neighbour_by_hand() -> None:
    q, other, c = 7 / (4 * math.e**5), 5 / (4 * math.e**3), math.e**2
    bound = math.log((1 - q) ** 2 / (1 - c * q) + c * q)
    assert bound == pytest.approx(log_moment(1.0, miss(1.0, 2, 5), 1), rel=1e-12)
    there = math.log((1 - q) ** 2 / (1 - other) + q**2 / other)
    back = math.log((1 - other) ** 2 / (1 - q) + other**2 / q)
    assert (f"{q:.6f}", f"{other:.6f}") == ("0.011791", "0.062234")
    assert (f"{bound:.4f}", f"{there:.4f}", f"{back:.4f}") == ("0.1457", "0.0427", "0.1975")
    assert all(number in PAGE for number in ("0.011791", "0.062234", "0.1457", "0.0427", "0.1975"))


@pytest.mark.parametrize(
    "row", table(r"(\d+)", 7, 5, section("PATE with Gaussian noise")), ids=" ".join
)
def test_gaussian(row: Any) -> None:
    sigma, delta, r, *said = row
    number = math.exp(-4) if delta == "0.0183156" else float(delta)
    parameters = {"sigma": float(sigma), "delta": number, "r": int(r)}
    printed_claim, _ = worst("pate-gaussian", parameters)
    holds, loss = worst("pate-gaussian", parameters, claim=1)
    assert f"{printed_claim.delta:g}" == delta
    loose, left = printed_claim.promised / holds.promised, holds.promised / loss
    numbers = printed_claim.promised, holds.promised, loss, loose, left
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f} {:.3f}", *numbers)


def test_the_profile_by_hand() -> None:
    unit = Noise(kind="gaussian", scale=1.0)
    found = float(unit.hockey_stick(np.asarray(math.sqrt(2)), np.asarray(3.352113)))
    assert f"{found:.6f}" == f"{math.exp(-4):.6f}" == "0.018316"


@pytest.mark.parametrize("row", table("(replacements|margin)", 8, many=10), ids=" ".join)
def test_distances(row: Any) -> None:
    names = ("distance", "r", "K", "epsilon", "delta")
    parameters = dict(zip(names, row[:5], strict=True))
    target = resolve("distance-to-instability", parameters)
    corrected = target.claims[1]
    assert isinstance(corrected, DP)
    needed, there = (least_delta(target, each) for each in (float(row[3]), corrected.epsilon))
    numbers = needed, corrected.epsilon, corrected.delta, there
    assert row[5:] == printed("{:.4g} {:g} {:.4g} {:.4g}", *numbers)
    assert there <= corrected.delta


def least_delta(target: Any, epsilon: float) -> float:
    """Largest sum of (P - e^epsilon Q)_+ over all moves of one vote, both ways."""
    known = target.reachable()
    assert known is not None
    p, (one, other) = np.exp(known.law.table), known.moves.T
    first, second = np.concatenate([one, other]), np.concatenate([other, one])
    return float(np.maximum(0.0, p[first] - math.exp(epsilon) * p[second]).sum(axis=1).max())


def test_the_margin_by_hand() -> None:
    assert f"{math.e * 0.001 / 2:.6f}" == "0.001359"
    assert worst("distance-to-instability", {"r": 2, "distance": "margin"})[1] == math.inf
    assert f"{worst('distance-to-instability', {'distance': 'margin'})[1]:.6f}" == "1.995030"
    assert "1.995030" in PAGE


def test_constants_that_no_paper_prints_are_said_to_be_ours() -> None:
    for name in ("distance-to-instability", "private-knn"):
        claim = resolve(name).claims[0]
        assert (claim.status, claim.source[:6]) == ("own", "ours: ")
    for name in ("pate", "pate-gaussian", "pate-data-dependent"):
        assert resolve(name).claims[0].status == "printed"
    assert "from memory" not in PAGE
