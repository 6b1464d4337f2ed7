"""Mechanisms that declare exchangeable records or symmetries, in all orders of small domains."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dpassay.engine.domains.domain import Domain
from dpassay.engine.domains.symmetries import Symmetries
from dpassay.engine.exhaustive import domain_laws
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.engine.domains.reduced import compare
from tests.engine.domains.test_symmetries import every_element

FRESH = {"partition": "fresh", "r": 2}
ON_THE_GRID = {"low": 1, "high": 3, "points": 3}
CASES: list[tuple[str, dict[str, Any], int, int | tuple[int, ...]]] = [
    ("randomised-majority", {}, 4, 3),
    ("projected-walk", {"T": 1}, 4, 3),
    ("projected-walk", {"T": 1, "traversed": "below"}, 3, 3),
    ("projected-walk", {"T": 1, "ties": "label"}, 4, 2),
    ("projected-walk-overview", {}, 4, 2),
    ("projected-walk-error", {"n": 4, "T": 1}, 4, 2),
    ("projected-walk-risk", {"alpha": 0.9}, 3, 2),
    ("projected-walk-risk", {"alpha": 0.9, "ties": "index"}, 3, 2),
    ("soft-majority", {"learner": "threshold", **FRESH}, 4, 2),
    ("soft-majority-overview", {"learner": "majority", **FRESH}, 3, 3),
    ("exponential", {"H": "functions", "points": 4}, 3, 2),
    ("exponential", {"H": "intervals", **ON_THE_GRID}, 3, 3),
    ("exponential", {"H": "halfspaces", "points": 2}, 2, (2, 2)),
    ("stable-learner", {"n": 3, "gamma": 0.9, "H": "functions", "points": 3}, 3, 3),
    ("stable-learner", {"n": 4, "gamma": 0.6, "H": "intervals", "cover": "net"}, 4, 2),
    ("bagged", {"n": 4, "r": 2, "how": "subset", "learner": "majority"}, 4, 2),
    ("subsampled", {"n": 4, "eta": 0.5, "base": "soft-majority,r=2"}, 4, 2),
    ("group", {"k": 2, "base": "projected-walk,T=2"}, 4, 2),
    ("interface", {"base": "projected-walk,T=1", "m": 2, "adversary": "adaptive"}, 3, 2),
    ("label-flip", {"n": 4, "base": "bagged,r=2,how=subset", "alpha": 0.45, "epsilon": 5.0}, 4, 2),
]
NAMES = [f"{name} {' '.join(f'{k}={v}' for k, v in given.items())}" for name, given, *_ in CASES]

DEAR = {"soft-majority", "subsampled", "group"}


@pytest.mark.parametrize(
    ("name", "given", "n", "points"),
    [pytest.param(*case, marks=pytest.mark.slow if case[0] in DEAR else ()) for case in CASES],
    ids=NAMES,
)
def test_symmetry_finds_what_enumeration_finds(
    name: str, given: dict[str, Any], n: int, points: int | tuple[int, ...]
) -> None:
    compare(resolve(name, given), Domain(n=n, points=points))


@pytest.mark.parametrize(("name", "given", "n", "points"), CASES, ids=NAMES)
def test_every_order_and_every_element_keeps_the_law(
    name: str, given: dict[str, Any], n: int, points: int | tuple[int, ...]
) -> None:
    target, domain = resolve(name, given), Domain(n=n, points=points)
    assert target.exchangeable
    laws = domain_laws(target, domain, silent)

    def unchanged(moved: np.ndarray[Any, Any]) -> bool:
        with np.errstate(invalid="ignore"):
            near = np.abs(moved - laws.table) <= 2 * laws.error
        return bool((near | (moved == laws.table)).all())

    for order in itertools.permutations(range(n)):
        assert unchanged(np.transpose(laws.table, (*order, n, n + 1)))
    for element in every_element(Symmetries(domain.sides, target.symmetries(domain.sides))):
        there = laws.table[np.ix_(*[element.of_records] * n)][..., list(element.to), :]
        assert unchanged(there[..., ::-1] if element.exchanged else there)


def test_all_that_declare_it_are_tried() -> None:
    """A class with a member of its own, or a default that says so, has a case."""
    tried = {type(resolve(name, given).mechanism) for name, given, *_ in CASES}
    declaring = {
        type(target.mechanism)
        for name in CATALOGUE
        if (target := resolve(name, {})).exchangeable
        or "exchangeable" in vars(type(target.mechanism))
    }
    assert declaring <= tried


@pytest.mark.parametrize(
    "text",
    [
        "soft-majority, learner=majority",
        "soft-majority, partition=fresh, learner=nearest",
        "projected-walk, ties=index",
        "projected-walk-overview, ties=index",
        "bagged, learner=majority",
        "subsampled, order=kept, eta=0.5, base=soft-majority,r=2, n=4",
        "group, base=soft-majority,r=2",
        "interface, base=soft-majority,r=2",
        "private-knn",
    ],
)
def test_places_of_records_matter_to_others(text: str) -> None:
    name, *given = text.split(", ")
    assert not resolve(name, dict(each.split("=", 1) for each in given)).exchangeable


@pytest.mark.parametrize(
    ("given", "sides"),
    [
        ({"H": "thresholds"}, (3,)),
        ({"H": "thresholds", **ON_THE_GRID}, (2,)),
        ({"H": "intervals", **ON_THE_GRID}, (3, 1)),
        ({"H": "halfspaces", "points": 3}, (2, 2)),
        ({"H": "functions", "points": 3}, (3, 2)),
    ],
)
def test_a_class_is_symmetric_on_its_own_domain_only(
    given: dict[str, Any], sides: tuple[int, ...]
) -> None:
    assert resolve("exponential", given).symmetries(sides) == ()
