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
from tests.docs.findings_pages import FINDINGS, compared, printed, table


@pytest.mark.parametrize("row", table(r"subsampled \| ([a-z-]+,r=\d+)", 8, many=10), ids=" ".join)
def test_lemma_5(row: Any) -> None:
    base, epsilon, n, size, *said = row
    share, loss = int(size) / int(n), float(epsilon)
    target = resolve("subsampled", {"base": base, "epsilon": loss, "n": int(n), "eta": share})
    worst = any_size(target, DP(epsilon=1.0))
    assert worst is not None
    lemma, corrected, true = 2 * loss * share, amplified(loss, share), worst.loss
    numbers = lemma, corrected, true, lemma / true, corrected / true
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f} {:.3f}", *numbers)
    claims = [claim.promised for claim in target.claims if claim.status == "printed"]
    assert claims == ([lemma] if loss < 1 else [])


def test_where_the_printed_constant_is_too_small() -> None:
    found = re.search(
        r"^\| eta \|(.*)\|\n\|[-|]*\|\n\| 2 epsilon eta fails for epsilon above \|(.*)\|$",
        FINDINGS,
        re.MULTILINE,
    )
    assert found is not None
    for share, root in zip(*(cells.split("|") for cells in found.groups()), strict=True):
        eta = float(share)
        above = brentq(lambda epsilon, eta=eta: amplified(epsilon, eta) - 2 * epsilon * eta, 1, 60)
        assert f"{above:.4f}" == root.strip()
    assert f"{brentq(lambda epsilon: math.expm1(epsilon) - 2 * epsilon, 1, 2):.4f}" == "1.2564"
    assert amplified(50, 0.5) < 50


def of_a_kept_order(n: int, size: int, k: int, epsilon: float, *, replaced: bool) -> float:
    """P[1] of the page's A' on a subset that keeps the order."""
    total = 0.0
    for a in range(k + 1):
        subsets = math.comb(n - a - 1, size - a) if a < k else math.comb(n - k, size - k)
        total += subsets * math.exp(-epsilon * (k - a + (replaced and a >= 1)))
    return total / math.comb(n, size) / 2


@pytest.mark.parametrize("row", table("kept", 7, many=3), ids=" ".join)
def test_the_order_of_t(row: Any) -> None:
    n, size, k = map(int, row[:3])
    epsilon, share = float(row[3]), size / n
    one, other = (of_a_kept_order(n, size, k, epsilon, replaced=each) for each in (False, True))
    loss, lemma, corrected = math.log(one / other), 2 * epsilon * share, amplified(epsilon, share)
    assert row[4:] == printed("{:.6f} {:.6f} {:.6f}", lemma, corrected, loss)
    assert loss > (corrected if n == 3 else lemma)


@pytest.mark.parametrize(
    "row", table(r"bagged \| (disjoint|subset)", 5, many=5, last=r" \| inf"), ids=" ".join
)
def test_bags(row: Any) -> None:
    how, r, n, *said = row
    mechanism = resolve("bagged", {"how": how, "r": int(r), "n": int(n)}).mechanism
    result = audit(mechanism, mode="exact")
    assert result.exact is not None
    assert result.measured is not None
    assert tuple(said) == compared(result.claim.promised, result.exact)
    assert result.measured.exact == math.inf
    more = [claim.status for claim in mechanism.claims[1:]]
    assert more == (["corrected"] if float(said[-1]) > 1.1 else [])


@pytest.mark.parametrize(
    "row", table(r"label-flip \| (corollary|overview)", 9, many=7), ids=" ".join
)
def test_flips(row: Any) -> None:
    calibration = row[0]
    epsilon, alpha, gamma = map(float, row[1:4])
    blocks = round(1 / gamma)
    assert 1 / blocks == pytest.approx(gamma, abs=1e-15)
    base = f"bagged,r={blocks}"
    parameters = {"calibration": calibration, "epsilon": epsilon, "alpha": alpha, "base": base}
    target = resolve("label-flip", parameters)
    worst, change = (any_size(target, target.claims[i]) for i in (0, -1))
    assert worst is not None
    assert change is not None
    largest = alpha * math.expm1(epsilon) / (1 - 2 * alpha)
    assert row[4:] == (
        *compared(target.claims[0].promised, worst.loss),
        *printed("{:.6f} {:.6f} {:.3f}", change.loss, largest, largest / gamma),
    )
    assert math.log1p((1 - 2 * alpha) * largest / alpha) == pytest.approx(epsilon)


@pytest.mark.parametrize(
    "row", table(r"label-flip \| (corollary|overview)", 6, many=5), ids=" ".join
)
def test_flips_above_one_half(row: Any) -> None:
    calibration, epsilon, alpha, r, *said = row
    spent, flips, base = float(epsilon), float(alpha), f"bagged,r={r}"
    parameters = {"calibration": calibration, "epsilon": spent, "alpha": flips, "base": base}
    target = resolve("label-flip", parameters)
    gamma = spent * flips * {"corollary": 0.5, "overview": 1.0}[calibration]
    worst = any_size(target, target.claims[0])
    assert worst is not None
    attained = math.log1p((2 * flips - 1) * gamma / (1 - flips))
    numbers = target.claims[0].promised, worst.loss, attained
    assert tuple(said) == printed("{:g} {:.6f} {:.6f}", *numbers)
    result = audit(target.mechanism, claim=target.claims[0], mode="exact")
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
