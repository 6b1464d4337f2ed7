"""Certified lower bounds of cells lie below their exact loss, and not too far below."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.data import load, split
from dpassay.engine.exact import Laws, group_laws
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.pairs import replace_one
from dpassay.targets.groups import DIRECTIONS, PairGroup, groups_for, silent
from dpassay.targets.resolve import resolve
from tests.engine.recorded import evidence_of

BUDGET = 20_000
MOST = 1.6
"""Times z(alpha) S / sqrt n; the bound of one cell scatters by S / sqrt n, which is 0.26 of that at
these alphas."""


def breast_cancer(train: int, queries: int, seed: int) -> PairGroup:
    """A few records, each replaced once and flipped once."""
    parts = split(load("breast-cancer"), train=train, queries=queries, seed=seed)
    pairs = replace_one(parts.train.X, parts.train.y, pool=parts.pool, seed=seed)
    return PairGroup(pairs=pairs, queries=parts.queries, kind="data", reason="real data")


def scatter(p1: float, p0: float, delta: float, n: int) -> float:
    """S / sqrt n of STATISTICS section 6."""
    return math.sqrt((p1 * (1 - p1) / (p1 - delta) ** 2 + (1 - p0) / p0) / n)


def both_sides(
    laws: Laws, pair: int, query: int, direction: str, event: tuple[int, ...]
) -> tuple[float, float]:
    """Exact probabilities of an event, the side it is counted on first; labels are 0 and 1."""
    sides = [np.exp(laws.base[query]), np.exp(laws.neighbours[pair, query])]
    if direction == DIRECTIONS[1]:
        sides.reverse()
    return float(sides[0][list(event)].sum()), float(sides[1][list(event)].sum())


def both_ways(laws: Laws, pair: int, query: int) -> list[float]:
    """Exact losses of both labels in both directions."""
    one, other = laws.base[query], laws.neighbours[pair, query]
    return [float(value) for value in (*(one - other), *(other - one))]


def shortfalls(name: str, parameters: dict[str, object], seed: int) -> list[float]:
    """Check every certified cell of one audit.

    Return how far each bound is below the truth, in units of z(alpha) S / sqrt n.

    Where the truth is 0 there is nothing to be below, and the bound is 0 too.
    """
    target = resolve(name, parameters)
    group = breast_cancer(train=60, queries=6, seed=seed)
    every = [group_laws(target, each, silent) for each in groups_for(target, group)]
    settings = Settings(mode="monte-carlo", budget=BUDGET, seed=seed, executor="inline")
    (result,) = assay([target], group, settings)
    assert result.verdict in ("not refuted", "inconclusive")
    looked_at = [query for each in groups_for(target, group) for query in each.queries]
    assert len(evidence_of(result).cells) == len(looked_at)
    found = []
    for cell in evidence_of(result).cells:
        laws = every[cell.group]
        assert laws is not None
        assert isinstance(cell.event, tuple)
        p1, p0 = both_sides(laws, cell.pair, cell.query, cell.direction, cell.event)
        exact, z = max(0.0, math.log(p1 / p0)), float(norm.isf(cell.lower.alpha))
        unit = scatter(p1, p0, 0.0, BUDGET)
        largest = (
            max(exact, math.log((1 - p0) / (1 - p1))) if cell.lower.method == "accuracy" else exact
        )
        assert cell.lower.value <= largest
        assert max(both_ways(laws, cell.pair, cell.query)) <= cell.upper.value
        if exact > 0:
            found.append((exact - cell.lower.value) / (z * unit))
    return found


CASES = [
    (name, {**parameters, "epsilon": epsilon})
    for name, parameters in (("soft-majority", {"r": 5}), ("projected-walk", {"T": 3}))
    for epsilon in (0.25, 1.0)
]


@pytest.mark.usefixtures("bounds_only")
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_every_certified_cell(name: str, parameters: dict[str, object]) -> None:
    found = [each for seed in (0, 1, 2) for each in shortfalls(name, parameters, seed)]
    assert len(found) >= 8
    assert max(found) <= MOST
    assert 0.5 < float(np.mean(found)) < 1.3
