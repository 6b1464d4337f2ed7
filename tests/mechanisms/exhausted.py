"""Exhaustive mode held against a twin, for claims about loss and about probabilities. About the
change of a probability."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from dpassay.claims import Stability
from dpassay.engine.domains.domain import Domain
from dpassay.engine.exhaustive import domain_laws
from dpassay.engine.result import Result
from dpassay.targets.groups import silent
from dpassay.targets.resolve import resolve
from tests.mechanisms.test_exhaustive_twins import exhaust
from tests.mechanisms.twin_worst_case import Law, every_dataset, neighbours, worst_losses


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
    name: str, parameters: dict[str, Any], n: int, points: int, law: Law, tolerance: float = 1e-9
) -> list[Result]:
    """Assert that all laws and the worst cells of every result are the twin's; return results. The
    laws of the domain."""
    law = functools.cache(law)
    laws = domain_laws(resolve(name, parameters), Domain(n=n, points=points), silent)
    table = np.exp(laws.table).reshape(-1, points, 2)[:, :, 1]
    twin = [
        [law(dataset, query) for query in range(1, points + 1)]
        for dataset in every_dataset(n, points)
    ]
    np.testing.assert_allclose(table, twin, rtol=tolerance, atol=0)
    results = exhaust(name, parameters, n, points)
    for result in results:
        assert result.evidence is not None
        expected = (worst_changes if isinstance(result.claim, Stability) else worst_losses)(
            law, n, points
        )
        cells = [
            cell
            for cell in result.evidence.cells
            if result.evidence.groups[cell.group].kind == "domain"
        ]
        found = [cell.exact.value for cell in cells if cell.exact is not None]
        assert found == pytest.approx(expected, rel=0, abs=10 * tolerance)
    return results
