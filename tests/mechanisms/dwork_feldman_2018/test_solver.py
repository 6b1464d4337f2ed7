"""The solver: its solutions against other solvers, its certificates against the truth."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

from dpassay.mechanisms.dwork_feldman_2018.losses import SHARP, Kink
from dpassay.mechanisms.dwork_feldman_2018.solver import (
    Problem,
    certified_distance,
    exact_dots,
    lacking_slopes,
    least_in_ball,
    solve,
)
from tests.mechanisms.dwork_feldman_2018 import twin_erm

LOSSES = list(SHARP)


def problem(
    loss: str,
    n: int,
    d: int,
    *,
    seed: int = 0,
    lam: float = 0.1,
    R: float = 1.0,
    kind: str = "normal",
) -> Problem:
    """Features in the unit ball; `grid` ones coincide, so that records share the kink."""
    rng = np.random.default_rng(seed)
    phi = (
        rng.integers(-2, 3, size=(n, d)) / (2 * math.sqrt(d))
        if kind == "grid"
        else rng.normal(size=(n, d))
    )
    phi = phi / np.maximum(1, np.linalg.norm(phi, axis=1, keepdims=True))
    y = np.where(phi[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(phi=phi, y=y, loss=SHARP[loss](), lambda_=lam, R=R, L_f=1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["normal", "grid"])
def test_in_one_dimension_the_certificate_covers_the_twin(loss: str, kind: str) -> None:
    for seed in range(15):
        n, lam = (1, 2, 5, 40)[seed % 4], (0.02, 0.3, 3.0)[seed % 3]
        R = (0.4, 1.0, 20.0)[seed % 5 % 3]
        given = problem(loss, n, 1, seed=seed, lam=lam, R=R, kind=kind)
        w, distance = solve(given, 1e-6)
        assert distance <= 1e-6
        records = list(zip(given.phi[:, 0].tolist(), (given.y > 0).astype(int), strict=True))
        twin = twin_erm.line_minimiser(records, loss, lam, R)
        assert abs(w[0] - twin) <= distance + 1e-14 * R


@pytest.mark.parametrize("loss", LOSSES)
def test_without_the_ball_it_is_the_minimum_of_scikit_learn(loss: str) -> None:
    """C = 1 / (2 lambda n) times the sum of losses plus ||w||^2 / 2 is the same objective."""
    given = problem(loss, 150, 6, lam=0.02, R=50.0)
    w, distance = solve(given, 1e-6)
    n, labels = len(given.y), (given.y > 0).astype(int)
    C = 1 / (2 * given.lambda_ * n)
    long: dict[str, Any] = {"tol": 1e-10, "max_iter": 10**6, "random_state": 0}
    model: Any = {
        "logistic": LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12),
        "squared": Ridge(alpha=1 / C),
        "absolute": LinearSVR(C=C, epsilon=0.0, **long),
        "hinge": LinearSVC(C=C, loss="hinge", **long),
    }[loss].set_params(fit_intercept=False)
    model.fit(given.phi, labels if loss in ("logistic", "hinge") else given.y)
    np.testing.assert_allclose(w, np.ravel(model.coef_), atol=1e-6)
    assert distance <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("R", [20.0, 0.4])
def test_a_certificate_is_true_of_wrong_weights_too(loss: str, R: float) -> None:
    """Whatever weights and slopes it is given, the minimiser is no farther than it says."""
    rng = np.random.default_rng(5)
    for seed in range(4):
        given = problem(loss, 12, 3, seed=seed, lam=0.05, R=R)
        best, exact = solve(given, 1e-6)
        low, high = given.loss.slopes(given.y) if isinstance(given.loss, Kink) else (None, None)
        for size in (1e-12, 1e-9, 1e-6, 1e-3, 1.0):
            w = best + size * rng.normal(size=3)
            w *= min(1.0, R / float(np.linalg.norm(w)))
            s = given.loss.slope(given.phi @ w, given.y)
            if low is not None and high is not None:
                s = np.clip(s + size * rng.normal(size=12), low, high)
            assert np.linalg.norm(w - best) <= certified_distance(given, w, s) + exact


@pytest.mark.parametrize("loss", LOSSES)
def test_certificates_are_as_good_as_floats_allow(loss: str) -> None:
    for seed in range(4):
        for R in (10.0, 0.5):
            _, distance = solve(problem(loss, 100, 5, seed=seed, lam=0.1, R=R), 1e-6)
            assert distance <= 1e-12


def test_kinks_that_coincide() -> None:
    """30 copies of one record and 30 of its mirror image stand on the kink together."""
    phi = np.concatenate([np.tile([[0.6, 0.0]], (30, 1)), np.tile([[-0.6, 0.0]], (30, 1))])
    y = np.concatenate([np.ones(30), -np.ones(30)])
    for loss in ("absolute", "hinge"):
        given = Problem(phi=phi, y=y, loss=SHARP[loss](), lambda_=0.01, R=10.0, L_f=1.0)
        w, distance = solve(given, 1e-6)
        np.testing.assert_allclose(w, [1 / 0.6, 0.0], atol=1e-14)
        assert distance <= 1e-12


def test_least_in_ball() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        root = rng.normal(size=(4, 4))
        H, b = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4)
        u = least_in_ball(H, b, 0.3)
        others = rng.normal(size=(2000, 4))
        others *= 0.3 * rng.random((2000, 1)) ** 0.25 / np.linalg.norm(others, axis=1)[:, None]
        theirs = np.einsum("ij,jk,ik->i", others, H, others) / 2 - others @ b
        assert np.linalg.norm(u) <= 0.3 * (1 + 1e-15)
        assert u @ H @ u / 2 - b @ u <= theirs.min() + 1e-15
        pull = b - H @ u
        assert np.linalg.norm(pull - (pull @ u) / (u @ u) * u) <= 1e-13
        assert pull @ u >= -1e-13


def test_dots_are_rounded_once() -> None:
    rng = np.random.default_rng(8)
    A, B = rng.normal(size=(40, 9)), rng.normal(size=(40, 9))
    # nothing but rounding is left of them
    B[:, -1] = -np.einsum("ij,ij->i", A[:, :-1], B[:, :-1]) / A[:, -1]
    for a, b, found in zip(A.tolist(), B.tolist(), exact_dots(A, B), strict=True):
        exact = sum(Fraction(x) * Fraction(z) for x, z in zip(a, b, strict=True))
        assert float(exact) == found
    assert exact_dots(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize("loss", ["absolute", "hinge"])
def test_what_a_slope_lacks_is_what_the_definition_says(loss: str) -> None:
    """e_i = l(a_i) - min over a of (l(a) - s_i (a - a_i)): how far the tangent must be lowered."""
    rng = np.random.default_rng(9)
    given = problem(loss, 30, 2, seed=9)
    assert isinstance(given.loss, Kink)
    low, high = given.loss.slopes(given.y)
    everywhere = np.linspace(-3, 3, 601)  # the kinks are among them
    for _ in range(20):
        w, s = rng.normal(size=2), rng.uniform(low, high)
        a = given.phi @ w
        below = given.loss.value(everywhere[:, None], given.y) - s * (everywhere[:, None] - a)
        expected = (given.loss.value(a, given.y) - below.min(axis=0)).mean()
        found, more = (lacking_slopes(given, given.loss, w, s, hidden=h) for h in (0.0, 0.1))
        assert found == pytest.approx(expected, rel=1e-9)
        assert more > expected + 1e-3
