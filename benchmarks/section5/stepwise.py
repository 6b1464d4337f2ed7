"""Backward elimination by AIC of the predictors of a logistic regression, as R's `step` does it.

The model has an intercept that is never dropped and no penalty. It looks at labels, so what is
trained on the chosen predictors is no longer private: the paper's section 5 does it all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]
REFITTED: Final = 8
"""Predictors with the smallest Wald statistics, of which the one is dropped that costs least."""
DEPENDENT: Final = 1e-10
"""Smallest eigenvalue of the correlations at which columns count as linearly dependent."""
CONVERGED: Final = 1e-8
"""Relative change of the deviance at which a fit stops: the default of R's `glm`."""
RIDGE: Final = 1e-9
"""Keeps Newton's steps finite where labels can be told apart by a rare category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted model: columns, coefficients, deviance, and the Fisher information."""

    columns: list[int]
    beta: Array
    deviance: float
    information: Array

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return self.deviance + 2 * len(self.columns)


def independent(X: Array) -> list[int]:
    """Columns that do not depend linearly on those before them and the constant."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    correlations = Z.T @ Z / len(Z)
    kept: list[int] = []
    for j in range(X.shape[1]):
        tried = [*kept, j]
        if np.linalg.eigvalsh(correlations[np.ix_(tried, tried)])[0] > DEPENDENT:
            kept.append(j)
    return kept


def backward(X: Array, y: NDArray[np.int64], wanted: int) -> tuple[list[int], int, int]:
    """Drop predictors one by one, the one that raises the deviance least, until so many are left.

    Returns
    -------
    columns : list of int
        The predictors left, ascending.
    independent : int
        How many there were to begin with.
    stop : int
        How many are left where AIC no longer falls for the first time, which is where R stops.
    """
    kept = independent(X)
    Z = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    fit = fitted(Z, y, [0, *(j + 1 for j in kept)], np.zeros(len(kept) + 1))
    stop = None
    while len(fit.columns) - 1 > wanted:
        less = without_the_least(Z, y, fit)
        if stop is None and less.aic > fit.aic:
            stop = len(fit.columns) - 1
        fit = less
    return [j - 1 for j in fit.columns[1:]], len(kept), wanted if stop is None else stop


def without_the_least(Z: Array, y: NDArray[np.int64], fit: Fit) -> Fit:
    """Drop the predictor whose loss raises the deviance least."""
    covariance = np.linalg.inv(fit.information)
    wald = fit.beta[1:] ** 2 / np.diag(covariance)[1:]
    tried = []
    for k in np.argsort(wald, kind="stable")[:REFITTED] + 1:
        start = fit.beta - covariance[:, k] * fit.beta[k] / covariance[k, k]
        columns = [column for i, column in enumerate(fit.columns) if i != k]
        tried.append(fitted(Z, y, columns, np.delete(start, k)))
    return min(tried, key=lambda each: each.deviance)


def fitted(Z: Array, y: NDArray[np.int64], columns: list[int], beta: Array) -> Fit:
    """Maximise the likelihood by Newton's method with halved steps, from beta."""
    X = Z[:, columns]
    margins = X @ beta
    deviance = deviance_of(margins, y)
    for _ in range(30):
        p = expit(margins)
        step = np.linalg.solve(information_of(X, p), X.T @ (y - p))
        move, length = X @ step, 1.0
        while (new := deviance_of(margins + length * move, y)) > deviance and length > 1e-4:
            length /= 2
        beta, margins, old, deviance = beta + length * step, margins + length * move, deviance, new
        if abs(old - deviance) < CONVERGED * (abs(deviance) + 0.1):
            break
    return Fit(
        columns=columns,
        beta=beta,
        deviance=deviance,
        information=information_of(X, expit(margins)),
    )


def deviance_of(margins: Array, y: NDArray[np.int64]) -> float:
    """Minus twice the log-likelihood."""
    return 2 * float(np.logaddexp(0, margins).sum() - margins[y == 1].sum())


def information_of(X: Array, p: Array) -> Array:
    """Fisher information at fitted probabilities, with a ridge."""
    weighted: Array = (X * (p * (1 - p))[:, None]).T @ X
    return weighted + RIDGE * np.eye(X.shape[1])
