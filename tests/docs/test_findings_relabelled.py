"""docs/findings.md on Lemma 4 and Theorem 5 of Dagan and Feldman (2020) is what is computed."""

from __future__ import annotations

import math
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
from tests.docs.findings_pages import printed, table
from tests.mechanisms.dagan_feldman_2020.lemmas_10_11 import worst
from tests.mechanisms.test_exhaustive_twins import exhaust


@pytest.mark.parametrize(
    "row", table(r"exponential \| ([a-z]+),points=(\d+)", 7, many=6), ids=" ".join
)
def test_exponential(row: Any) -> None:
    H, size, epsilon, *said = row
    spent = float(epsilon)
    mechanism: Any = Exponential(H=H, points=int(size), epsilon=spent)
    loss, change = (
        audit(mechanism, claim=mechanism.claims[i], mode="exact").exact for i in (0, -1)
    )
    assert loss is not None
    assert change is not None
    assert change == pytest.approx(math.tanh(spent / 4), abs=1e-9)
    stable = math.expm1(spent)
    numbers = loss, spent / loss, stable, math.tanh(spent / 2), change, stable / change
    assert tuple(said) == printed("{:.6f} {:.3f} {:.6f} {:.6f} {:.6f} {:.3f}", *numbers)


@pytest.mark.parametrize("row", table("excess", 7, many=6), ids=" ".join)
def test_excess(row: Any) -> None:
    given = int(row[0]), int(row[1]), float(row[2])
    lemma, largest = 2 * math.log(given[0]) / (given[2] * given[1]), worst_excess(*given)
    numbers = lemma, sharp_excess(*given), largest, lemma / largest
    assert row[3:] == printed("{:.6f} {:.6f} {:.6f} {:.3f}", *numbers)


def test_the_excess_by_hand() -> None:
    """Two hypotheses, epsilon 2, one record: 1 / (1 + e)."""
    assert f"{1 / (1 + math.e):.3f}" == f"{worst_excess(2, 1, 2.0):.3f}" == "0.269"
    assert f"{math.log(2):.3f}" == "0.693"


def relabelled(n: str, n_prime: str, eta: str, r: str, alpha: str) -> Relabelled:
    return Relabelled(n=int(n), n_prime=int(n_prime), eta=float(eta), r=int(r), alpha=float(alpha))


def factor(mechanism: Relabelled) -> float:
    """Logarithm of the printed factor before flipping."""
    share = mechanism.n_prime / (mechanism.n - mechanism.n_prime)
    return math.log(1 + bounds.NET * share) + 3 * mechanism.rate


@pytest.mark.parametrize("row", table("relabelled", 11, many=6), ids=" ".join)
def test_theorem_5(row: Any) -> None:
    mechanism = relabelled(*row[:5])
    found = audit(mechanism, claim=mechanism.claims[0], mode="exact").exact
    assert found is not None
    alone, proven = bounds.flipping_alone(mechanism.alpha), mechanism.proven_loss()
    numbers = factor(mechanism), alone, mechanism.printed_loss(), proven, found, proven / found
    assert row[5:] == printed("{:.3f} {:.3f} {:.4f} {:.4f} {:.4f} {:.2f}", *numbers)


@pytest.mark.parametrize("row", table("relabelled, gamma", 8, many=3), ids=" ".join)
def test_gammas(row: Any) -> None:
    mechanism = relabelled(*row[:5])
    claim = mechanism.claims[-1]
    found = audit(mechanism, claim=claim, mode="exact").exact
    assert found is not None
    assert row[5:] == printed("{:.4f} {:.4f} {:.2f}", claim.promised, found, claim.promised / found)


@pytest.mark.parametrize(
    "row", table(r"relabelled, n = (\d+) on 1\.\.(\d+) \| (\w+)", 6, many=6), ids=" ".join
)
def test_domains(row: Any) -> None:
    """Corrected epsilon, worst of the domain, own worst pair; and the same for gamma."""
    n, N, rule, *said = row
    given: Any = {"n": int(n), "representative": rule}
    results = {each.claim.kind: each for each in exhaust("relabelled", given, int(n), int(N))}
    cells: tuple[str, ...] = ()
    for kind in ("DP", "Stability"):
        result = results[kind]
        assert result.verdict == "verified"
        assert result.evidence is not None
        domain = max(
            cell.exact.value
            for cell in result.evidence.cells
            if result.evidence.groups[cell.group].kind == "domain" and cell.exact is not None
        )
        own = audit(Relabelled(**given), claim=result.claim, mode="exact").exact
        cells += printed("{:.4f} {:.4f} {:.4f}", result.claim.promised, domain, own)
    assert tuple(said) == cells


@pytest.mark.parametrize(
    "row", table(r"(thresholds|functions|intervals), 1\.\.(\d)", 12, many=4), ids=" ".join
)
def test_lemmas(row: Any) -> None:
    """Largest difference of losses and 2 eta; Z; phi; Lemmas 10 and 11 and their constants."""
    N, n, n_prime, r = (int(row[i]) for i in (1, 2, 3, 5))
    eta = float(row[4])
    found = worst(row[0], N, n, n_prime, eta, r)
    k, rate = math.floor(eta * (n - 1)) + 1, 1 / (eta * n)
    constants = 4 * math.exp((2 * k + min(k, r)) * rate), math.exp(3 * rate)
    numbers = found.loss, 2 * eta, found.Z, found.phi, found.lemma_10, constants[0], found.lemma_11
    assert row[6:] == printed(" ".join(["{:.2f}"] * 8), *numbers, constants[1])


def test_where_the_printed_factor_begins_to_say_something() -> None:
    """With the default sizes, alpha = 0.1."""
    assert [f"{factor(Relabelled(n=n)):.2f}" for n in (40_000, 50_000)] == ["2.27", "2.16"]
    assert f"{bounds.flipping_alone(0.1):.3f}" == "2.197"
    assert (round(2 + bounds.NET), round(2 + 4 * math.e**3)) == (1616, 82)
