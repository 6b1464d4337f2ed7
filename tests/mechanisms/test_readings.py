"""Readings of printed statements that are false: each is refuted, exactly, at a pair of its own, and derived on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpassay.assay import assay
from dpassay.catalogue import CATALOGUE, READINGS
from dpassay.settings import Settings
from dpassay.targets import resolve

FINDINGS = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READINGS)
def test_what_is_known_to_be_false_is_refuted_as_declared(name: str) -> None:
    results = list(assay([resolve(name)], None, Settings(mode="exact")))
    assert [result.id for result in results if not result.as_expected] == []
    assert {result.claim.status for result in results if result.verdict == "refuted"} == set(READINGS[name].refuted)


@pytest.mark.parametrize("name", READINGS)
def test_it_has_a_derivation_and_a_mechanism(name: str) -> None:
    assert f"## {READINGS[name].finding}\n" in FINDINGS
    assert READINGS[name].target in CATALOGUE
    assert name not in CATALOGUE


def test_at_other_parameters_nothing_is_declared() -> None:
    claims = resolve("stable-laplace-printed-scale", {"epsilon": "2"}).claims
    assert [claim.expected for claim in claims] == [None]


def test_other_claims_are_not_declared_wrong() -> None:
    assert resolve("stable-laplace").claims[0].expected is None
