"""docs/findings.md on the overview's walk and Lemma 3.1 is held to what the code computes."""

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
from dpassay.mechanisms.dwork_feldman_2018.group import chained_delta, printed_delta
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_overview import ProjectedWalkOverview
from dpassay.targets.resolve import resolve
from tests.docs.findings_pages import FINDINGS as PAGE

NUMBER = r" \| ([\d.e-]+)"
WALKS = re.findall(rf"^\| projected-walk-overview{NUMBER * 5} \|$", PAGE, re.MULTILINE)
GROUPS = re.findall(rf"^\| group \| ([a-z-]+,\w=\d+){NUMBER * 5} \|$", PAGE, re.MULTILINE)
DELTAS = re.findall(rf"^\| group{NUMBER * 9} \|$", PAGE, re.MULTILINE)


def test_the_page_has_its_rows() -> None:
    assert (len(WALKS), len(GROUPS), len(DELTAS)) == (6, 7, 4)


@pytest.mark.parametrize(("epsilon", "alpha", "claimed", "true", "factor"), WALKS)
def test_walks(epsilon: str, alpha: str, claimed: str, true: str, factor: str) -> None:
    """The own worst pair, the reachable states and the closed form."""
    mechanism = ProjectedWalkOverview(epsilon=float(epsilon), alpha=float(alpha))
    result = audit(mechanism, mode="exact")
    assert result.evidence is not None
    assert result.evidence.any_size is not None
    assert result.exact is not None
    assert result.exact == pytest.approx(result.evidence.any_size.loss, abs=1e-12)
    assert result.exact == pytest.approx(mechanism.exact_loss(), abs=1e-12)
    assert f"{result.claim.promised:g}" == claimed
    assert f"{result.exact:.6f}" == true
    assert f"{result.claim.promised / result.exact:.3f}" == factor
    assert result.verdict == ("refuted" if float(factor) < 1 else "not refuted")


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


@pytest.mark.parametrize(("base", "epsilon", "k", "claimed", "true", "factor"), GROUPS)
def test_groups(base: str, epsilon: str, k: str, claimed: str, true: str, factor: str) -> None:
    target = resolve("group", {"base": base, "epsilon": epsilon, "k": k})
    worst = any_size(target, target.claims[0])
    assert worst is not None
    assert f"{target.claims[0].promised:g}" == claimed
    assert f"{worst.loss:.6f}" == true
    assert f"{target.claims[0].promised / worst.loss:.3f}" == factor


@pytest.mark.parametrize("row", DELTAS, ids="-".join)
def test_deltas(row: Any) -> None:
    k, epsilon, delta, total, printed, chained, factor, at_printed, at_chained = row
    target = resolve(
        "group", {"base": f"stable-gaussian,delta={delta}", "epsilon": epsilon, "k": k}
    )
    lemma, corrected = target.claims
    assert isinstance(lemma, DP)
    assert isinstance(corrected, DP)
    assert (f"{lemma.epsilon:g}", f"{lemma.delta:g}", f"{corrected.delta:g}") == (
        total,
        printed,
        chained,
    )
    assert f"{lemma.delta / corrected.delta:.3f}" == factor
    for claim, true in ((lemma, at_printed), (corrected, at_chained)):
        worst = any_size(target, claim)
        assert worst is not None
        assert f"{worst.loss:.6f}" == true


def test_the_ladder_by_hand() -> None:
    assert chained_delta(2, math.log(2), 0.01) == pytest.approx(0.03)
    assert printed_delta(2, math.log(2), 0.01) == pytest.approx(0.04)
