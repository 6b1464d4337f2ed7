"""Pairs of runs from the same generator states: what they may show at most, however they depend."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import DP, GDP, PredictionStability, Stability
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.events import Events
from dpassay.stats.paired import STAKES, Joint, just_above, lines_of, needed
from dpassay.stats.scales import scale_of

CLAIMS = [
    DP(epsilon=0.1),
    DP(epsilon=1.0),
    DP(epsilon=3.0),
    DP(epsilon=1.0, delta=0.05),
    GDP(mu=0.5),
    Stability(gamma=0.2),
]
EVENTS = np.array([[0, 1]])


def couplings(p1: float, p0: float) -> dict[str, NDArray[np.float64]]:
    """Return laws of two answers, 0 or 1, that have these probabilities of a 1 each, [[.]] (a, b).

    Every other law is a mixture of the first two.
    """
    both = {"alike": min(p1, p0), "unlike": max(0.0, p1 + p0 - 1), "independent": p1 * p0}
    return {name: np.array([[1 - p1 - p0 + b, p0 - b], [p1 - b, b]]) for name, b in both.items()}


def border(claim: Any) -> list[tuple[float, float]]:
    """Return probabilities of an event that a claim just allows."""
    allowed = scale_of(claim).allowed(claim.promised)
    p0 = np.linspace(0, 1, 41)
    return [*zip(allowed.edge(p0, both=True).tolist(), p0.tolist(), strict=True), allowed.tight]


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_no_factor_has_a_mean_above_1_under_any_coupling(claim: Any) -> None:
    """Linear in the law of the pair: the two extreme couplings of every border point decide."""
    lines, largest = kind_of(claim).lines(claim.promised), 0.0
    one = (Joint.of(EVENTS, 1, each.reshape(2, 2)) for each in np.eye(4))
    factors = np.stack([np.exp(each.log_wealth(lines)) for each in one])
    for p1, p0 in border(claim):
        for law in couplings(p1, p0).values():
            assert law.min() > -1e-12
            means = np.tensordot(law.ravel(), factors, axes=1)
            largest = max(largest, float(means.max()))
    assert 1 - 1e-9 < largest <= 1 + 1e-12


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_lines_lie_above_what_is_allowed_and_touch_it(claim: Any) -> None:
    allowed = scale_of(claim).allowed(claim.promised)
    for slope, slack in lines_of(allowed):
        above = [slope * p0 + slack - p1 for p1, p0 in border(claim)]
        assert min(above) == pytest.approx(0, abs=1e-12)


def naive(pairs: list[tuple[float, float]], lines: list[tuple[float, float]]) -> float:
    """Average over directions, lines and stakes of the products over pairs, one after another."""
    products = []
    for swapped, (s, c), stake in itertools.product((False, True), lines, STAKES):
        product = 1.0
        for pair in pairs:
            a, b = pair[::-1] if swapped else pair
            product *= 1 + stake * (a - s * b - c) / (s + c)
        products.append(product)
    return math.fsum(products) / len(products)


def test_evidence_is_the_average_of_all_products() -> None:
    rng = np.random.default_rng(0)
    symbols = rng.integers(3, size=(20, 2))
    table = np.zeros((3, 3))
    np.add.at(table, tuple(symbols.T), 1)
    events = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    joint, lines = Joint.of(events, 1, table), lines_of(scale_of(DP(epsilon=1.0)).allowed(1.0))
    twin = [naive([(h[a], h[b]) for a, b in symbols], lines) for h in events]
    assert math.exp(joint.log_evidence(lines)) == pytest.approx(np.mean(twin), rel=1e-12)
    assert joint.pairs == 20
    means = [(events[0][symbols[:, side]]).mean() for side in (0, 1)]
    product = (events[0][symbols[:, 0]] * events[0][symbols[:, 1]]).mean()
    assert joint.covariance(0) == pytest.approx(product - means[0] * means[1], abs=1e-12)


def test_numbers_are_compared_by_their_places_on_the_grid() -> None:
    tester = kind_of(PredictionStability(gamma=0.25))
    table = np.zeros((65, 65))
    table[48, 16], table[40, 32] = 3, 2
    joint, lines = Joint.of(tester.payoffs, tester.unit, table), tester.lines(0.25)
    twin = naive([(0.75, 0.25)] * 3 + [(0.625, 0.5)] * 2, [(1.0, 0.25)])
    assert math.exp(joint.log_evidence(lines)) == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize("coupling", ["alike", "unlike", "independent"])
@pytest.mark.parametrize(
    "claim", [DP(epsilon=0.5), DP(epsilon=0.5, delta=0.05), GDP(mu=0.5)], ids=str
)
def test_the_error_of_looking_after_every_pair_is_enumerated(claim: Any, coupling: str) -> None:
    """All counts of up to 24 pairs at the border, absorbed where the claim is first refuted."""
    alpha, most, largest = 0.5, 24, 0.0
    tester = Events(claim=claim, labels=(0, 1))
    lines = tester.lines(just_above(claim.promised))

    def refutes(counts: tuple[int, ...]) -> bool:
        joint = Joint.of(tester.payoffs, 1, np.array(counts, dtype=float).reshape(2, 2))
        return joint.log_evidence(lines) >= needed(alpha)

    known: dict[tuple[int, ...], bool] = {}
    for p1, p0 in (scale_of(claim).allowed(claim.promised).tight, border(claim)[4]):
        law = couplings(p1, p0)[coupling].ravel()
        alive: dict[tuple[int, ...], float] = {(0,) * 4: 1.0}
        refuted = 0.0
        for _ in range(most):
            after: dict[tuple[int, ...], float] = {}
            for counts, p in alive.items():
                for k in range(4):
                    then = (*counts[:k], counts[k] + 1, *counts[k + 1 :])
                    after[then] = after.get(then, 0.0) + p * law[k]
            for counts in after:
                if counts not in known:
                    known[counts] = refutes(counts)
            refuted += sum(p for counts, p in after.items() if known[counts])
            alive = {counts: p for counts, p in after.items() if not known[counts] and p > 0}
        largest = max(largest, refuted)
    assert alpha / 1000 < largest <= alpha


def test_a_lower_bound_is_the_last_of_the_leaks_that_are_refuted() -> None:
    tester, table = (
        Events(claim=DP(epsilon=0.1), labels=(0, 1)),
        np.array([[0.0, 0.0], [30.0, 2.0]]),
    )
    joint = Joint.of(tester.payoffs, 1, table)
    found = joint.lower(tester.lines, 0.1, 0.01)
    assert joint.log_evidence(tester.lines(found)) >= needed(0.01)
    assert joint.log_evidence(tester.lines(1.02 * found)) < needed(0.01)
    assert found == pytest.approx(0.1001 * 1.02 ** round(math.log(found / 0.1001) / math.log(1.02)))
    assert found > 1
    assert joint.lower(tester.lines, 0.1, 1e-30) == 0.0
    assert joint.lower(tester.lines, 0.0, 0.01) > 0.1
    assert joint.lower(tester.lines, 1e-90, 0.01) > 0.1
    again = Joint.from_json(joint.as_json())
    assert again.lower(tester.lines, 0.1, 0.01) == found
    assert again.as_json() == joint.as_json()
