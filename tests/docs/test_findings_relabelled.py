"""docs/findings.md on Lemma 4 and Theorem 5 is held to what the code computes.

Those of Dagan and Feldman (2020).
"""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.mechanisms.dagan_feldman_2020 import relabelled_bounds as bounds
from dpassay.mechanisms.dagan_feldman_2020.exponential import (
    Exponential,
    sharp_excess,
    worst_excess,
)
from dpassay.mechanisms.dagan_feldman_2020.relabelled import Relabelled
from tests.docs.findings_pages import FINDINGS as PAGE
from tests.mechanisms.dagan_feldman_2020.lemmas_10_11 import worst
from tests.mechanisms.test_exhaustive_twins import exhaust

NUMBER = r" \| ([\d.e-]+)"
EXPONENTIAL = re.findall(
    rf"^\| exponential \| ([a-z]+),points=(\d+){NUMBER * 7} \|$", PAGE, re.MULTILINE
)
EXCESS = re.findall(rf"^\| excess{NUMBER * 7} \|$", PAGE, re.MULTILINE)
THEOREM = re.findall(rf"^\| relabelled{NUMBER * 11} \|$", PAGE, re.MULTILINE)
GAMMAS = re.findall(rf"^\| relabelled, gamma{NUMBER * 8} \|$", PAGE, re.MULTILINE)
DOMAINS = re.findall(
    rf"^\| relabelled, n = (\d+) on 1\.\.(\d+) \| (\w+){NUMBER * 6} \|$", PAGE, re.MULTILINE
)
LEMMAS = re.findall(
    rf"^\| (thresholds|functions|intervals), 1\.\.(\d){NUMBER * 12} \|$", PAGE, re.MULTILINE
)


def test_the_page_has_its_rows() -> None:
    assert tuple(map(len, (EXPONENTIAL, EXCESS, THEOREM, GAMMAS, DOMAINS, LEMMAS))) == (
        6,
        6,
        6,
        3,
        6,
        4,
    )


def exponential_row(H: str, size: str, epsilon: str) -> list[str]:
    mechanism: Any = Exponential(H=H, points=int(size), epsilon=float(epsilon))
    loss, change = (
        audit(mechanism, claim=mechanism.claims[i], mode="exact").exact for i in (0, -1)
    )
    assert loss is not None
    assert change is not None
    printed = math.expm1(float(epsilon))
    assert change == pytest.approx(math.tanh(float(epsilon) / 4), abs=1e-9)
    return [
        f"{loss:.6f}",
        f"{float(epsilon) / loss:.3f}",
        f"{printed:.6f}",
        f"{math.tanh(float(epsilon) / 2):.6f}",
        f"{change:.6f}",
        f"{printed / change:.3f}",
    ]


@pytest.mark.parametrize("row", EXPONENTIAL, ids=" ".join)
def test_exponential(row: tuple[str, ...]) -> None:
    assert exponential_row(*row[:3]) == list(row[3:])


def excess_row(size: str, n: str, epsilon: str) -> list[str]:
    given = int(size), int(n), float(epsilon)
    printed = 2 * math.log(given[0]) / (given[2] * given[1])
    return [
        f"{printed:.6f}",
        f"{sharp_excess(*given):.6f}",
        f"{worst_excess(*given):.6f}",
        f"{printed / worst_excess(*given):.3f}",
    ]


@pytest.mark.parametrize("row", EXCESS, ids=" ".join)
def test_excess(row: tuple[str, ...]) -> None:
    assert excess_row(*row[:3]) == list(row[3:])


def test_the_excess_by_hand() -> None:
    """Two hypotheses, epsilon 2, one record: 1 / (1 + e)."""
    assert f"{1 / (1 + math.e):.3f}" == f"{worst_excess(2, 1, 2.0):.3f}" == "0.269"
    assert f"{math.log(2):.3f}" == "0.693"


