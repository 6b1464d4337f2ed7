"""docs/findings.md on noisy descent in random order is held to what the code computes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.mechanisms.dwork_feldman_2018.psgd_laplace import PsgdLaplace, loss_between_mixtures
from tests.docs.findings_pages import printed, table

KINDS = {
    "lone": lambda n: [1.0] + [0.0] * (n - 1),
    "alike": lambda n: [1.0] * n,
    "alike and one away": lambda n: [1.0] * (n - 1) + [0.0],
    "two half as far": lambda n: [1.0, 1.0] + [0.5] * (n - 2),
}
RECORDS = list(itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), (0, 1)))
QUERY = points([[1.0]], "queries")


def values(X: list[float], y: list[int]) -> NDArray[np.float64]:
    """Predictions at 1 in every order."""
    mechanism = PsgdLaplace(n=len(y), order="random")
    state = mechanism.prepare(Labelled(np.array(X)[:, None], np.array(y)))
    return mechanism.predictions_by_order(state, QUERY)[:, 0]


def loss(X: list[float], epsilon: float) -> float:
    """Exact loss when the first label of all zeros is flipped."""
    n = len(X)
    zeros = [0] * n
    return loss_between_mixtures(
        values(X, zeros), values(X, [1, *zeros[1:]]), 1 / math.sqrt(n) / epsilon
    )


@pytest.mark.parametrize("row", table(rf"({'|'.join(KINDS)})", 4, many=8), ids=" ".join)
def test_losses(row: Any) -> None:
    n, epsilon = int(row[1]), float(row[2])
    found = loss(KINDS[row[0]](n), epsilon)
    assert row[3:] == printed("{:.6f} {:.3f}", found, found / epsilon)
    assert found <= 2 * (n - 1) / n * epsilon


def test_the_loss_between_mixtures_is_that_of_a_fine_grid() -> None:
    """Ratios of the densities themselves, and the mass that a density has."""
    one, other, b = np.array([0.0, 0.3, 0.9]), np.array([0.1, 0.2, 0.4, 0.5]), 0.1

    def density(t: NDArray[np.float64] | float, around: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.exp(-np.abs(np.asarray(t)[..., None] - around) / b).mean(
            axis=-1
        ) / (2 * b)
        return found

    t = np.linspace(-1, 2, 300_001)
    ratio = np.abs(np.log(density(t, one) / density(t, other)))
    assert loss_between_mixtures(one, other, b) == pytest.approx(ratio.max(), abs=1e-4)
    assert loss_between_mixtures(one, other, b) >= ratio.max() - 1e-12
    assert quad(lambda at: float(density(at, one)), -3, 4, points=one.tolist())[0] == pytest.approx(
        1.0, abs=1e-8
    )


def test_by_hand() -> None:
    assert sorted(set(np.round(values([1.0] * 3, [0, 0, 0]), 4))) == [-0.5258]
    assert sorted(set(np.round(values([1.0] * 3, [1, 0, 0]), 4))) == [-0.5258, -0.1925, 0.1925]
    result = audit(PsgdLaplace(n=3, order="random", epsilon=5.0, threshold=0.2), mode="exact")
    assert result.exact == pytest.approx(loss([1.0] * 3, 5.0), abs=1e-9)
    assert result.verdict == "refuted"
    assert loss([1.0] * 3, 4.248) < 4.248
    assert loss([1.0] * 3, 4.249) > 4.249


@pytest.mark.parametrize("n", [4, 5, 6])
def test_three_records_break_it_for_every_n(n: int) -> None:
    """The bound of the page, and that it exceeds the claim in the end."""
    three = [1.0] * 3 + [0.0] * (n - 3)
    orders = math.log(n * (n - 1) * (n - 2) / 2)
    for epsilon in (1.0, 10.0, 2 * n * orders):
        assert loss(three, epsilon) >= (n + 1) / n * epsilon - orders - 1e-9
    assert loss(three, 2 * n * orders) > 2 * n * orders


def worst_on_the_line(n: int, epsilons: tuple[float, ...]) -> list[float]:
    """Largest loss of any dataset of n records on five points and any replacement.

    For each epsilon, asked at 1. Datasets with the same predictions lose the same.
    """
    known = {
        each: tuple(sorted(values([x for x, _ in each], [y for _, y in each])))
        for each in itertools.combinations_with_replacement(RECORDS, n)
    }
    pairs = {
        tuple(sorted(known[tuple(sorted((each, *rest)))] for each in replaced))
        for rest in itertools.combinations_with_replacement(RECORDS, n - 1)
        for replaced in itertools.combinations(RECORDS, 2)
    }
    laws = [(np.array(one), np.array(other)) for one, other in pairs]
    return [
        max(loss_between_mixtures(*each, 1 / math.sqrt(n) / epsilon) for each in laws)
        for epsilon in epsilons
    ]


def test_every_dataset_of_three_or_four_on_the_line() -> None:
    found = worst_on_the_line(3, (1.0, 5.0))
    assert f"{found[0]:.3f}" == "0.749"
    assert found[1] == pytest.approx(loss([1.0] * 3, 5.0), abs=1e-9)
    found = worst_on_the_line(4, (1.0, 5.0, 20.0))
    assert f"{found[0]:.3f}" == "0.826"
    assert found[1] == pytest.approx(loss(KINDS["alike and one away"](4), 5.0), abs=1e-9)
    assert found[2] == pytest.approx(loss(KINDS["two half as far"](4), 20.0), abs=1e-9)
