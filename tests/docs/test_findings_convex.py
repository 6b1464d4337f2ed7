"""docs/findings.md on the convex predictors of section 4.4 is held to what the code computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.data import Labelled, points
from dpassay.mechanisms.dwork_feldman_2018.erm import ERM
from dpassay.mechanisms.dwork_feldman_2018.psgd import PSGD
from dpassay.pairs import Replace
from tests.docs.findings_pages import printed, table


def own_change(mechanism: ERM | PSGD) -> float:
    """Change of the (mean) prediction at the mechanism's own worst pair."""
    (case,) = mechanism.pairs()
    (change,) = case.pairs.changes
    found = []
    for data in (case.pairs.base, change.apply(case.pairs.base)):
        state: Any = mechanism.prepare(data)
        assert getattr(state, "distance", 0.0) <= 1e-12
        law = mechanism.distribution(state, case.queries)
        if law is None:
            assert isinstance(mechanism, PSGD)
            found.append(float(mechanism.predictions_by_order(state, case.queries).mean()))
        else:
            found.append(float(law.values[0]))
    return abs(found[0] - found[1])


@pytest.mark.parametrize(
    "row", table(r"(absolute|hinge|logistic|squared) \| (\d+)", 5, many=8), ids=" ".join
)
def test_theorem_4_9(row: Any) -> None:
    loss, n, *said = row
    erm = ERM(n=int(n), loss=loss)
    change, rates = own_change(erm), [claim.promised for claim in erm.claims]
    numbers = erm.regularisation, *rates, change, rates[0] / change
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.6f} {:.3f}", *numbers)


def in_the_plane(loss: str, n: int, degrees: int) -> float:
    """Change when the last record's second feature changes its sign.

    The others push along the first axis.
    """
    erm, angle = ERM(n=n, loss=loss), np.radians(degrees)
    X = np.tile([1.0, 0.0], (n, 1))
    X[-1] = -np.cos(angle), np.sin(angle)
    state = erm.prepare(Labelled(X, np.ones(n, dtype=int)))
    other = erm.update(state, Replace(n - 1, X[-1] * [1, -1], 1))
    found = [erm.distribution(each, points([[0.0, 1.0]], "queries")) for each in (state, other)]
    assert max(law.error for law in found) <= 1e-8
    return abs(float(found[0].values[0] - found[1].values[0]))


@pytest.mark.parametrize("row", table("(logistic|squared), plane", 7, many=6), ids=" ".join)
def test_the_plane_exceeds_the_lone_record(row: Any) -> None:
    loss, n, pushing, t, *said = row
    size, degrees = int(n), int(t)
    assert int(pushing) == size - 1
    erm = ERM(n=size, loss=loss)
    lone, most = own_change(erm), erm.claims[1].promised
    before, change, after = (in_the_plane(loss, size, degrees + i) for i in (-1, 0, 1))
    assert change >= max(before, after)
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f}", lone, change, most, most / change)
    assert lone < change < most


@pytest.mark.parametrize(
    "row", table(r"sum, (hinge|absolute) \| (\d+) \| 1", 4, many=4), ids=" ".join
)
def test_the_regulariser_on_the_sum(row: Any) -> None:
    loss, n, *said = row
    erm = ERM(n=int(n), loss=loss, lambda_=1.0, regulariser="sum")
    change, (rate, sharp) = own_change(erm), (claim.promised for claim in erm.claims)
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f}", rate, sharp, change, rate / change)
    assert audit(erm, mode="exact").verdict == ("refuted" if int(n) > 4 else "not refuted")


@pytest.mark.parametrize("row", table("([+-])", 4, many=4), ids=" ".join)
def test_the_sign_in_the_update(row: Any) -> None:
    """The pair of the climbing entry, on the entry with either sign."""
    sign, n, *said = row
    size = int(n)
    case = PSGD(n=size, loss="squared", sign="+").pairs()[1]
    psgd = PSGD(n=size, loss="squared", sign=sign)
    laws = []
    for data in (case.pairs.base, case.pairs.changes[0].apply(case.pairs.base)):
        law = psgd.distribution(psgd.prepare(data), case.queries)
        assert law is not None
        laws.append(law)
    moved = abs(float(laws[0].values[0] - laws[1].values[0]))
    known = [claim.promised for claim in PSGD(n=size, loss="squared").claims]
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f}", *known, moved)
    if sign == "+":
        eta = 1 / (2 * np.sqrt(size))
        assert moved == pytest.approx(2 / size * ((1 + eta) ** (size - 1) - 1), rel=1e-12)
        assert [claim.status for claim in psgd.claims] == ["printed"]
        assert (audit(psgd, mode="exact").verdict == "refuted") is (size > 4)
        assert max(law.error for law in laws) < 1e-10


