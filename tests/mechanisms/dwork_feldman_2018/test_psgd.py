"""One-pass projected gradient descent: the rate of Theorem 4.12, printed and true."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.losses import SMOOTH
from dpassay.mechanisms.dwork_feldman_2018.psgd import PSGD
from dpassay.targets.resolve import resolve
from tests.mechanisms.dwork_feldman_2018 import twin_psgd

LOSSES = list(SMOOTH)
STEEP = ["huber", "smooth-hinge"]
READINGS = list(itertools.product(("fixed", "random"), ("before", "after")))
AT_ONE = points([[1.0]], "queries")


def largest(n: int, order: str, average: str) -> float:
    """Largest change that there can be, in units of R L_f / sqrt(n), written down once more."""
    fixed = 2 * (n - 1) / n if average == "before" else 2.0
    return fixed if order == "fixed" else {"before": (n - 1) / n, "after": (n + 1) / n}[average]


def twin_arguments(psgd: PSGD) -> tuple[Any, ...]:
    """What the twin is called with, from formulas of its own."""
    L_l = psgd.L_l or (psgd.R * psgd.L_f + 1 if psgd.loss == "squared" else 1.0)
    h = psgd.h or psgd.R * psgd.L_f / (2 * L_l * math.sqrt(psgd.n))
    return psgd.loss, psgd.R, psgd.L_f, L_l, h, psgd.average


def records_of(psgd: PSGD, data: Labelled) -> list[Any]:
    """Features and labels, as the twin has them."""
    return list(zip(map(tuple, psgd.features(data.X).tolist()), data.y.tolist(), strict=True))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("average", ["before", "after"])
def test_the_twin_in_three_dimensions(loss: str, average: Any) -> None:
    rng = np.random.default_rng(2)
    for n, R, L_f in ((2, 1.0, 1.0), (9, 3.0, 0.5), (60, 0.2, 1.0)):
        psgd = PSGD(n=n, R=R, L_f=L_f, loss=loss, average=average)
        data = Labelled(rng.normal(size=(n, 3)) * 3, rng.integers(2, size=n))
        w = twin_psgd.average(records_of(psgd, data), *twin_arguments(psgd))
        queries = points(rng.normal(size=(5, 3)), "queries")
        law = psgd.distribution(psgd.prepare(data), queries)
        assert law is not None
        assert law.error <= 1e-11
        assert np.abs(law.values - psgd.features(queries) @ w).max() <= law.error


@pytest.mark.parametrize("loss", STEEP)
@pytest.mark.parametrize("average", ["before", "after"])
def test_all_orders_are_those_of_the_twin(loss: str, average: Any) -> None:
    rng = np.random.default_rng(3)
    psgd = PSGD(n=4, loss=loss, order="random", average=average, L_l=1.5)
    data = Labelled(rng.normal(size=(4, 2)), rng.integers(2, size=4))
    queries = points(rng.normal(size=(3, 2)), "queries")
    records = records_of(psgd, data)
    found = psgd.predictions_by_order(psgd.prepare(data), queries)
    every = [
        twin_psgd.average(list(order), *twin_arguments(psgd))
        for order in itertools.permutations(records)
    ]
    np.testing.assert_allclose(found, np.array(every) @ psgd.features(queries).T, atol=1e-14)
    sampled = psgd.sample(psgd.prepare(data), queries, 20_000, np.random.default_rng(0))
    known, counts = np.unique(sampled.round(12), axis=0, return_counts=True)
    expected, copies = np.unique(found.round(12), axis=0, return_counts=True)
    np.testing.assert_array_equal(known, expected)
    share = copies / copies.sum()
    assert (np.abs(counts / counts.sum() - share) <= 5 * np.sqrt(share / 20_000)).all()


def test_too_many_orders_are_refused() -> None:
    data = Labelled(np.zeros((8, 1)), np.zeros(8, dtype=int))
    psgd = PSGD(n=8, order="random")
    with pytest.raises(InvalidInput, match="n = 8: must be at most 7"):
        psgd.predictions_by_order(psgd.prepare(data), AT_ONE)


def test_step_smoothness_and_rates() -> None:
    psgd = PSGD(n=25, R=2.0, L_f=0.5)
    assert psgd.eta == pytest.approx(2 / (0.5 * 5))
    assert psgd.loss_function.smoothness * 0.25 == pytest.approx(2 / psgd.eta)
    assert PSGD(n=25, L_l=4.0).eta == pytest.approx(1 / 20)
    assert PSGD(n=25, loss="squared", R=2.0).eta == pytest.approx(2 / (3 * 5))
    assert PSGD(n=4, loss="logistic", R=16.0).eta == 8.0
    assert PSGD(n=100, h=0.05).loss_function.smoothness == pytest.approx(20)
    for order, average in READINGS:
        readings: dict[str, Any] = {"order": order, "average": average}
        printed, corrected = PSGD(n=25, R=2.0, L_f=0.5, **readings).claims
        assert (printed.status, corrected.status) == ("printed", "corrected")
        assert printed.promised == pytest.approx(0.2)
        assert corrected.promised == pytest.approx(0.2 * largest(25, order, average))


@pytest.mark.parametrize(("order", "average"), READINGS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_dataset_on_a_small_line(loss: str, order: Any, average: Any) -> None:
    """The twin alone: no pair exceeds the corrected rate, which the steep losses attain."""
    psgd, n = PSGD(n=3, loss=loss, order=order, average=average), 3
    records = [((x,), y) for x in (-1.0, 0.0, 1.0) for y in (0, 1)]
    arguments = twin_arguments(psgd)
    twin = twin_psgd.average if order == "fixed" else twin_psgd.mean_over_orders
    values = {
        chosen: twin([records[k] for k in chosen], *arguments)[0]
        for chosen in itertools.product(range(len(records)), repeat=n)
        if order == "fixed" or list(chosen) == sorted(chosen)
    }

    def key(chosen: tuple[int, ...]) -> tuple[int, ...]:
        return chosen if order == "fixed" else tuple(sorted(chosen))

    worst = max(
        abs(value - values[key((*chosen[:i], k, *chosen[i + 1 :]))])
        for chosen, value in values.items()
        for i in range(n)
        for k in range(len(records))
    )
    printed, corrected = (claim.promised for claim in psgd.claims)
    assert worst <= corrected * (1 + 1e-12)
    if loss in STEEP:
        assert worst == pytest.approx(corrected, rel=1e-12)
        assert (worst > printed * (1 + 1e-12)) == ((order, average) != ("random", "before"))
    else:
        assert worst <= max(1.0, corrected / printed / 2) * printed * (1 + 1e-12)


def test_verdicts() -> None:
    result = audit(PSGD(), mode="exact")
    assert (result.verdict, result.claim.expected) == ("refuted", "refuted")
    assert result.exact == pytest.approx(0.198)
    corrected = audit(PSGD(), claim=PSGD().claims[1], mode="exact")
    assert corrected.verdict == "not refuted"
    assert "equal to the claim within numerical error" in corrected.outcome.reason


def test_a_random_order_is_sampled() -> None:
    psgd = PSGD(n=5, order="random", R=1.0)
    result = audit(psgd, claim=psgd.claims[0], budget=20_000)
    assert result.mode == "monte-carlo"
    assert result.verdict == "not refuted"
    assert result.lower < psgd.claims[1].promised < result.upper


def test_parameters_from_the_command_line() -> None:
    given = {"h": "0.5", "L_l": "2", "order": "random"}
    mechanism: Any = resolve("dpassay.mechanisms.dwork_feldman_2018.psgd:PSGD", given).mechanism
    assert (mechanism.h, mechanism.L_l, mechanism.order) == (0.5, 2.0, "random")
