"""The tables on noise in docs/findings.md are held to what the code computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.api import audit
from dpassay.engine.exact import any_size
from dpassay.mechanisms.dwork_feldman_2018.stable_gaussian import StableGaussian
from dpassay.noise import Noise
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import compared, printed, table

UNIT = Noise(kind="gaussian", scale=1.0)


@pytest.mark.parametrize("row", table(r"([\d.]+) \| (\d+) \| (0\.\d{6})", 1, many=4), ids=" ".join)
def test_the_second_claim_of_corollary_4_7(row: Any) -> None:
    """It is that of the r in force, the true loss of any size, and no more than the limit."""
    epsilon, r, *said = row
    target = resolve("noisy-average", {"epsilon": epsilon, "r": r})
    corrected, worst, at_most = target.claims[1], any_size(target, target.claims[1]), float(epsilon)
    most = math.log(2 * at_most + math.exp(-at_most))
    assert worst is not None
    assert corrected.promised == pytest.approx(worst.loss, abs=1e-12)
    assert tuple(said) == printed("{:.6f} {:.6f}", corrected.promised, most)
    assert corrected.promised <= most + 1e-12 < at_most


def excess(epsilon: float, delta: float) -> float:
    """How much more delta the classic noise needs at epsilon than it is made for."""
    shift = epsilon / math.sqrt(2 * math.log(1.25 / delta))
    return float(UNIT.hockey_stick(np.asarray(shift), np.asarray(epsilon))) - delta


@pytest.mark.parametrize(("delta", "epsilon"), table(r"([\de.-]+) \| (\d\.\d{3})", 0, many=7))
def test_where_the_classic_gaussian_fails(delta: str, epsilon: str) -> None:
    """Nowhere on a grid below, and everywhere on one above."""
    at = float(epsilon)
    assert excess(at - 5e-4, float(delta)) < 0 < excess(at + 5e-4, float(delta))
    assert all(excess(below, float(delta)) < 0 for below in np.arange(0.25, at - 5e-4, 0.25))
    assert all(excess(above, float(delta)) > 0 for above in np.arange(at + 5e-4, 60, 0.25))


def test_the_classic_gaussian_nowhere_fails_below() -> None:
    for delta in (*np.logspace(-12, -1, 12), *np.arange(0.1, 0.99, 0.01), 0.999):
        assert all(excess(epsilon, float(delta)) < 0 for epsilon in np.arange(0.03, 3.79, 0.05))


def test_the_classic_gaussian_by_hand() -> None:
    root = math.sqrt(2 * math.log(125))
    shift = 7 / root
    assert (f"{root:.4f}", f"{shift:.4f}") == ("3.1075", "2.2526")
    terms = ndtr(shift / 2 - root), math.exp(7) * ndtr(-shift / 2 - root)
    assert [f"{term:.5f}" for term in (*terms, terms[0] - terms[1])] == [
        "0.02378",
        "0.01260",
        "0.01119",
    ]
    result = audit(
        StableGaussian(epsilon=7.0, delta=0.01, r=1, calibration="classic"), mode="exact"
    )
    assert (f"{result.exact:.6f}", result.claim.status, result.verdict) == (
        "7.098761",
        "own",
        "refuted",
    )
    assert "does not cover epsilon >= 1" in result.claim.source
    below = StableGaussian(epsilon=0.99, calibration="classic").claims[0]
    assert (below.status, "speak" in below.source) == ("printed", False)


@pytest.mark.parametrize("row", table("([a-z-]+) \\| ([a-z]+=[^|]+)", 3, many=15), ids=" ".join)
def test_row(row: Any) -> None:
    name, parameters, *said = row
    given = dict(part.split("=") for part in parameters.split(","))
    result = audit(resolve(name, given).mechanism, mode="exact")
    assert result.exact is not None
    assert tuple(said) == compared(result.claim.promised, result.exact)
    assert result.verdict == ("refuted" if float(said[-1]) < 1 else "not refuted")
