"""Readings of printed statements that are false. What they are called, and on what data they are
looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.cli.mechanisms import WantedMechanisms, targets_of
from dpassay.config.mechanisms import Configured
from dpassay.targets.catalogue import ENTRIES, READINGS
from dpassay.targets.resolve import resolve


def test_other_claims_are_not_declared_wrong() -> None:
    assert resolve("stable-laplace").claims[0].expected is None


def test_a_reading_of_one_size_is_asked_about_its_own_pairs_alone() -> None:
    """Other datasets, the default one included, have another size. At another size nothing is known
    of it."""
    assert resolve("projected-walk-below").alone
    assert not resolve("projected-walk-below", {"n": "9"}).alone
    assert resolve("projected-walk-below", {"n": "9"}).claims[0].expected is None
    assert not resolve("stable-laplace-printed-scale").alone
    assert not resolve("projected-walk-error").alone


def test_readings_of_one_size_run_with_any_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "projected-walk-below", "projected-walk", "-p", "T=1", "--json", "-q"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(result["verdict"], result["searched"]["pairs"]) for result in results] == [
        ("refuted", 1),
        ("not refuted", 797),
    ]


def test_errors_are_left_out_of_a_sampled_catalogue() -> None:
    """In a run of every dataset of a size they are looked at. A reading of another size is looked
    at in that size."""
    every = tuple(Configured(target=name) for name in ENTRIES)
    for mode in ("exact", "exhaustive", "monte-carlo"):
        targets = targets_of(WantedMechanisms(mechanisms=every, named=False, mode=mode), 100)
        names = {target.name: target for target in targets}
        assert ("projected-walk-error" in names) is (mode != "monte-carlo")
        assert "stable-laplace-printed-scale" in names
        if mode != "monte-carlo":
            assert names["projected-walk-below"].parameters["n"] == (
                100 if mode == "exhaustive" else 7
            )


@pytest.mark.parametrize("name", READINGS)
def test_a_printed_claim_that_is_refuted_says_what_it_is_read_as(name: str) -> None:
    for claim in resolve(name).claims:
        named = f"read as in docs/findings.md, '{READINGS[name].finding}'" in claim.source
        assert named == (claim.expected == "refuted" and claim.status == "printed")


def test_nothing_is_put_into_the_mouth_of_a_paper_that_says_otherwise() -> None:
    """What a paper denies or hedges is not its claim: it is not called printed."""
    for name in ENTRIES:
        for claim in resolve(name).claims:
            assert not (
                claim.status == "printed" and {"says", "without"} & set(claim.source.split())
            ), claim.source
    assert (
        resolve("algorithm-3-hinge-loss")
        .claims[0]
        .source.endswith("without its conditions on the loss")
    )
    assert (
        "the stability of Chaudhuri and Vinterbo 2013, Theorem 4"
        in resolve("equation-9-with-theorem-4").claims[0].source
    )


@pytest.mark.parametrize("name", ["random-choice", "data-split-overlooked"])
def test_a_reason_stands_by_itself(name: str) -> None:
    mechanism: Any = resolve(name).mechanism
    assert [case.reason for case in mechanism.pairs() if case.reason.startswith("as before")] == []
