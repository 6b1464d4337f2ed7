"""The five methods on one fold, against a twin that trains one classifier at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.section5.methods import Fold, Outcome, mechanism_of, run
from benchmarks.section5.settings import ALPHAS, METHODS
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.seeds import stream
from tests.section5.synthetic import TABLES

M = 20
DATA = TABLES[1].data
FOLD = Fold(data=DATA, m=M, base="objective-perturbation,oplr=true,d=2")
T, V = DATA.take(slice(0, len(DATA) - M)), DATA.take(slice(len(DATA) - M, None))
THETAS = ObjectivePerturbation().thetas


def coins(*what: Any) -> np.random.Generator:
    return stream("methods", *what)


@pytest.fixture(scope="module")
def found() -> Outcome:
    return run(FOLD, coins)


def trained(alpha: float, theta: float, R: Any, rows: slice = slice(None)) -> Any:
    """Algorithm 3 with `oplr` on some records of T."""
    trainer = ObjectivePerturbation(oplr=True, d=2, m=0, alpha=alpha)
    return trainer.apply(T.take(rows), theta, R[None])[0]


def noise(method: str, alpha: float, *, last: bool = False) -> Any:
    trainer = ObjectivePerturbation(d=2)
    return trainer.noise(1 if last else 10, coins(method, alpha, "last" if last else "train"))


PHI = ObjectivePerturbation(d=2).features(V.X)


def errors(w: Any) -> int:
    return int(((PHI @ w >= 0) != (V.y == 1)).sum())


def score(w: Any) -> float:
    """Minus the mean ramp loss."""
    return -float(np.clip(1 - (2 * V.y - 1) * (PHI @ w), 0, 1).mean())


def near(w: Any) -> Any:
    return pytest.approx(w, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("alpha", ALPHAS[::5])
def test_stability(found: Outcome, alpha: float) -> None:
    """Noise of mean 2 beta / alpha_2, half of alpha each, and fresh noise for what is released."""
    at = METHODS.index("Stability"), ALPHAS.index(alpha)
    R = noise("Stability", alpha)
    scores = [score(trained(alpha / 2, theta, r)) for theta, r in zip(THETAS, R, strict=True)]
    beta = max(2 / min(THETAS) / len(T), 1 / M)
    drawn = coins("Stability", alpha, "choose").exponential(2 * beta / (alpha / 2), size=10)
    index = int(np.argmax(np.array(scores) + drawn))
    assert found.index[at] == index
    (last,) = noise("Stability", alpha, last=True)
    assert found.w[at] == near(trained(alpha / 2, THETAS[index], last))


@pytest.mark.parametrize("alpha", ALPHAS[::5])
@pytest.mark.parametrize("method", ["alphaSplit", "dataSplit"])
def test_splits(found: Outcome, method: str, alpha: float) -> None:
    """A tenth of alpha, or of T; chosen by e^(-alpha e / 2)."""
    at = METHODS.index(method), ALPHAS.index(alpha)
    R, share = noise(method, alpha), alpha / 10 if method == "alphaSplit" else alpha
    parts = [slice(i, None, 10) if method == "dataSplit" else slice(None) for i in range(10)]
    W = [trained(share, THETAS[i], R[i], parts[i]) for i in range(10)]
    gumbel = coins(method, alpha, "choose").gumbel(size=(1, 10))[0]
    index = int(np.argmax(gumbel - alpha / 2 * np.array([errors(w) for w in W])))
    assert found.index[at] == index
    assert found.w[at] == near(W[index])


@pytest.mark.parametrize("alpha", ALPHAS[::5])
def test_random_and_control_choose_among_the_same(found: Outcome, alpha: float) -> None:
    a = ALPHAS.index(alpha)
    R = noise("Control", alpha)
    W = [trained(alpha, theta, r) for theta, r in zip(THETAS, R, strict=True)]
    assert found.fixed[a] == near(np.array(W))
    blind = int(coins("Random", alpha, "choose").integers(10, size=1)[0])
    best = int(np.argmax([score(w) for w in W]))
    for method, index in (("Random", blind), ("Control", best)):
        at = METHODS.index(method), a
        assert found.index[at] == index
        assert np.array_equal(found.w[at], found.fixed[a, index])


def test_without_noise(found: Outcome) -> None:
    R = np.zeros(2)
    assert found.noiseless == near(np.array([trained(5.0, theta, R) for theta in THETAS]))


def test_each_private_method_claims_alpha() -> None:
    """As printed; Stability with delta = 0.01."""
    for method in METHODS[:-1]:
        claim = mechanism_of(method, 2.0, FOLD).claims[0]
        assert claim.epsilon == pytest.approx(2.0)
        assert claim.delta == (0.01 if method == "Stability" else 0.0)
