"""Exhaustive mode against the brute-force twins: every law and the worst loss."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.claims import Stability
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exhaustive import domain_laws
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk as walk
from tests.mechanisms.dwork_feldman_2018 import twin_projected_walk_overview as bias
from tests.mechanisms.dwork_feldman_2018 import twin_soft_majority as vote
from tests.mechanisms.twin_worst_case import Law, every_dataset, neighbours, worst_losses

Answer = Callable[..., float]


def exhaust(
    name: str, parameters: dict[str, Any], n: int, points: int | tuple[int, ...]
) -> list[Result]:
    """One result per claim."""
    settings = Settings(mode="exhaustive", domain=Domain(n=n, points=points))
    return list(assay([resolve(name, parameters)], None, settings))


def worst_changes(law: Law, n: int, points: int) -> list[float]:
    """Largest change of a probability per query point, over all pairs of neighbours."""
    every = every_dataset(n, points)
    return [
        max(
            abs(law(dataset, query) - law(other, query))
            for dataset in every
            for other in neighbours(dataset, points)
        )
        for query in range(1, points + 1)
    ]


def compare(
    name: str, parameters: dict[str, Any], n: int, points: int, law: Law, error: float = 1e-12
) -> list[Result]:
    """Assert that all laws and the worst of every query are the twin's, and return the results."""
    law = functools.cache(law)
    laws = domain_laws(resolve(name, parameters), Domain(n=n, points=points), silent)
    twin = [
        [law(dataset, query) for query in range(1, points + 1)]
        for dataset in every_dataset(n, points)
    ]
    table = np.exp(laws.table).reshape(-1, points, 2)[:, :, 1]
    np.testing.assert_allclose(table, twin, rtol=error, atol=0)
    worst = functools.cache(lambda of: of(law, n, points))
    results = exhaust(name, parameters, n, points)
    for result in results:
        assert result.evidence is not None
        assert result.mode == "exhaustive"
        expected = worst(worst_changes if isinstance(result.claim, Stability) else worst_losses)
        groups = result.evidence.groups
        cells = [each for each in result.evidence.cells if groups[each.group].kind == "domain"]
        found = [cell.exact.value for cell in cells if cell.exact is not None]
        assert found == pytest.approx(expected, rel=0, abs=max(1e-9, 10 * error))
        if len(cells) == len(result.evidence.cells):
            assert result.exact == pytest.approx(max(expected), rel=0, abs=max(1e-9, 10 * error))
            assert result.lower <= max(expected) <= result.upper
        elif result.verdict == "refuted":
            # the claim holds on the domain, and the mechanism's own worst case breaks it
            assert max(expected) < result.claim.promised < result.lower
    return results


SHAPES = [
    pytest.param(3, 1, 3, "majority", vote.majority, id="n=3,r=3,domain=1"),
    pytest.param(5, 1, 2, "majority", vote.majority, id="n=5,r=2,domain=1"),
    pytest.param(4, 2, 3, "tree", vote.splitting_at_the_middle, id="n=4,r=3,domain=2,tree"),
]
RULES = [
    pytest.param("soft-majority", vote.theorem, id="theorem"),
    pytest.param("soft-majority-overview", vote.overview, id="overview"),
]


@pytest.mark.parametrize("partition", ["fixed", "fresh"])
@pytest.mark.parametrize(("name", "answer"), RULES)
@pytest.mark.parametrize(("n", "points", "r", "learner", "twin_learner"), SHAPES)
def test_soft_majorities(
    partition: str,
    name: str,
    answer: Answer,
    n: int,
    points: int,
    r: int,
    learner: str,
    twin_learner: vote.Learner,
) -> None:
    fresh = functools.partial(vote.fresh, answer=answer)
    chance: Answer = answer if partition == "fixed" else fresh
    law = functools.partial(chance, epsilon=1.0, r=r, learner=twin_learner)
    parameters = {"epsilon": 1.0, "r": r, "learner": learner, "partition": partition}
    compare(name, parameters, n, points, law)


@pytest.mark.parametrize("ties", ["sum", "index"])
@pytest.mark.parametrize(("T", "n"), [(1, 4), (2, 3)])
def test_projected_walk(ties: str, T: int, n: int) -> None:
    law = functools.partial(walk.probability_of_one, epsilon=1.0, T=T, ties=ties)
    (result,) = compare("projected-walk", {"epsilon": 1.0, "T": T, "ties": ties}, n, 3, law)
    assert result.verdict == "verified"


@pytest.mark.parametrize("ties", ["sum", "index"])
@pytest.mark.parametrize(
    ("epsilon", "alpha", "n"), [(1.0, 0.05, 3), pytest.param(0.3, 0.2, 4, marks=pytest.mark.slow)]
)
def test_projected_walk_of_the_overview(ties: str, epsilon: float, alpha: float, n: int) -> None:
    """Three records reach the worst case of any size, four for other parameters."""
    law = functools.partial(bias.probability_of_one, epsilon=epsilon, alpha=alpha, ties=ties)
    printed, corrected = compare(
        "projected-walk-overview",
        {"epsilon": epsilon, "alpha": alpha, "ties": ties},
        n,
        3 if n == 3 else 4,
        law,
    )
    assert (printed.verdict, corrected.verdict) == ("refuted", "verified")
    assert printed.exact == pytest.approx(corrected.claim.promised, abs=1e-12)


def test_the_theorem_is_verified_and_the_overview_refuted() -> None:
    parameters = {"epsilon": 1.0, "r": 3, "learner": "majority"}
    (theorem,) = exhaust("soft-majority", parameters, 3, 1)
    printed, corrected = exhaust("soft-majority-overview", parameters, 3, 1)
    assert (theorem.verdict, printed.verdict, corrected.verdict) == (
        "verified",
        "refuted",
        "verified",
    )
    # one of three votes, by hand: ln(sigma(-1/2) / sigma(-3/2)) and ln(sigma(-1) / sigma(-3))
    for result, votes in ((theorem, 0.5), (printed, 1.0)):
        by_hand = math.log((1 + math.exp(3 * votes)) / (1 + math.exp(votes)))
        assert result.exact == pytest.approx(by_hand, abs=1e-12)


def test_the_counts_of_what_was_searched() -> None:
    (result,) = exhaust("projected-walk", {"T": 1}, 2, 2)
    assert result.evidence is not None
    assert result.evidence.searched["datasets"] == 16
    assert result.evidence.searched["pairs"] == 16 * 6 // 2
    assert result.evidence.searched["cells"] == 16 * 6 * 2
