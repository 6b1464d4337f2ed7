"""OpenDP: claim, data and releases of a measurement, and a claim of half its noise is refuted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest

from dpassay import DP, InvalidInput, audit
from dpassay.adapters import opendp
from dpassay.data import Values
from dpassay.errors import Failed
from dpassay.mechanism import FunctionMechanism
from dpassay.search.spaces import Answers
from dpassay.search.tables import Tables
from dpassay.targets.measurements import Release

FLOAT = dp.atom_domain(T=float, nan=False)
INTS = dp.vector_domain(dp.atom_domain(T=int), size=3)
BOUNDED = dp.vector_domain(dp.atom_domain(bounds=(0, 10)))


@pytest.fixture(autouse=True)
def contrib() -> Iterator[None]:
    """Switch on what the library has not proved, as nearly all users do."""
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


def laplace(scale: float = 1.0) -> Any:
    return dp.m.make_laplace(FLOAT, dp.absolute_distance(T=float), scale=scale)


def gaussian() -> Any:
    return dp.m.make_gaussian(FLOAT, dp.absolute_distance(T=float), scale=1.0)


def user(domain: Any, metric: Any, measure: Any = None, told: Any = None) -> Any:
    """A measurement that does nothing, of any domain, metric and measure."""
    return dp.m.make_user_measurement(
        domain,
        metric,
        measure or dp.max_divergence(),
        lambda data: data,
        (lambda _: 1.0) if told is None else told,
        TO="ExtrinsicObject",
    )


def total() -> Any:
    return dp.t.make_sum(BOUNDED, dp.symmetric_distance()) >> dp.m.then_laplace(scale=10.0)


def odd() -> Any:
    return user(FLOAT, dp.absolute_distance(T=float), dp.user_divergence("odd"))


def counts() -> Any:
    return user(INTS, dp.linf_distance(T=int))


def bits() -> Any:
    return user(dp.bitvector_domain(max_weight=2), dp.discrete_distance())


def test_a_max_divergence_is_epsilon_also_where_it_is_0() -> None:
    assert opendp.claim(laplace(), 1.0).epsilon == pytest.approx(1, abs=1e-9)
    assert opendp.claim(laplace(2.0), d_in=3.0).epsilon == pytest.approx(1.5, abs=1e-9)
    assert opendp.claim(laplace(), 0.0).epsilon == 0
    claim = opendp.claim(laplace(), 1.0)
    assert (claim.delta, claim.curve) == (0, None)
    assert claim.source == "the privacy map of an OpenDP measurement"


def test_concentrated_and_smoothed_divergences_are_curves() -> None:
    assert str(opendp.claim(gaussian(), 1.0)) == "zCDP(0.5)"
    assert str(opendp.claim(gaussian(), 2.0)) == "zCDP(2)"
    profile = dp.c.make_zCDP_to_approxDP(gaussian())
    points = {each.delta: each.epsilon for each in opendp.claim(profile, 1.0).points}
    assert points[1e-6] == pytest.approx(profile.map(1.0).epsilon(1e-6))
    assert len(points) > 5
    assert sorted(points.values()) == [points[delta] for delta in sorted(points, reverse=True)]


def test_approximate_divergences_keep_their_delta() -> None:
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian()), 1e-3)
    claim = opendp.claim(fixed, 1.0)
    assert (claim.epsilon, claim.delta) == pytest.approx(fixed.map(1.0))
    exact = opendp.claim(dp.c.make_approximate(gaussian()), 1.0)
    assert str(exact) == "zCDP(0.5)"
    measure = dp.approximate(dp.zero_concentrated_divergence())
    shifted = opendp.claim(
        user(FLOAT, dp.absolute_distance(T=float), measure, lambda _: (0.5, 0.02)), 1.0
    )
    plain = {each.epsilon: each.delta for each in opendp.claim(gaussian(), 1.0).points}
    assert {each.epsilon: each.delta - 0.02 for each in shifted.points} == pytest.approx(plain)


def test_a_renyi_divergence_is_read_at_orders() -> None:
    measure, told = dp.renyi_divergence(), lambda _: lambda order: order / 2
    renyi = opendp.claim(user(FLOAT, dp.absolute_distance(T=float), measure, told), 1.0)
    assert str(renyi) == f"RDP of {len(opendp.ORDERS)} orders"
    known = {each.delta: each.epsilon for each in opendp.claim(gaussian(), 1.0).points}
    assert len(known.keys() & {each.delta for each in renyi.points}) > 5
    for each in renyi.points:  # of fewer orders: what follows is about the same, or weaker
        assert each.epsilon >= known.get(each.delta, 0.0) - 1e-2


RECORDS: list[tuple[int, dict[str, Any], str, tuple[int, int]]] = [
    (1, {}, "add-remove", (0, 10)),
    (2, {}, "replace-one", (0, 10)),
    (5, {}, "replace-2", (0, 10)),
    (5, {"relation": "replace-one"}, "replace-one", (0, 10)),
    (1, {"limits": (2, 4), "data": [3, 4, 3]}, "add-remove", (2, 4)),
]


@pytest.mark.parametrize(("d_in", "told", "relation", "limits"), RECORDS)
def test_records_under_the_symmetric_distance(
    d_in: int, told: dict[str, Any], relation: str, limits: tuple[int, int]
) -> None:
    space = opendp.neighbours(total(), d_in, **told)
    assert isinstance(space, Tables)
    (column,) = space.rows.form.columns
    assert (space.relation, space.fixed) == (relation, False)
    assert (column.kind, column.low, column.high) == ("integer", *limits)
    assert len(space.rows) == len(told.get("data", range(opendp.RECORDS)))


def test_a_domain_with_a_size_replaces_records() -> None:
    sized = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=4)
    space = opendp.neighbours(user(sized, dp.symmetric_distance()), 2)
    assert isinstance(space, Tables)
    assert (space.relation, space.fixed, len(space.rows)) == ("replace-one", True, 4)
    by_place = opendp.neighbours(user(sized, dp.hamming_distance()), 2)
    assert by_place.relation == "replace-2"
    with pytest.raises(InvalidInput, match="d_in = 1: must be at least 2, as the domain fixes"):
        opendp.neighbours(user(sized, dp.symmetric_distance()), 1)
    with pytest.raises(InvalidInput, match="size = 5: must be 4, as the domain says"):
        opendp.neighbours(user(sized, dp.symmetric_distance()), 2, size=5)


def test_nan_is_a_missing_value_and_arrives_as_one() -> None:
    measurement = user(dp.vector_domain(dp.atom_domain(T=float)), dp.symmetric_distance())
    space = opendp.neighbours(measurement, 1)
    assert isinstance(space, Tables)
    (column,) = space.rows.form.columns
    assert (column.missing, column.low, column.high) == (True, -1e300, 1e300)
    one, missing = Release(measurement)([1.0, None])
    assert one == 1
    assert math.isnan(missing)


@pytest.mark.parametrize(
    ("atom", "told", "values"),
    [
        (dp.atom_domain(T=bool), {}, (False, True)),
        (dp.atom_domain(T=str), {}, opendp.TEXTS),
        (dp.atom_domain(T=str), {"values": ["yes", "no"]}, ("no", "yes")),
    ],
)
def test_one_value_under_the_discrete_distance(
    atom: Any, told: dict[str, Any], values: tuple[Any, ...]
) -> None:
    measurement = user(atom, dp.discrete_distance())
    space = opendp.neighbours(measurement, 1, **told)
    assert isinstance(space, Tables)
    assert (space.relation, space.fixed, len(space.rows)) == ("replace-one", True, 1)
    assert space.rows.form.columns[0].values == values
    assert Release(measurement)([values[0]]) == values[0]


def test_vectors_move_by_as_much_as_their_norm_allows() -> None:
    floats = dp.vector_domain(FLOAT, size=4)
    l1, l2 = dp.l1_distance(T=float), dp.l2_distance(T=float)
    cases: list[tuple[Any, dict[str, Any], tuple[float, int | None]]] = [
        (l1, {}, (2.0, 1)),
        (l1, {"moved": 4}, (0.5, None)),
        (l2, {"moved": 4}, (1.0, None)),
        (l2, {}, (2.0, 1)),
        (dp.linf_distance(T=float), {}, (2.0, None)),
        (dp.linf_distance(T=float, monotonic=True), {}, (2.0, 1)),
    ]
    for metric, told, wanted in cases:
        space = opendp.neighbours(user(floats, metric), 2.0, **told)
        assert isinstance(space, Answers)
        assert (space.size, space.low, space.high) == (4, -math.inf, math.inf)
        assert (space.sensitivity, space.moved) == wanted


def test_integers_move_by_integers_within_their_type() -> None:
    space = opendp.neighbours(user(INTS, dp.l2_distance(T=int)), 2, moved=2)
    assert isinstance(space, Answers)
    assert (space.size, space.sensitivity, space.moved) == (3, 1, 2)
    assert (space.low, space.high) == (-(2**31), 2**31 - 1)
    with pytest.raises(InvalidInput, match="d_in = 1: must be so large that 2 integers can move"):
        opendp.neighbours(user(INTS, dp.l2_distance(T=int)), 1, moved=2)


def test_rounding_never_moves_integers_further() -> None:
    """Every pair that is proposed is one of neighbours in the metric, as the release sees it."""
    release, space = Release(counts()), opendp.neighbours(counts(), 2)
    moves = []
    for pair in space.first(np.random.default_rng(0), 200):
        near = pair.change.apply(pair.base)
        assert isinstance(pair.base, Values)
        one, other = release(pair.base.values), release(near.values)
        assert all(type(each) is int for each in (*one, *other))
        moves.append(max(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert set(moves) <= {0, 1, 2}
    assert 2 in moves


def test_one_number_under_the_absolute_distance() -> None:
    space = opendp.neighbours(laplace(), 2.5)
    assert isinstance(space, Answers)
    assert (space.size, space.sensitivity, space.moved) == (1, 2.5, None)
    assert isinstance(Release(laplace())(np.array([1.0])), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: opendp.claim(3, 1), "measurement = 'int': must be a Measurement of OpenDP"),
        (lambda: opendp.claim(total(), -1), "d_in = -1: the privacy map refuses it: "),
        (lambda: opendp.claim(laplace(1e-6), 1e4), "d_in = 10000.0: the privacy map says .*700"),
        (lambda: opendp.claim(odd(), 1.0), "measure = odd: must be a max, smoothed max"),
        (lambda: opendp.neighbours(total(), 0), "d_in = 0: must be a finite number > 0"),
        (lambda: opendp.neighbours(total(), 1.5), r"d_in = 1\.5: must be an integer >= 1"),
        (
            lambda: opendp.neighbours(total(), 2, relation="replace-2"),
            "relation = 'replace-2': must be 'replace-one' or 'add-remove'",
        ),
        (lambda: opendp.neighbours(total(), 1, limits=(0, 11)), r"limits = \(0, 11\): must be two"),
        (lambda: opendp.neighbours(total(), 1, values=[1]), "values = .*: the records are numbers"),
        (lambda: opendp.neighbours(total(), 1, moved=1), "moved: goes with a vector under a norm"),
        (lambda: opendp.neighbours(total(), 1, data=[]), "data = '0 records': must be at least"),
        (lambda: opendp.neighbours(total(), 1, size=0), "size = 0: must be an integer >= 1"),
        (lambda: opendp.neighbours(laplace(), 1.0, data=[1]), "data: goes with records, not with"),
        (
            lambda: opendp.neighbours(counts(), 1, moved=4),
            "moved = 4: must be an integer from 1 to 3",
        ),
        (
            lambda: opendp.neighbours(bits(), 1),
            "measurement: has the domain BitVectorDomain.*; must",
        ),
        (
            lambda: audit(total(), claim=DP(epsilon=1.0)),
            "mechanism = .*: is a measurement of OpenDP; say what its datasets look like",
        ),
    ],
)
def test_what_cannot_be_said_is_one_line(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}") as told:
        call()
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("few_pairs")
def test_a_measurement_keeps_its_claim_and_breaks_half_of_it() -> None:
    measurement = laplace()
    claim, data = opendp.claim(measurement, 1.0), opendp.neighbours(measurement, 1.0)
    told: dict[str, Any] = {"data": data, "budget": 400, "confidence": 0.99, "executor": "inline"}
    kept = audit(measurement, claim=claim, **told)
    assert kept.verdict in ("not refuted", "inconclusive")
    assert not kept.target.seeded
    assert kept.claim.relation == "answers-1"
    assert audit(measurement, claim=DP(epsilon=claim.epsilon / 2), **told).verdict == "refuted"


def test_an_exception_is_an_answer() -> None:
    def release(data: Any) -> float:
        return 1.0 / len(data)

    domain = dp.vector_domain(dp.atom_domain(T=bool))
    measurement = dp.m.make_user_measurement(
        domain, dp.symmetric_distance(), dp.max_divergence(), release, lambda _: 1.0, TO=float
    )
    mechanism = FunctionMechanism(
        function=Release(measurement), claims=(), takes=("data",), free=True, seeded=False
    )
    rng = np.random.default_rng(0)
    assert mechanism.sample([True, False], np.zeros((1, 0)), 2, rng) == [0.5, 0.5]
    (failed,) = mechanism.sample([], np.zeros((1, 0)), 1, rng)
    assert (type(failed), failed.kind) == (Failed, "OpenDPException")
