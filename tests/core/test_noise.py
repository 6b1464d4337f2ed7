"""Additive noise: the loss of a shift, against quadrature, closed forms and tests.

The tests that half-lines are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace, norm

from dpassay import DP, Labelled, Noise, NoiseLaw, Pairs, PredictionStability, audit
from dpassay.engine.evidence import HalfLine
from dpassay.engine.kinds import leaks_of
from dpassay.engine.readings import NoiseLeaks
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.pairs import FlipLabel
from dpassay.stats.profile import trade_off

KINDS: tuple[Any, Any] = ("laplace", "gaussian")
FAMILY: dict[str, Any] = {"laplace": laplace, "gaussian": norm}


def hockey_stick_by_quadrature(kind: str, s: float, epsilon: float) -> float:
    """The integral of (p - e^epsilon q)_+ from its definition, p around s and q around 0."""
    law = FAMILY[kind]
    kinks = [0.0, s / 2, s, s / 2 + epsilon / 2, s / 2 + epsilon / max(s, 0.01)]
    found, _ = quad(
        lambda z: max(0.0, law.pdf(z - s) - math.exp(epsilon) * law.pdf(z)),
        -40,
        40 + s,
        points=kinks,
        limit=400,
    )
    return float(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("s", "epsilon"), [(0.3, 0.1), (1.0, 0.5), (2.5, 1.0), (2.5, 0.0), (0.5, 0.6)]
)
def test_the_hockey_stick_is_its_integral(kind: Any, s: float, epsilon: float) -> None:
    found = float(Noise(kind=kind, scale=3.0).hockey_stick(np.asarray(s), np.asarray(epsilon)))
    assert found == pytest.approx(hockey_stick_by_quadrature(kind, s, epsilon), abs=1e-8)


def test_laplace_by_hand() -> None:
    noise = Noise(kind="laplace", scale=2.0)
    value, error = noise.loss(np.array([0.0, 1.0]), 0.0)
    np.testing.assert_allclose(value, [0.0, 1.0], atol=1e-15)
    assert (error < 1e-14).all()
    assert noise.loss(np.array([1.0]), 0.1)[0][0] == pytest.approx(1 + 2 * math.log(0.9), abs=1e-15)
    assert noise.loss(np.array([0.1]), 0.1)[0][0] == 0.0


def test_gaussian_of_the_literature() -> None:
    """Balle and Wang (2018), figure 1.

    At epsilon = 1, delta = 1e-5 the classic sigma 4.84 is far above what is needed.
    """
    sigma = 3.730632
    value, error = Noise(kind="gaussian", scale=1.0).loss(np.array([1 / sigma]), 1e-5)
    assert value[0] == pytest.approx(1.0, abs=1e-5)
    assert error[0] < 1e-8


@given(st.sampled_from(KINDS), st.floats(0.01, 30.0), st.floats(1e-9, 0.9))
def test_the_loss_inverts_the_hockey_stick(kind: Any, s: float, delta: float) -> None:
    noise = Noise(kind=kind, scale=1.0)
    value, error = noise.loss(np.array([s]), delta)
    at = noise.hockey_stick(np.array([s]), value)[0]
    assert error[0] >= 0
    if value[0] > 0:
        assert at == pytest.approx(delta, rel=1e-9, abs=1e-14)
        assert noise.hockey_stick(np.array([s]), value - error - 1e-9)[0] > delta
    else:
        assert at <= delta * (1 + 1e-12)


@given(st.floats(0.01, 10.0), st.floats(0.0, 0.5))
def test_the_error_of_the_shift_is_passed_on(s: float, wide: float) -> None:
    for kind in KINDS:
        noise = Noise(kind=kind, scale=1.0)
        value, error = noise.loss(np.array([s]), 0.01, wide)
        for end in (max(0.0, s - wide), s + wide):
            there, _ = noise.loss(np.array([end]), 0.01)
            assert abs(there[0] - value[0]) <= error[0]


def test_gaussian_noise_has_no_pure_loss() -> None:
    value, _ = Noise(kind="gaussian", scale=1.0).loss(np.array([0.0, 1e-9, 1.0]), 0.0)
    np.testing.assert_array_equal(value, [0.0, np.inf, np.inf])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("s", [0.0, 1e-6, 0.1, 1.0, 4.0, 20.0])
def test_the_trade_off_function_is_enclosed(kind: Any, s: float) -> None:
    law = FAMILY[kind]
    claim = DP(epsilon=1.0, delta=1e-6)
    profile = NoiseLeaks(claim=claim, noise=Noise(kind=kind, scale=1.0)).profile(
        np.array([s]), np.array([0.0]), 0.0
    )
    assert profile is not None
    levels = np.linspace(0, 1, 41)
    lower, upper = trade_off(profile, levels)
    exact = law.cdf(law.isf(levels) - s)
    assert (lower <= exact + 1e-15).all()
    assert (exact <= upper + 1e-15).all()
    assert (upper - lower).max() < 0.002
    assert (profile.lower <= profile.upper).all()
    for epsilon, low, high in zip(
        profile.epsilon[:12:4], profile.lower[:12:4], profile.upper[:12:4], strict=True
    ):
        assert low - 1e-8 <= hockey_stick_by_quadrature(kind, s, float(epsilon)) <= high + 1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_binned_probabilities(kind: Any) -> None:
    law = NoiseLaw(values=np.array([0.3, -5.0]), noise=Noise(kind=kind, scale=2.0), error=1e-12)
    edges = np.array([[-10.0, -1.0, 0.0, 0.5, 30.0], [-60.0, -5.0, -4.0, 4.0, 50.0]])
    found = law.binned(edges)
    for row, value, p in zip(edges, law.values.tolist(), found.p, strict=True):
        ends = np.concatenate([[-np.inf], row, [np.inf]])
        cdf, sf = FAMILY[kind].cdf(ends, value, 2.0), FAMILY[kind].sf(ends, value, 2.0)
        expected = np.where(ends[1:] <= value, np.diff(cdf), -np.diff(sf))
        np.testing.assert_allclose(p, expected, rtol=1e-9, atol=1e-300)


def test_a_projected_number_has_atoms_at_its_limits() -> None:
    law = NoiseLaw(
        values=np.array([0.25]),
        noise=Noise(kind="laplace", scale=1.0),
        error=0.0,
        low=0.0,
        high=1.0,
    )
    p = law.binned(np.array([[0.0, np.nextafter(0, 1), 0.5, 1.0, np.nextafter(1, 2)]])).p[0]
    middle = np.asarray(laplace.cdf(np.array([0.0, 0.5, 1.0]), 0.25))
    np.testing.assert_allclose(
        p,
        [0.0, middle[0], middle[1] - middle[0], middle[2] - middle[1], 1 - middle[2], 0.0],
        atol=1e-15,
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"noise": Noise(kind="gaussian", scale=1.0)}, "'laplace' where the answer is projected"),
        ({"values": np.array([1.5])}, "in [low, high]"),
        ({"values": np.array([[0.5]])}, "of shape (queries,)"),
        ({"noise": 1.0}, "a Noise"),
        ({"error": -1.0}, "a finite number >= 0"),
    ],
)
def test_laws_that_cannot_be(change: dict[str, Any], said: str) -> None:
    known: dict[str, Any] = {
        "values": np.array([0.5]),
        "noise": Noise(kind="laplace", scale=1.0),
        "error": 0.0,
        "low": 0.0,
        "high": 1.0,
    }
    with pytest.raises(InvalidInput) as raised:
        NoiseLaw(**(known | change))
    assert said in str(raised.value)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scales_that_cannot_be(scale: float) -> None:
    with pytest.raises(InvalidInput, match="scale"):
        Noise(kind="laplace", scale=scale)


class Released:
    """The share of ones plus noise."""

    numbers = (-math.inf, math.inf)

    def __init__(self, noise: Noise, *, limited: bool = False, depends: bool = False) -> None:
        self.noise, self.depends = noise, depends
        if limited:
            self.numbers = (0.0, 1.0)

    @property
    def claims(self) -> tuple[DP, ...]:
        return (DP(epsilon=1.0),)

    def prepare(self, data: Labelled) -> float:
        return float(data.y.mean())

    def _noise(self, state: float) -> Noise:
        return (
            Noise(kind=self.noise.kind, scale=self.noise.scale * (1 + state))
            if self.depends
            else self.noise
        )

    def distribution(self, state: float, queries: np.ndarray) -> NoiseLaw:
        low, high = self.numbers
        return NoiseLaw(
            values=np.full(len(queries), state),
            noise=self._noise(state),
            error=1e-16,
            low=low,
            high=high,
        )

    def sample(
        self, state: float, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        return np.clip(state + self._noise(state).draw((size, len(queries)), rng), *self.numbers)


PAIRS = Pairs(
    base=Labelled([[0.0]] * 4, [0, 0, 0, 1]),  # type: ignore[arg-type]
    changes=(FlipLabel(0), FlipLabel(3)),
    how="two flips",
)


def result_of(mechanism: Any, claim: Any, **more: Any) -> Any:
    return audit(mechanism, claim=claim, pairs=PAIRS, queries=[[0.0]], executor="inline", **more)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(("delta", "loss"), [(0.0, 1.25), (0.1, 1.25 + 2 * math.log(0.9))])
def test_an_audit_of_laplace_noise(*, limited: bool, delta: float, loss: float) -> None:
    released = Released(Noise(kind="laplace", scale=0.2), limited=limited)
    result = result_of(released, DP(epsilon=1.0, delta=delta))
    assert result.mode == "exact"
    assert result.exact == pytest.approx(loss, abs=1e-12)
    assert result.verdict == ("refuted" if loss > 1 else "not refuted")
    assert result.evidence.fit.p_value > 1e-3
    cell = result.evidence.worst
    assert isinstance(cell.event, HalfLine)
    assert math.log((cell.p1 - delta) / cell.p0) == pytest.approx(loss, abs=1e-9)
    sampled = result_of(released, DP(epsilon=1.0, delta=delta), mode="monte-carlo", budget=20_000)
    assert sampled.lower <= loss


def test_an_audit_of_gaussian_noise() -> None:
    released = Released(Noise(kind="gaussian", scale=0.2))
    result = result_of(released, DP(epsilon=1.0, delta=0.01))
    assert hockey_stick_by_quadrature("gaussian", 1.25, result.exact) == pytest.approx(
        0.01, abs=1e-9
    )
    pure = result_of(released, DP(epsilon=1.0))
    assert pure.verdict == "refuted"
    assert pure.exact == math.inf
    cell = pure.evidence.worst
    assert math.log(cell.p1 / cell.p0) > 2


def test_the_mean_of_noise_is_the_value() -> None:
    noise = Noise(kind="laplace", scale=0.2)
    assert result_of(Released(noise), PredictionStability(gamma=0.25)).exact == pytest.approx(
        0.25, abs=1e-12
    )
    limited = result_of(Released(noise, limited=True), PredictionStability(gamma=0.25))
    assert limited.mode == "monte-carlo"


def test_noise_that_depends_on_the_data_has_no_exact_form() -> None:
    result = result_of(Released(Noise(kind="laplace", scale=0.2), depends=True), DP(epsilon=1.0))
    assert result.verdict == "error"
    assert "may not depend on the data" in result.outcome.reason


def test_what_cannot_be_read() -> None:
    law = NoiseLaw(
        values=np.array([0.5]), noise=Noise(kind="laplace", scale=1.0), error=0.0, low=0.0, high=1.0
    )
    assert leaks_of(PredictionStability(gamma=0.1), law, ()) is None
    finite = FiniteLaw(log_p=np.log([[0.5, 0.5]]), error=0.0)
    assert leaks_of(DP(epsilon=1.0), finite, (0, 1)) is not None


def test_replay_of_noise() -> None:
    from dpassay.record.replay import replay
    from dpassay.record.witness import make_witness
    from dpassay.targets.guard import AuditTarget

    for noise, claim in (
        (Noise(kind="laplace", scale=0.2), DP(epsilon=1.0)),
        (Noise(kind="gaussian", scale=0.2), DP(epsilon=1.0)),
    ):
        result = result_of(Released(noise), claim)
        witness = make_witness(result)
        assert witness is not None
        subject: AuditTarget = result.target
        again = replay(witness, target=subject)
        assert again.reproduced
        assert again.refuted
