"""Losses: convex, with the slopes, curvatures and constants that they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.mechanisms.dwork_feldman_2018.losses import SHARP, SMOOTH, Kink, Loss

MOST = 3.0
A = np.linspace(-MOST, MOST, 601)
EVERY: dict[str, Loss] = {name: make() for name, make in SHARP.items()} | {
    f"{name} h = {h}": SMOOTH[name](h) for name in ("huber", "smooth-hinge") for h in (0.1, 0.7)
}
CASES = [(name, y) for name in EVERY for y in (-1.0, 1.0)]


def at(y: float) -> np.ndarray:
    return np.full_like(A, y)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_a_slope_is_a_subgradient_everywhere_and_bounded_by_the_constant(
    name: str, y: float
) -> None:
    loss = EVERY[name]
    value, slope = loss.value(A, at(y)), loss.slope(A, at(y))
    tangents = value + slope * (A[:, None] - A)
    assert (loss.value(A, at(y))[:, None] >= tangents - 1e-12).all()
    assert (np.diff(slope) >= -1e-15).all()
    steepest, constant = np.abs(slope).max(), loss.lipschitz(MOST)
    assert steepest <= constant
    if name == "logistic":  # its constant is approached far out
        steepest = np.abs(loss.slope(np.array([-40.0 * y]), np.array([y]))).max()
    assert steepest == pytest.approx(constant)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_smoothness_is_the_steepest_rise_of_the_slope(name: str, y: float) -> None:
    loss = EVERY[name]
    rise = (np.diff(loss.slope(A, at(y))) / np.diff(A)).max()
    if math.isinf(loss.smoothness):
        assert rise >= 1 / (A[1] - A[0]) / 2 - 1e-9
    else:
        assert rise == pytest.approx(loss.smoothness, rel=1e-3)
        assert (loss.curvature(A, at(y)) <= loss.smoothness + 1e-15).all()


@pytest.mark.parametrize(("name", "y"), CASES)
def test_slope_and_curvature_are_differences(name: str, y: float) -> None:
    loss, step = EVERY[name], 1e-5
    slope, curvature = loss.slope(A, at(y)), loss.curvature(A, at(y))
    by_value = (loss.value(A + step, at(y)) - loss.value(A - step, at(y))) / (2 * step)
    by_slope = (loss.slope(A + step, at(y)) - loss.slope(A - step, at(y))) / (2 * step)
    bend = np.array([y])
    if isinstance(loss, Kink):
        bend = y + loss.h * np.concatenate(loss.slopes(bend))
    smooth = (np.abs(A[:, None] - bend) > 1e-3).all(axis=1)
    np.testing.assert_allclose(by_value[smooth], slope[smooth], atol=1e-8)
    np.testing.assert_allclose(by_slope[smooth], curvature[smooth], atol=1e-6)


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_formulas_of_the_docstring(y: float) -> None:
    written = {
        "logistic": np.log(1 + np.exp(-y * A)),
        "squared": (A - y) ** 2 / 2,
        "absolute": np.abs(A - y),
        "hinge": np.maximum(0, 1 - y * A),
    }
    for name, value in written.items():
        np.testing.assert_allclose(EVERY[name].value(A, at(y)), value, atol=1e-12)
    for h in (0.1, 0.7):
        gap = EVERY["absolute"].value(A, at(y)) - EVERY[f"huber h = {h}"].value(A, at(y))
        assert (gap >= 0).all()
        assert gap.max() == pytest.approx(h / 2)
        far = np.abs(A - y) >= h
        huber = EVERY[f"huber h = {h}"].slope(A, at(y))
        np.testing.assert_allclose(huber[far], np.sign(A - y)[far])
        hinge = EVERY[f"smooth-hinge h = {h}"].slope(A, at(y))
        np.testing.assert_array_equal(hinge[y * A >= 1], 0.0)
        np.testing.assert_allclose(hinge[y * A <= 1 - h], -y)
