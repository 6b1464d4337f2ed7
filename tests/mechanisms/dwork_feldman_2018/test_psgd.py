"""One-pass projected gradient descent. The rate of Theorem 4.12, printed and true, in fixed and in
random order."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput
from dpassay.mechanisms.dwork_feldman_2018.losses import SMOOTH
from dpassay.mechanisms.dwork_feldman_2018.psgd import PSGD
from dpassay.pairs import Replace, replace_one
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


def mean_prediction(
    psgd: PSGD, data: Labelled, queries: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The prediction, or its mean over all orders."""
    state = psgd.prepare(data)
    law = psgd.distribution(state, queries)
    return psgd.predictions_by_order(state, queries).mean(axis=0) if law is None else law.values


def own_change(psgd: PSGD) -> float:
    """Change of the (mean) prediction at the mechanism's own worst pair."""
    (case,) = psgd.pairs()
    (change,) = case.pairs.changes
    both = [
        mean_prediction(psgd, data, case.queries)[0]
        for data in (case.pairs.base, change.apply(case.pairs.base))
    ]
    return abs(float(both[0] - both[1]))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("average", ["before", "after"])
def test_the_twin_in_three_dimensions(loss: str, average: Any) -> None:
    rng = np.random.default_rng(2)
    for n, R, L_f in ((2, 1.0, 1.0), (9, 3.0, 0.5), (60, 0.2, 1.0)):
        psgd = PSGD(n=n, R=R, L_f=L_f, loss=loss, average=average)
        data = Labelled(rng.normal(size=(n, 3)) * 3, rng.integers(2, size=n))
        records = list(
            zip(map(tuple, psgd.features(data.X).tolist()), data.y.tolist(), strict=True)
        )
        w = twin_psgd.average(records, *twin_arguments(psgd))
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
    records = list(zip(map(tuple, psgd.features(data.X).tolist()), data.y.tolist(), strict=True))
    found = psgd.predictions_by_order(psgd.prepare(data), queries)
    every = [
        twin_psgd.average(list(order), *twin_arguments(psgd))
        for order in itertools.permutations(records)
    ]
    np.testing.assert_allclose(found, np.array(every) @ psgd.features(queries).T, atol=1e-14)
    mean = twin_psgd.mean_over_orders(records, *twin_arguments(psgd))
    np.testing.assert_allclose(found.mean(axis=0), psgd.features(queries) @ mean, atol=1e-14)
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
    for order, average in READINGS:
        printed, corrected = PSGD(
            n=25,
            order=order,  # type: ignore[arg-type]
            average=average,  # type: ignore[arg-type]
            R=2.0,
            L_f=0.5,
        ).claims
        assert (printed.status, corrected.status) == ("printed", "corrected")
        assert printed.promised == pytest.approx(0.2)
        assert corrected.promised == pytest.approx(0.2 * largest(25, order, average))


def test_hand_sized_witness() -> None:
    """n = 3, R = 1: eta = 1 / sqrt(3). Record 1 at 1, the others at 0. w_2 = w_3 = eta or -eta, the
    average 2/3 of that. The change is 4 / 3 eta; the printed rate is eta."""
    eta = 1 / math.sqrt(3)
    for loss in STEEP:
        psgd = PSGD(n=3, loss=loss)
        one, other = (
            psgd.prepare(Labelled(np.array([[1.0], [0.0], [0.0]]), np.array([y, 0, 0])))
            for y in (1, 0)
        )
        assert one.iterates is not None
        assert other.iterates is not None
        np.testing.assert_allclose(one.iterates[:, 0], [0, eta, eta, eta], atol=1e-15)
        np.testing.assert_allclose(other.iterates[:, 0], [0, -eta, -eta, -eta], atol=1e-15)
        assert own_change(psgd) == pytest.approx(4 / 3 * eta)
        assert psgd.claims[0].promised == pytest.approx(eta)


@pytest.mark.parametrize(("order", "average"), READINGS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [2, 5])
def test_steep_losses_attain_the_corrected_rate_and_the_others_half_of_it(
    loss: str, n: int, order: Any, average: Any
) -> None:
    """At the origin the logistic and the squared loss are half as steep as anywhere; L_f R = 1."""
    psgd = PSGD(n=n, loss=loss, order=order, average=average, R=2.0, L_f=0.5)
    expected = psgd.claims[1].promised * (1.0 if loss in STEEP else 0.5)
    assert own_change(psgd) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("average", ["before", "after"])
