"""Trainings solved together are those of the catalogue one by one, and of a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.section5.solving import Training, solve
from dpassay.data import Labelled
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.seeds import stream

N, D = 60, 3


def records(learner: str) -> NDArray[np.float64]:
    """Labels times features, in the unit ball."""
    V = stream("solving", learner).normal(size=(N, D))
    return np.asarray(V / np.linalg.norm(V, axis=1).max())


def trainings(learner: str) -> list[Training]:
    """Budgets that `oplr` can and cannot take its extra term off, on all records and on a third."""
    rng = stream("solving", learner, "noise")
    made = []
    for alpha in (0.05, 1.0, 5.0):
        trainer = ObjectivePerturbation(oplr=True, loss=learner, d=D, m=0, alpha=alpha)
        for rows in (slice(None), slice(1, None, 3)):
            made += [
                Training(trainer=trainer, rows=rows, lambda_=theta, R=trainer.noise(1, rng)[0])
                for theta in trainer.thetas[::4]
            ]
    return made


def naive(V: NDArray[np.float64], one: Training) -> NDArray[np.float64]:
    """Equation 2 as it is printed, by a general minimiser."""
    rows, loss = V[one.rows], one.trainer.training_loss
    alpha, lambda_ = one.trainer.in_force(one.lambda_, len(rows))

    def risk(w: NDArray[np.float64]) -> float:
        noise = 2 / (alpha * len(rows)) * one.R @ w
        return float(lambda_ / 2 * w @ w + loss.value(rows @ w).mean() + noise)

    def gradient(w: NDArray[np.float64]) -> NDArray[np.float64]:
        pull = loss.slope(rows @ w) @ rows / len(rows)
        return np.asarray(lambda_ * w + pull + 2 / (alpha * len(rows)) * one.R)

    found = minimize(risk, np.zeros(D), jac=gradient, method="BFGS", options={"gtol": 1e-10})
    return np.asarray(found.x)


@pytest.mark.parametrize("learner", ["logistic", "huber"])
def test_each_is_what_a_general_solver_finds_and_the_catalogue_trains(learner: str) -> None:
    V, every = records(learner), trainings(learner)
    # with and without a budget left, for want of which lambda is raised
    assert {one.trainer.in_force(one.lambda_, N)[1] == one.lambda_ for one in every} == {
        True,
        False,
    }
    for w, one in zip(solve(V, every), every, strict=True):
        assert w == pytest.approx(naive(V, one), rel=1e-5, abs=1e-6)
        rows = V[one.rows]
        data = Labelled(rows, np.ones(len(rows), dtype=np.int64))
        (alone,) = one.trainer.apply(data, one.lambda_, one.R[None])
        assert np.linalg.norm(w - alone) <= 2e-8 * (1 + np.linalg.norm(w))
