"""docs/findings.md on Lemma 5, bagging and Corollary 1 is held to what the code computes."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from scipy.optimize import brentq

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dagan_feldman_2020.subsampled import amplified
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE

NUMBER = r" \| ([\d.]+)"
LEMMA = re.findall(rf"^\| subsampled \| ([a-z-]+,r=\d+){NUMBER * 8} \|$", PAGE, re.MULTILINE)
ORDERS = re.findall(rf"^\| kept{NUMBER * 7} \|$", PAGE, re.MULTILINE)
BAGS = re.findall(rf"^\| bagged \| (disjoint|subset){NUMBER * 5} \| inf \|$", PAGE, re.MULTILINE)
FLIPS = re.findall(rf"^\| label-flip \| (corollary|overview){NUMBER * 9} \|$", PAGE, re.MULTILINE)
NOISY = re.findall(rf"^\| label-flip \| (corollary|overview){NUMBER * 6} \|$", PAGE, re.MULTILINE)
ROOTS = re.findall(
    r"^\| eta \|(.*)\|\n\|[-|]*\|\n\| 2 epsilon eta fails for epsilon above \|(.*)\|$",
    PAGE,
    re.MULTILINE,
)


def test_the_page_has_its_rows() -> None:
    assert (len(LEMMA), len(ORDERS), len(BAGS), len(FLIPS), len(NOISY), len(ROOTS)) == (
        10,
        3,
        5,
        7,
        5,
        1,
    )


@pytest.mark.parametrize("row", LEMMA, ids="-".join)
def test_lemma_5(row: Any) -> None:
    base, epsilon, n, size, printed, corrected, true, first, second = row
    share, loss = int(size) / int(n), float(epsilon)
    target = resolve("subsampled", {"base": base, "epsilon": loss, "n": int(n), "eta": share})
    worst = any_size(target, DP(epsilon=1.0))
    assert worst is not None
    assert f"{2 * loss * share:.6f}" == printed
    assert f"{amplified(loss, share):.6f}" == corrected
    assert f"{worst.loss:.6f}" == true
    assert f"{2 * loss * share / worst.loss:.3f}" == first
    assert f"{amplified(loss, share) / worst.loss:.3f}" == second
    assert [claim.promised for claim in target.claims if claim.status == "printed"] == (
        [2 * loss * share] if loss < 1 else []
    )


def test_where_the_printed_constant_is_too_small() -> None:
    ((shares, roots),) = ([cells.split("|") for cells in row] for row in ROOTS)
    for share, root in zip(shares, roots, strict=True):
        eta = float(share)
        found = brentq(lambda epsilon, eta=eta: amplified(epsilon, eta) - 2 * epsilon * eta, 1, 60)
        assert f"{found:.4f}" == root.strip()
    assert f"{brentq(lambda epsilon: math.expm1(epsilon) - 2 * epsilon, 1, 2):.4f}" == "1.2564"
    assert amplified(50, 0.5) < 50


def of_a_kept_order(n: int, size: int, k: int, epsilon: float, *, replaced: bool) -> float:
    """P[1] of the page's A' on a subset that keeps the order."""
    total = 0.0
    for a in range(k + 1):
        subsets = math.comb(n - a - 1, size - a) if a < k else math.comb(n - k, size - k)
        total += subsets * math.exp(-epsilon * (k - a + (replaced and a >= 1)))
    return total / math.comb(n, size) / 2


@pytest.mark.parametrize(("n", "size", "k", "epsilon", "printed", "corrected", "loss"), ORDERS)
def test_the_order_of_t(
    n: str, size: str, k: str, epsilon: str, printed: str, corrected: str, loss: str
) -> None:
    sizes, share = (int(n), int(size), int(k), float(epsilon)), int(size) / int(n)
    found = math.log(
        of_a_kept_order(*sizes, replaced=False) / of_a_kept_order(*sizes, replaced=True)
    )
    assert f"{found:.6f}" == loss
    assert f"{2 * float(epsilon) * share:.6f}" == printed
    assert f"{amplified(float(epsilon), share):.6f}" == corrected
    assert float(loss) > (float(corrected) if int(n) == 3 else float(printed))


def test_lemma_5_by_hand() -> None:
    assert amplified(math.log(2), 0.5) == pytest.approx(math.log(1.5))
    assert f"{math.log(1.5):.3f} {2 * math.log(2) * 0.5:.3f}" == "0.405 0.693"
    e = math.exp(-0.9)
    assert (
        f"{1 + e + e * e:.4f}/{e + 2 * e * e:.4f} = {(1 + e + e * e) / (e + 2 * e * e):.3f}"
        == "1.5719/0.7372 = 2.132"
    )
    assert f"{1 + 2 / 3 * math.expm1(0.9):.3f}" == "1.973"


@pytest.mark.parametrize(("how", "r", "n", "claimed", "true", "factor"), BAGS)
def test_bags(how: str, r: str, n: str, claimed: str, true: str, factor: str) -> None:
    mechanism = resolve("bagged", {"how": how, "r": int(r), "n": int(n)}).mechanism
    result = audit(mechanism, mode="exact")
    assert result.exact is not None
    assert result.measured is not None
    assert f"{result.claim.promised:g}" == claimed
    assert f"{result.exact:.6f}" == true
    assert f"{result.claim.promised / result.exact:.3f}" == factor
    assert result.measured.exact == math.inf
    assert [claim.status for claim in mechanism.claims[1:]] == (
        ["corrected"] if float(factor) > 1.1 else []
    )


@pytest.mark.parametrize("row", FLIPS, ids="-".join)
def test_flips(row: Any) -> None:
    calibration, epsilon, alpha, gamma, claimed, true, factor, after, most, saved = row
    blocks = round(1 / float(gamma))
    assert 1 / blocks == pytest.approx(float(gamma), abs=1e-15)
    target = resolve(
        "label-flip",
        {
            "calibration": calibration,
            "epsilon": float(epsilon),
            "alpha": float(alpha),
            "base": f"bagged,r={blocks}",
        },
    )
    worst, change = any_size(target, target.claims[0]), any_size(target, target.claims[-1])
    assert worst is not None
    assert change is not None
    assert f"{target.claims[0].promised:g}" == claimed
    assert f"{worst.loss:.6f}" == true
    assert f"{target.claims[0].promised / worst.loss:.3f}" == factor
    assert f"{change.loss:.6f}" == after
    largest = float(alpha) * math.expm1(float(epsilon)) / (1 - 2 * float(alpha))
    assert f"{largest:.6f}" == most
    assert f"{largest / float(gamma):.3f}" == saved
    assert math.log1p((1 - 2 * float(alpha)) * largest / float(alpha)) == pytest.approx(
        float(epsilon)
    )


def test_flips_by_hand() -> None:
    assert f"{math.log(1.4):.3f} {math.log(1.8):.3f}" == "0.336 0.588"
    assert (
        f"{0.1 * math.expm1(1) / 0.8:.3f} {0.1 + 0.8 * 0.215:.3f} {0.1 * math.e:.3f}"
        == "0.215 0.272 0.272"
    )


@pytest.mark.parametrize("row", NOISY, ids="-".join)
def test_flips_above_one_half(row: Any) -> None:
    calibration, epsilon, alpha, r, claimed, true, attained = row
    given = {
        "calibration": calibration,
        "epsilon": float(epsilon),
        "alpha": float(alpha),
        "base": f"bagged,r={r}",
    }
    target = resolve("label-flip", given)
    claim, flips = target.claims[0], float(alpha)
    gamma = float(epsilon) * flips * {"corollary": 0.5, "overview": 1.0}[calibration]
    worst = any_size(target, claim)
    assert worst is not None
    assert f"{claim.promised:g}" == claimed
    assert f"{worst.loss:.6f}" == true
    assert f"{math.log1p((2 * flips - 1) * gamma / (1 - flips)):.6f}" == attained
    result = audit(target.mechanism, claim=claim, mode="exact")
    assert result.verdict == ("refuted" if flips > 0.8 else "not refuted")


def test_flips_above_one_half_by_hand() -> None:
    """Three blocks, 9 flips of 10: label 1 from 3 to 2 votes of 3."""
    before, after = 1 - 0.9, 0.1 * 2 / 3 + 0.9 / 3
    assert f"{after:.4f} {math.log(after / before):.3f}" == "0.3667 1.299"
    target = resolve("label-flip-above-one-half")
    assert (target.parameters["alpha"], target.parameters["epsilon"]) == (0.9, 0.75)
    worst = any_size(target, target.claims[0])
    assert worst is not None
    assert worst.loss == pytest.approx(math.log(after / before), abs=1e-12)