def test_in_fixed_order_many_records_too(average: Any) -> None:
    for n in (100, 400):
        psgd = PSGD(n=n, average=average)
        assert own_change(psgd) == pytest.approx(psgd.claims[1].promised, rel=1e-12)


@pytest.mark.parametrize(("order", "average"), READINGS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [2, 3])
def test_every_dataset_on_a_small_line(loss: str, n: int, order: Any, average: Any) -> None:
    """The twin alone: no pair exceeds the corrected rate. n = 3 is the first n at which one exceeds
    the printed one."""
    psgd = PSGD(n=n, loss=loss, order=order, average=average)
    line = [-1.0, -0.5, 0.0, 0.5, 1.0] if n == 2 else [-1.0, 0.0, 1.0]
    records = [((x,), y) for x in line for y in (0, 1)]
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
        exceeded = ((order, average) == ("fixed", "before") and n >= 3) or average == "after"
        assert (worst > printed * (1 + 1e-12)) == exceeded
    else:
        assert worst <= max(1.0, corrected / printed / 2) * printed * (1 + 1e-12)


def turned(
    loss: str, n: int, R: float, pushes: int, degrees: float
) -> tuple[PSGD, Labelled, Replace]:
    """Records that push w along the first axis, then one at this angle against it. The change
    mirrors that one; the rest are at 0."""
    X, y = np.zeros((n, 2)), np.zeros(n, dtype=int)
    X[:pushes, 0], y[: pushes + 1] = 1.0, 1
    across = np.array([-math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
    X[pushes] = across
    return PSGD(n=n, R=R, loss=loss), Labelled(X, y), Replace(pushes, across * [1, -1], 1)


@pytest.mark.parametrize(
    ("loss", "n", "R", "pushes", "degrees"),
    [("logistic", 16, 10.0, 2, 63), ("logistic", 100, 10.0, 10, 62), ("squared", 256, 1.0, 27, 67)],
)
def test_logistic_and_squared_loss_exceed_the_printed_rate_as_well(
    loss: str, n: int, R: float, pushes: int, degrees: float
) -> None:
    """Where w has been pushed to, both records are on the steep side of the loss. Their pulls are
    nearly opposite."""
    psgd, data, change = turned(loss, n, R, pushes, degrees)
    one = psgd.prepare(data)
    law, other = (
        psgd.distribution(state, points([[0.0, 1.0]], "queries"))
        for state in (one, psgd.update(one, change))
    )
    assert law is not None
    assert other is not None
    found, (printed, corrected) = (
        abs(law.values[0] - other.values[0]),
        (claim.promised for claim in psgd.claims),
    )
    assert printed * 1.004 < found - law.error - other.error
    assert found < corrected


def test_verdicts() -> None:
    result = audit(PSGD(), mode="exact")
    assert (result.verdict, result.claim.expected) == ("refuted", "refuted")
    assert result.exact == pytest.approx(0.198)
    corrected = audit(PSGD(), claim=PSGD().claims[1], mode="exact")
    assert corrected.verdict == "not refuted"
    assert "equal to the claim within numerical error" in corrected.outcome.reason


def test_a_random_order_is_sampled() -> None:
    psgd = PSGD(n=5, order="random", R=1.0)
    (case,) = psgd.pairs()
    result = audit(
        psgd, claim=psgd.claims[0], pairs=case.pairs, queries=case.queries, budget=20_000
    )
    assert result.mode == "monte-carlo"
    assert result.verdict == "not refuted"
    assert result.lower < psgd.claims[1].promised < result.upper


def test_real_data() -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    psgd = PSGD(n=80, feature_scale=tuple((5 * X.std(axis=0)).tolist()))
    pairs = replace_one(X[:80], y[:80], pool=(X[80:120], y[80:120]))
    result = audit(psgd, claim=psgd.claims[1], pairs=pairs, queries=X[120:130])
    assert result.verdict == "not refuted"
    assert result.exact is not None
    assert 0 < result.exact < psgd.claims[1].promised


def test_parameters_at_the_edge_and_from_the_command_line() -> None:
    assert PSGD(n=100, h=0.05).loss_function.smoothness == pytest.approx(20)
    assert PSGD(n=4, loss="logistic", R=16.0).eta == 8.0
    mechanism: Any = resolve(
        "dpassay.mechanisms.dwork_feldman_2018.psgd:PSGD",
        {"h": "0.5", "L_l": "2", "order": "random"},
    ).mechanism
    assert (mechanism.h, mechanism.L_l, mechanism.order) == (0.5, 2.0, "random")