def test_the_hand_sized_witness_of_theorem_4_9() -> None:
    erm = ERM(n=2, loss="absolute", lambda_=0.5)
    w = [
        erm.prepare(Labelled(np.ones((2, 1)), np.array(labels))).w[0] for labels in ([1, 0], [1, 1])
    ]
    assert w == pytest.approx([0.0, 1.0], abs=1e-15)
    assert [claim.promised for claim in erm.claims] == [4.0, 1.0]


@pytest.mark.parametrize("row", table(r"(\d+)", 4, many=3), ids=" ".join)
def test_theorem_4_9_by_itself(row: Any) -> None:
    n, _, *said = row
    size = int(n)
    steepest = max(abs(w - y) for w in (-1 / size, 1 / size) for y in (-1, 0, 1))
    one, other = (np.clip(y / size, -1 / size, 1 / size) for y in (1, -1))
    rates = 4 * steepest / size, 2 * steepest / (size + 1)
    assert tuple(said) == printed("{:.4f} {:.4f} {:.4f}", *rates, one - other)
    assert rates[1] == pytest.approx(one - other, rel=1e-12)


@pytest.mark.parametrize(
    "row", table(r"(fixed|random) \| (before|after) \| ([a-z-]+)", 5, many=15), ids=" ".join
)
def test_theorem_4_12(row: Any) -> None:
    order, average, loss, n, *said = row
    psgd = PSGD(n=int(n), loss=loss, order=order, average=average)
    change, (rate, corrected) = own_change(psgd), (claim.promised for claim in psgd.claims)
    numbers = rate, corrected, change, rate / change
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f}", *numbers)


@pytest.mark.parametrize("row", table(r"(logistic|squared) \| (\d+)", 7, many=3), ids=" ".join)
def test_other_losses_in_theorem_4_12(row: Any) -> None:
    loss, n, R, k, t, *said = row
    size, pushes, angle = int(n), int(k), np.radians(float(t))
    X, y = np.zeros((size, 2)), np.zeros(size, dtype=int)
    X[:pushes, 0], y[: pushes + 1] = 1.0, 1
    X[pushes] = -np.cos(angle), np.sin(angle)
    psgd = PSGD(n=size, R=float(R), loss=loss)
    state = psgd.prepare(Labelled(X, y))
    other = psgd.update(state, Replace(pushes, X[pushes] * [1, -1], 1))
    laws = [psgd.distribution(each, points([[0.0, 1.0]], "queries")) for each in (state, other)]
    values = [law.values[0] for law in laws if law is not None]
    change, (rate, corrected) = abs(values[0] - values[1]), (each.promised for each in psgd.claims)
    numbers = rate, corrected, change, rate / change
    assert tuple(said) == printed("{:.6f} {:.6f} {:.6f} {:.3f}", *numbers)


@pytest.mark.parametrize("lambda_", [0.1, 0.25, 0.4, 0.5, 1.0])
def test_from_which_n_on_the_regulariser_on_the_sum_breaks_the_rate(lambda_: float) -> None:
    """'False for n > max(4, 2 / lambda)', R = L_f = L_l = 1.

    Not before, where the ball cuts the weights off.
    """
    first = int(max(4, round(2 / lambda_)))
    for n in (first - 1, first, first + 1, 3 * first):
        mechanism = ERM(n=n, loss="absolute", lambda_=lambda_, regulariser="sum")
        change = audit(mechanism, mode="exact").exact
        assert change is not None
        assert change == pytest.approx(min(1 / lambda_, 2.0), abs=1e-6)
        assert (change > mechanism.claims[0].promised + 1e-6) == (n > first)


def test_climbing_exceeds_the_rate_from_5_on_and_the_constant_of_descent_from_11_on() -> None:
    """Squared loss, R = L_f = 1, labels 0 and 1 in turn, the first one flipped.

    The projection cuts in for large n.
    """
    n = np.arange(4, 2001)
    eta, ways = 1 / (2 * np.sqrt(n)), np.zeros((2, len(n)))
    sums = np.zeros_like(ways)
    for i in range(n[-1]):
        on = i < n
        sums[:, on] += ways[:, on]
        y = np.array([1.0 if i % 2 else -1.0, 1.0 if i % 2 or i == 0 else -1.0])[:, None]
        ways = np.where(on, np.clip(ways + eta * (ways - y), -1, 1), ways)
    change, printed = np.abs(sums[0] - sums[1]) / n, 1 / np.sqrt(n)
    assert n[change > printed].tolist() == list(range(5, 2001))
    assert n[change > 2 * (n - 1) / n * printed].tolist() == list(range(11, 2001))
