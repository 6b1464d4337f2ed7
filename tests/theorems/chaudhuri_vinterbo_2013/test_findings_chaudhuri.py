"""The sections of the findings on the rows of this paper: every number recomputed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61_exponential import quantile
from dpassay.theorems.chaudhuri_vinterbo_2013 import (
    alternatives,
    choosing,
    example_6_1,
    experiments,
    joint_release,
    theorem_4,
)
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Measured
from tests.theorems.test_rows import FINDINGS


def table(title: str, first: str) -> list[list[str]]:
    """Cells of the rows of a section's table that begin so, without the first cell."""
    section = re.split(r"^## ", FINDINGS.split(f"## {title}\n")[1], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith(f"| {first} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")[1:]] for line in lines]


def shown(cell: str, value: float) -> None:
    """A number on the page is the computed one, to its last digit."""
    digits = len(cell.partition(".")[2])
    assert float(cell) == pytest.approx(value, abs=0.51 * 10.0**-digits)


def middle(found: Measured) -> float:
    return (found.lower + found.upper) / 2


SAME = table("Lemmas 1 and 2 where h is released too", "two geometric mechanisms")
RATIOS = table("The ratio in Lemmas 1 and 2", "logarithms")
LOSERS = table("Theorem 3 is loose by a factor of two", "all losers equal")
LINEAR = table("Accuracy against the number of parameters", "Theorem 4")
SHARED = table("alphaSplit with a record in T and V", "a label")
PARTS = table("Lemma 4 where a value is replaced", "noisy counts")


def test_all_tables_are_read() -> None:
    assert list(map(len, (SAME, RATIOS, LOSERS, LINEAR, SHARED, PARTS))) == [4, 4, 4, 3, 4, 2]


@pytest.mark.parametrize(("alpha1", "alpha2", "moved", "claimed", "loss"), SAME)
def test_same_strings(alpha1: str, alpha2: str, moved: str, claimed: str, loss: str) -> None:
    found = joint_release.same_strings(float(alpha1), float(alpha2), moved, 60)
    assert found.claimed == pytest.approx(float(claimed))
    shown(loss, middle(found))


@pytest.mark.parametrize(("beta", "alpha2", "gamma", "claimed", "printed", "scaled"), RATIOS)
def test_ratios(
    beta: str, alpha2: str, gamma: str, claimed: str, printed: str, scaled: str
) -> None:
    case = {"beta": float(beta), "alpha2": float(alpha2), "gamma": float(gamma)}
    assert float(claimed) == case["alpha2"]
    shown(printed, middle(choosing.printed_ratio(**case)))
    shown(scaled, middle(choosing.ratio(**case)))


@pytest.mark.parametrize(("k", "delta0", "noise", "exponential"), LOSERS)
def test_losers(k: str, delta0: str, noise: str, exponential: str) -> None:
    shown(noise, middle(choosing.utility(int(k), float(delta0))))
    shown(exponential, middle(choosing.exponential_utility(int(k), float(delta0))))


@pytest.mark.parametrize(("C", "k", "claimed", "gap"), LINEAR)
def test_accuracy_against_k(C: str, k: str, claimed: str, gap: str) -> None:
    found = choosing.linear_growth(int(C), int(k), 0.1, 0.1)
    shown(claimed, found.claimed)
    shown(gap, middle(found))


@pytest.mark.parametrize(("n", "m", "k", "alpha", "loss", "claimed"), SHARED)
def test_alpha_split(n: str, m: str, k: str, alpha: str, loss: str, claimed: str) -> None:
    found = alternatives.alpha_split(int(n), int(m), int(k), float(alpha))
    assert found.claimed == float(claimed)
    shown(loss, middle(found))


@pytest.mark.parametrize(("n", "k", "alpha", "claimed", "content", "added", "place"), PARTS)
def test_parts(
    n: str, k: str, alpha: str, claimed: str, content: str, added: str, place: str
) -> None:
    case: dict[str, Any] = {"n": int(n), "k": int(k), "alpha": float(alpha)}
    assert float(claimed) == case["alpha"]
    shown(content, middle(alternatives.by_content(**case)))
    shown(added, middle(alternatives.one_added(**case)))
    shown(place, middle(alternatives.by_place(**case)))


def test_shares() -> None:
    section = FINDINGS.split("## The data of section 5\n")[1]
    lines = re.findall(
        r"^\| (Magic|Adult[^|]*) \| (\d+) \| (\d+) \| (\S+) \| (\S+) \|$", section, re.MULTILINE
    )
    counts = {(int(one), int(other)) for _, one, other, _, _ in lines}
    cases = [*experiments.magic_cases(Effort()), *experiments.adult_cases(Effort())]
    kept = {tuple(v for v in case.values() if isinstance(v, int)) for case in cases}
    assert counts == kept
    for _, one, other, _, true in lines:
        shown(true, int(one) / (int(one) + int(other)))


def test_alpha_split_by_hand() -> None:
    before = np.exp(alternatives.alpha_split_log_p(-4, 0, 4, 2, 1.0))[1]
    after = np.exp(alternatives.alpha_split_log_p(-2, 1, 4, 2, 1.0))[1]
    assert f"{before:.4f} {after:.4f}" == "0.0696 0.2056"


def test_a_single_parameter_by_hand() -> None:
    assert f"{middle(joint_release.single(1.0, 0.5, 0.01)):.4f}" == "0.9799"


CONSTANT = table("Training stability at a constant delta", "algorithm A")
NORMS = table("The norm in the proof of Theorem 4", "one record")


@pytest.mark.parametrize(("n", "alpha", "beta1", "bad"), CONSTANT)
def test_a_constant_delta(n: str, alpha: str, beta1: str, bad: str) -> None:
    shown(beta1, int(n) ** 0.5)
    assert f"{example_6_1.small_delta(int(n), 0.01, float(alpha)).upper:.3e}" == bad


@pytest.mark.parametrize(("algorithm", "R", "allowed", "true"), NORMS)
def test_norms(algorithm: str, R: str, allowed: str, true: str) -> None:
    found = theorem_4.norm(int(algorithm), 16.0, 1, float(R))
    shown(allowed, found.claimed)
    shown(true, middle(found))


def test_both_tables_are_read() -> None:
    assert (len(CONSTANT), len(NORMS)) == (3, 3)


def test_a_loser_at_the_gap_by_hand() -> None:
    """1.609 = ln 5, 1 + ln 20 = 3.996, together 6.43 against 2.996."""
    gap, more = middle(choosing.growth(2, 0.1)), 1 + np.log(20)
    printed = f"{gap:.3f} {more:.3f} {gap * more:.2f} {np.log(20):.3f}"
    assert printed == "1.609 3.996 6.43 2.996"
    assert gap == pytest.approx(np.log(5), abs=1e-6)


def test_a_constant_delta_by_hand() -> None:
    assert f"{example_6_1.most_outside((1000**0.5 - 1) / 4):.4f}" == "0.0093"
    assert f"{(31.62 - 1) / 4:.2f}" == "7.66"
    assert f"{quantile(0.01):.4f}" == "7.5648"


def test_shares_by_hand() -> None:
    shares = (12332 / 19020, 6688 / 19020, 7841 / 32561)
    assert [f"{share:.3f}" for share in shares] == ["0.648", "0.352", "0.241"]