def theorem_row(n: str, n_prime: str, eta: str, r: str, alpha: str) -> list[str]:
    mechanism = Relabelled(
        n=int(n), n_prime=int(n_prime), eta=float(eta), r=int(r), alpha=float(alpha)
    )
    found = audit(mechanism, claim=mechanism.claims[0], mode="exact").exact
    assert found is not None
    return [
        f"{factor(mechanism):.3f}",
        f"{bounds.flipping_alone(mechanism.alpha):.3f}",
        f"{mechanism.printed_loss():.4f}",
        f"{mechanism.proven_loss():.4f}",
        f"{found:.4f}",
        f"{mechanism.proven_loss() / found:.2f}",
    ]


def factor(mechanism: Relabelled) -> float:
    """Logarithm of the printed factor before flipping."""
    share = mechanism.n_prime / (mechanism.n - mechanism.n_prime)
    return math.log(1 + bounds.NET * share) + 3 * mechanism.rate


@pytest.mark.parametrize("row", THEOREM, ids=" ".join)
def test_theorem_5(row: tuple[str, ...]) -> None:
    assert theorem_row(*row[:5]) == list(row[5:])


def gamma_row(n: str, n_prime: str, eta: str, r: str, alpha: str) -> list[str]:
    mechanism = Relabelled(
        n=int(n), n_prime=int(n_prime), eta=float(eta), r=int(r), alpha=float(alpha)
    )
    claim = mechanism.claims[-1]
    found = audit(mechanism, claim=claim, mode="exact").exact
    assert found is not None
    return [f"{claim.promised:.4f}", f"{found:.4f}", f"{claim.promised / found:.2f}"]


@pytest.mark.parametrize("row", GAMMAS, ids=" ".join)
def test_gammas(row: tuple[str, ...]) -> None:
    assert gamma_row(*row[:5]) == list(row[5:])


def domain_row(n: str, N: str, rule: str) -> list[str]:
    """Corrected epsilon, worst of the domain, own worst pair; and the same for gamma."""
    given = {"n": int(n), "representative": rule}
    rows = {result.claim.kind: result for result in exhaust("relabelled", given, int(n), int(N))}
    cells = []
    mechanism: Any = Relabelled(**given)  # type: ignore[arg-type]
    for kind in ("DP", "Stability"):
        result = rows[kind]
        assert result.verdict == "verified"
        assert result.evidence is not None
        domain = max(
            cell.exact.value
            for cell in result.evidence.cells
            if result.evidence.groups[cell.group].kind == "domain" and cell.exact is not None
        )
        own = audit(mechanism, claim=result.claim, mode="exact").exact
        assert own is not None
        cells += [f"{result.claim.promised:.4f}", f"{domain:.4f}", f"{own:.4f}"]
    return cells


@pytest.mark.parametrize("row", DOMAINS, ids=" ".join)
def test_domains(row: tuple[str, ...]) -> None:
    assert domain_row(*row[:3]) == list(row[3:])


def lemma_row(name: str, N: str, n: str, n_prime: str, eta: str, r: str) -> list[str]:
    """Largest difference of losses and 2 eta; Z; phi; Lemma 10 and its constant with k.

    Lemma 11 and its constant.
    """
    found = worst(name, int(N), int(n), int(n_prime), float(eta), int(r))
    k, rate = math.floor(float(eta) * (int(n) - 1)) + 1, 1 / (float(eta) * int(n))
    return [
        f"{found.loss:.2f}",
        f"{2 * float(eta):.2f}",
        f"{found.Z:.2f}",
        f"{found.phi:.2f}",
        f"{found.lemma_10:.2f}",
        f"{4 * math.exp((2 * k + min(k, int(r))) * rate):.2f}",
        f"{found.lemma_11:.2f}",
        f"{math.exp(3 * rate):.2f}",
    ]


@pytest.mark.parametrize("row", LEMMAS, ids=" ".join)
def test_lemmas(row: tuple[str, ...]) -> None:
    assert lemma_row(*row[:6]) == list(row[6:])


def test_where_the_printed_factor_begins_to_say_something() -> None:
    """With the default sizes, alpha = 0.1."""
    assert [f"{factor(Relabelled(n=n)):.2f}" for n in (40_000, 50_000)] == ["2.27", "2.16"]
    assert f"{bounds.flipping_alone(0.1):.3f}" == "2.197"
    assert (round(2 + bounds.NET), round(2 + 4 * math.e**3)) == (1616, 82)
