"""docs/findings.md on PATE and its relatives is held to what the code computes.

And on the distance to instability.
"""

from __future__ import annotations

import math
import re
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

NUMBER = r" \| ([\d.e-]+)"
VOTES = re.findall(r"^\| (pate|private-knn)" + NUMBER * 6 + r" \|$", PAGE, re.MULTILINE)
LEADS = re.findall(r"^\| by (\d+)" + NUMBER * 4 + r" \|$", PAGE, re.MULTILINE)
GAUSSIAN = re.findall(r"^\| (\d+)" + NUMBER * 7 + r" \|$", PAGE, re.MULTILINE)
DISTANCES = re.findall(r"^\| (replacements|margin)" + NUMBER * 8 + r" \|$", PAGE, re.MULTILINE)


def test_the_page_has_its_rows() -> None:
    assert (len(VOTES), len(LEADS), len(GAUSSIAN), len(DISTANCES)) == (13, 6, 5, 10)


def worst(name: str, parameters: dict[str, Any], claim: int = 0) -> tuple[DP, float]:
    """A claim and the largest loss over all datasets of any size."""
    target = resolve(name, parameters)
    found, claimed = any_size(target, target.claims[claim]), target.claims[claim]
    assert found is not None
    assert isinstance(claimed, DP)
    return claimed, found.loss


@pytest.mark.parametrize(("name", "gamma", "r", "K", "claimed", "true", "factor"), VOTES)
def test_votes(name: str, gamma: str, r: str, K: str, claimed: str, true: str, factor: str) -> None:
    claim, loss = worst(name, {"gamma": gamma, "k" if name == "private-knn" else "r": r, "K": K})
    assert f"{claim.promised:g}" == claimed
    assert f"{loss:.6f}" == true
    assert f"{claim.promised / loss:.3f}" == factor
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


@pytest.mark.parametrize(("lead", "q", "claimed", "true", "everywhere"), LEADS)
def test_leads(lead: str, q: str, claimed: str, true: str, everywhere: str) -> None:
    most = (25 + int(lead)) // 2
    noisy = NoisyMax(kind="laplace", scale=2.0)
    law = noisy.law(np.array([[most, 25 - most]])).log_p
    others = [noisy.law(np.array([[n, 25 - n]])).log_p for n in (most - 1, most + 1) if n <= 25]
    assert f"{miss(0.5, 2, int(lead)):.6f}" == q
    assert f"{dependent_epsilon(0.5, 2, int(lead), 1e-3):.6f}" == claimed
    assert f"{max(float(privacy_loss(law, other, 1e-3).value[0]) for other in others):.6f}" == true
    assert f"{worst('pate-data-dependent', {})[1]:.6f}" == everywhere
    if lead in ("25", "23"):
        assert PAGE.count(claimed) >= 2


def test_back_from_a_neighbour_by_hand() -> None:
    q, other, c = 7 / (4 * math.e**5), 5 / (4 * math.e**3), math.e**2
    bound = math.log((1 - q) ** 2 / (1 - c * q) + c * q)
    assert bound == pytest.approx(log_moment(1.0, miss(1.0, 2, 5), 1), rel=1e-12)
    there = math.log((1 - q) ** 2 / (1 - other) + q**2 / other)
    back = math.log((1 - other) ** 2 / (1 - q) + other**2 / q)
    assert (f"{q:.6f}", f"{other:.6f}") == ("0.011791", "0.062234")
    assert (f"{bound:.4f}", f"{there:.4f}", f"{back:.4f}") == ("0.1457", "0.0427", "0.1975")
    assert all(number in PAGE for number in ("0.011791", "0.062234", "0.1457", "0.0427", "0.1975"))


@pytest.mark.parametrize("row", GAUSSIAN, ids="-".join)
def test_gaussian(row: Any) -> None:
    sigma, delta, r, printed, corrected, true, loose, left = row
    number = math.exp(-4) if delta == "0.0183156" else float(delta)
    parameters = {"sigma": float(sigma), "delta": number, "r": int(r)}
    said, _ = worst("pate-gaussian", parameters)
    holds, loss = worst("pate-gaussian", parameters, claim=1)
    assert f"{said.delta:g}" == delta
    assert (f"{said.promised:.6f}", f"{holds.promised:.6f}", f"{loss:.6f}") == (
        printed,
        corrected,
        true,
    )
    assert (f"{said.promised / holds.promised:.3f}", f"{holds.promised / loss:.3f}") == (
        loose,
        left,
    )


def test_the_profile_by_hand() -> None:
    unit = Noise(kind="gaussian", scale=1.0)
    found = float(unit.hockey_stick(np.asarray(math.sqrt(2)), np.asarray(3.352113)))
    assert f"{found:.6f}" == f"{math.exp(-4):.6f}" == "0.018316"


@pytest.mark.parametrize("row", DISTANCES, ids="-".join)
def test_distances(row: Any) -> None:
    distance, r, K, epsilon, delta, needed, wider, enough, there = row
    target = resolve(
        "distance-to-instability",
        {"distance": distance, "r": r, "K": K, "epsilon": epsilon, "delta": delta},
    )
    corrected = target.claims[1]
    assert isinstance(corrected, DP)
    assert (f"{corrected.epsilon:g}", f"{corrected.delta:.4g}") == (wider, enough)
    assert f"{least_delta(target, float(epsilon)):.4g}" == needed
    assert f"{least_delta(target, corrected.epsilon):.4g}" == there
    assert least_delta(target, corrected.epsilon) <= corrected.delta


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


def test_the_third_bound_of_the_published_code_is_less_only_beyond_theorem_3() -> None:
    """2 gamma l against Theorem 3's bound, on both sides of q = 1 / (1 + e^(2 gamma))."""
    for gamma in (0.05, 0.5, 2.0):
        c = math.exp(2 * gamma)
        for q, sign in ((0.99 / (1 + c), -1), (1.01 / (1 + c), 1)):
            for l in (1, 5, 40):  # noqa: E741  (the paper's letter)
                bound = np.logaddexp(
                    math.log1p(-q) + l * (math.log1p(-q) - math.log1p(-c * q)),
                    math.log(q) + 2 * gamma * l,
                )
                assert sign * (bound - 2 * gamma * l) > 0


def test_constants_that_no_paper_prints_are_said_to_be_ours() -> None:
    for name in ("distance-to-instability", "private-knn"):
        claim = resolve(name).claims[0]
        assert (claim.status, claim.source[:6]) == ("own", "ours: ")
    for name in ("pate", "pate-gaussian", "pate-data-dependent"):
        assert resolve(name).claims[0].status == "printed"
    assert "from memory" not in PAGE
