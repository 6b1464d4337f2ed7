"""Every entry of the catalogue, and the catalogue against the folder of mechanisms. A new entry is
tested without being named."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from dpassay.api import audit
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
def test_an_entry_is_built_from_its_name_and_named_as_its_file(name: str) -> None:
    target = resolve(name)
    assert target.name == target.address == name
    assert CATALOGUE[name].address.split(":")[0].rsplit(".", 1)[1] == name.replace("-", "_")
    assert target.has_worst_cases
    assert inspect.getdoc(type(target.mechanism))


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_file_of_an_entry_cites_its_source(name: str) -> None:
    docstring = importlib.import_module(type(resolve(name).mechanism).__module__).__doc__ or ""
    words = " ".join(docstring.replace("(", "").replace(")", "").split())
    assert CATALOGUE[name].cited in words


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_refuted_where_it_is_expected_and_nowhere_else(name: str) -> None:
    """At its own worst cases: exactly where a law is known, else by trials."""
    results = list(assay([resolve(name)], None, Settings(budget=3000)))
    expected = ENTRIES[name].expected
    assert [result.id for result in results if not result.as_expected] == []
    refuted = {result.claim.status for result in results if result.verdict == "refuted"}
    assert refuted == (set() if expected is None else {expected.status})


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_has_a_derivation_and_an_algorithm(name: str) -> None:
    assert f"## {READINGS[name].finding}\n" in FINDINGS
    assert READINGS[name].target in CATALOGUE
    assert READINGS[name].expected is not None
    assert name not in CATALOGUE


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.expected])
def test_what_is_known_of_an_entry_is_known_of_its_class(name: str) -> None:
    """Also where it is named by its address, or given as an object."""
    named, target = [claim.expected for claim in resolve(name).claims], resolve(name)
    assert "refuted" in named
    assert [claim.expected for claim in resolve(ENTRIES[name].address).claims] == named
    assert [claim.expected for claim in declared("", target.mechanism)] == named
    assert [claim.expected for claim in target.mechanism.claims] == [None] * len(named)
    first = audit(target.mechanism, mode="exact").claim.expected
    assert first == named[0]


OTHER: list[tuple[str, dict[str, object], bool]] = [
    ("soft-majority-overview", {"epsilon": 0.5}, False),
    ("soft-majority-overview", {"r": 1}, False),
    ("soft-majority-overview", {"learner": "tree", "partition": "fresh"}, True),
    ("projected-walk-overview", {"epsilon": 0.5}, False),
    ("projected-walk-overview", {"alpha": 0.4}, False),
    ("projected-walk-overview", {"feature": 1, "ties": "index"}, True),
    ("pate-data-dependent", {"lead": 9}, False),
    ("pate-data-dependent", {"r": 9}, False),
    ("pate-data-dependent", {"learner": "tree"}, True),
    ("psgd-laplace", {"n": 2}, False),
    ("psgd-laplace", {"n": 3, "epsilon": 2.0}, True),
    ("psgd-laplace", {"loss": "squared"}, False),
    ("example61-exponential", {"n": 100}, True),
    ("example61-exponential", {"alpha": 0.5}, False),
    ("control", {"alpha": 0.5, "m": 5}, True),
    ("projected-walk-below", {"n": 9}, False),
    ("stable-laplace-printed-scale", {"epsilon": 2.0}, False),
]
"""Parameters of an entry, and whether what is known at the entry's own is known there too."""


@pytest.mark.parametrize(("name", "parameters", "known"), OTHER)
def test_at_other_parameters_nothing_is_declared_but_where_they_do_not_matter(
    name: str, parameters: dict[str, object], known: bool
) -> None:
    assert any(claim.expected == "refuted" for claim in resolve(name, parameters).claims) is known


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.expected])
def test_what_may_differ_is_a_parameter(name: str) -> None:
    expected = ENTRIES[name].expected
    assert expected is not None
    assert set(expected.free or ()) <= parameters_of(resolve(name).given).keys()


def test_which_claims_are_meant() -> None:
    assert Refuted().covers("printed", "DP")
    assert not Refuted().covers("corrected", "DP")
    assert Refuted(status="own", kind="DP").covers("own", "DP")
    assert not Refuted(status="own", kind="DP").covers("own", "Stability")
