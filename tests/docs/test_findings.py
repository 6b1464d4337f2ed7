"""docs/findings.md is held to what the code computes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.mechanisms.projected_walk import ProjectedWalk
from dpassay.targets import resolve

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
LOSSES = re.findall(r"^\| ([a-z-]+) \| (\d) \| (\d+) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
TIES = re.findall(r"^\| (index|sum) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)


def test_the_page_has_its_rows() -> None:
    assert len(LOSSES) == 12
    assert len(TIES) == 2


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
def test_ties(ties: str, n: str, T: str, k: str, epsilon: str, error: str, bound: str) -> None:
    walk = ProjectedWalk(epsilon=float(epsilon), T=int(T), ties="index" if ties == "index" else "sum")
    data = Labelled(np.ones((int(n), 1)), np.array([1] * 6 + [0] * 2))
    law = walk.distribution(walk.prepare(data), points([[1.0]], "queries"))
    wrong = law.p[0, 1 - data.y].mean()
    assert f"{wrong:.6f}" == error
    best_threshold = min(data.y.mean(), 1 - data.y.mean())
    assert f"{best_threshold + walk.excess_error(int(n), int(k)):.6f}" == bound
