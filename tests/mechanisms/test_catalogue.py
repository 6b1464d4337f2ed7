"""The catalogue's table against the folder of mechanisms."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from dpassay.mechanism import HasWorstCases
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.resolve import resolve

PARTS = {
    "boolean:Boolean",
    "erm:ERM",
    "linear:LinearPredictor",
    "noisy:Noisy",
    "perturbation:Perturbation",
    "perturbation_scores:Scored",
    "predictors:Predictor",
    "psgd:PSGD",
    "trainers:LinearTrainer",
}
"""What entries are made of."""
AUTHORS = ("Dwork and Feldman", "Dagan and Feldman", "Chaudhuri and Vinterbo", "Papernot", "Bassily")
"""Whose algorithms these are."""
FOLDER = Path(__file__).parents[2] / "mechanisms"


def mechanisms_in_the_folder() -> set[str]:
    """Addresses of all classes with claims, module by module."""
    found = set()
    for path in FOLDER.rglob("[a-z]*.py"):
        inside = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        module = importlib.import_module(f"dpassay.mechanisms.{inside}")
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if thing.__module__ == module.__name__ and hasattr(thing, "claims"):
                found.add(f"{module.__name__}:{name}")
    return found


def test_every_mechanism_is_in_the_table_and_no_other() -> None:
    others = {address for address in mechanisms_in_the_folder() if address.rpartition(".")[2] in PARTS}
    assert set(CATALOGUE.values()) == mechanisms_in_the_folder() - others
    assert len(set(CATALOGUE.values())) == len(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_entry_is_built_from_its_name_and_named_as_its_module(name: str) -> None:
    target = resolve(name)
    assert target.name == target.address == name
    assert CATALOGUE[name].split(":")[0].rsplit(".", 1)[1] == name.replace("-", "_")
    assert isinstance(target.mechanism, HasWorstCases)
    assert inspect.getdoc(type(target.mechanism))
    reference = importlib.import_module(type(target.mechanism).__module__).__doc__ or ""
    assert any(authors in reference for authors in AUTHORS)
