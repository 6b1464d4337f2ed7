"""Every entry of the catalogue, and the catalogue against the folder of mechanisms."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.api import audit
from dpassay.cli.main import main
from dpassay.cli.mechanisms import WantedMechanisms, targets_of
from dpassay.config.mechanisms import Configured
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.mechanism import Mechanism
from dpassay.targets.catalogue import CATALOGUE, ENTRIES, PARTS, READINGS, Refuted
from dpassay.targets.resolve import declared, parameters_of, resolve
from tests.docs.findings_pages import FINDINGS

FOLDER = Path(__file__).parents[2] / "mechanisms"


def mechanisms_in_the_folder() -> set[str]:
    """Addresses of all mechanisms that state claims, module by module."""
    found = set()
    for path in FOLDER.rglob("[a-z]*.py"):
        inside = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        module = importlib.import_module(f"dpassay.mechanisms.{inside}")
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if (
                thing.__module__ == module.__name__
                and issubclass(thing, Mechanism)
                and "claims" in vars(thing)
            ):
                found.add(f"{module.__name__}:{name}")
    return found


def test_every_mechanism_is_in_the_table_and_no_other() -> None:
    addresses = [entry.address for entry in (*CATALOGUE.values(), *PARTS)]
    assert set(addresses) == mechanisms_in_the_folder()
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_entry_is_built_from_its_name_and_its_file_named_so_cites_its_source(name: str) -> None:
    target = resolve(name)
    assert target.name == target.address == name
    assert CATALOGUE[name].address.split(":")[0].rsplit(".", 1)[1] == name.replace("-", "_")
    assert target.has_worst_cases
    kind = type(target.mechanism)
    assert inspect.getdoc(kind)
    docstring = importlib.import_module(kind.__module__).__doc__ or ""
    assert CATALOGUE[name].cited in " ".join(docstring.replace("(", "").replace(")", "").split())


LONG = ("control", "algorithm-2-over-algorithm-3")
"""In the fast tests tests/docs/test_findings_validation.py looks at their own worst cases."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in ENTRIES],
)
def test_an_entry_is_refuted_where_it_is_expected_and_nowhere_else(name: str) -> None:
    """At its own worst cases: exactly where a law is known, else by trials."""
    results = list(assay([resolve(name)], None, Settings(budget=3000)))
    expected = ENTRIES[name].expected
    assert [result.id for result in results if not result.as_expected] == []
    refuted = {result.claim.status for result in results if result.verdict == "refuted"}
    assert refuted == (set() if expected is None else {expected.status})


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_has_a_derivation_and_an_algorithm_and_says_what_it_is_read_as(name: str) -> None:
    reading = READINGS[name]
    assert f"## {reading.finding}\n" in FINDINGS
    assert reading.target in CATALOGUE
    assert reading.expected is not None
    assert name not in CATALOGUE
    for claim in resolve(name).claims:
        named = f"read as in docs/findings.md, '{reading.finding}'" in claim.source
        assert named == (claim.expected == "refuted" and claim.status == "printed")


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.expected])
def test_what_is_known_of_an_entry_is_known_of_its_class(name: str) -> None:
    """Also where it is named by its address, or given as an object."""
    expected, target = ENTRIES[name].expected, resolve(name)
    assert expected is not None
    assert set(expected.free or ()) <= parameters_of(target.given).keys()
    if name in READINGS:
        return
    named = [claim.expected for claim in target.claims]
    assert "refuted" in named
    assert [claim.expected for claim in resolve(ENTRIES[name].address).claims] == named
    assert [claim.expected for claim in declared("", target.mechanism)] == named
    assert [claim.expected for claim in target.mechanism.claims] == [None] * len(named)
    assert audit(target.mechanism, mode="exact").claim.expected == named[0]


OTHER: list[tuple[str, dict[str, object], bool]] = [
    ("soft-majority-overview", {"epsilon": 0.5}, False),
    ("soft-majority-overview", {"learner": "tree", "partition": "fresh"}, True),
    ("projected-walk-overview", {"feature": 1, "ties": "index"}, True),
    ("pate-data-dependent", {"r": 9}, False),
    ("pate-data-dependent", {"learner": "tree"}, True),
    ("psgd-laplace", {"n": 2}, False),
    ("psgd-laplace", {"n": 3, "epsilon": 2.0}, True),
    ("example61-exponential", {"n": 100}, True),
    ("control", {"alpha": 0.5, "m": 5}, True),
    ("stable-laplace", {}, False),
    ("projected-walk-below", {"n": 9}, False),
    ("stable-laplace-printed-scale", {"epsilon": 2.0}, False),
]
"""Parameters of an entry, and whether what is known at the entry's own is known there too."""


@pytest.mark.parametrize(("name", "parameters", "known"), OTHER)
def test_at_other_parameters_nothing_is_declared_but_where_they_do_not_matter(
    name: str, parameters: dict[str, object], known: bool
) -> None:
    assert any(claim.expected == "refuted" for claim in resolve(name, parameters).claims) is known


def test_which_claims_are_meant() -> None:
    assert Refuted().covers("printed", "DP")
    assert not Refuted().covers("corrected", "DP")
    assert Refuted(status="own", kind="DP").covers("own", "DP")
    assert not Refuted(status="own", kind="DP").covers("own", "Stability")


def test_a_reading_of_one_size_is_asked_about_its_own_pairs_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Other datasets, the default one included, have another size."""
    assert resolve("projected-walk-below").alone
    assert not resolve("projected-walk-error").alone
    assert not resolve("stable-laplace-printed-scale").alone
    assert not resolve("projected-walk-below", {"n": "9"}).alone
    assert main(["run", "projected-walk-below", "projected-walk", "-p", "T=1", "--json", "-q"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(result["verdict"], result["searched"]["pairs"]) for result in results] == [
        ("refuted", 1),
        ("not refuted", 797),
    ]


@pytest.mark.parametrize(("mode", "n"), [("exact", 7), ("exhaustive", 100), ("monte-carlo", None)])
def test_errors_are_left_out_of_a_sampled_catalogue(mode: Any, n: int | None) -> None:
    """In a run of every dataset of a size they are looked at, a reading in that size."""
    every = tuple(Configured(target=name) for name in ENTRIES)
    targets = targets_of(WantedMechanisms(mechanisms=every, named=False, mode=mode), 100)
    names = {target.name: target for target in targets}
    assert ("projected-walk-error" in names) is (n is not None)
    assert "stable-laplace-printed-scale" in names
    if n is not None:
        assert names["projected-walk-below"].parameters["n"] == n


def test_nothing_is_put_into_the_mouth_of_a_paper_that_says_otherwise() -> None:
    """What a paper denies or hedges is not its claim: it is not called printed."""
    for name in ENTRIES:
        for claim in resolve(name).claims:
            hedged = {"says", "without"} & set(claim.source.split())
            assert not (claim.status == "printed" and hedged), claim.source
    hinge, validated = (
        resolve(name).claims[0].source
        for name in ("algorithm-3-hinge-loss", "equation-9-with-theorem-4")
    )
    assert hinge.endswith("without its conditions on the loss")
    assert "the stability of Chaudhuri and Vinterbo 2013, Theorem 4" in validated


@pytest.mark.parametrize("name", ["random-choice", "data-split-overlooked"])
def test_a_reason_stands_by_itself(name: str) -> None:
    mechanism: Any = resolve(name).mechanism
    assert [case.reason for case in mechanism.pairs() if case.reason.startswith("as before")] == []
