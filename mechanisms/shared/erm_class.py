"""Empirical risk minimisation over a hypothesis class, as a scikit-learn classifier.

The non-private learner of agnostic PAC.

h in H with the least empirical error L_S(h) (Dagan and Feldman 2020, section 2). L_S depends on the
labels that h gives to the training points alone, so it is enough to try H_T, one hypothesis for
each labelling of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.shared.classes import class_of
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Rule


class ClassERM:
    """Exact minimiser of the empirical error over H_T, T the training points.

    Ties: of the hypotheses with the least error the first in the order of `representatives`; for
    thresholds the smallest t.

    Parameters
    ----------
    H : str or HypothesisClass
        A name of `dpassay.mechanisms.shared.classes.CLASSES`, or an object.
    points, feature, feature2 : int
        Parameters of the class, where it has them.
    representative : {"least", "greatest", "middle"}
        Which hypothesis stands for a labelling of T; see the class.

    Attributes
    ----------
    hypothesis_ : array (1, parameters)
        The minimiser; there after `fit`.
    errors_ : int
        Training points that it labels wrongly, n L_S(h).
    """

    hypothesis_: NDArray[np.float64]
    errors_: int

    def __init__(
        self,
        H: Any = "thresholds",
        points: int = 3,
        feature: int = 0,
        feature2: int = 1,
        representative: Rule = "least",
    ) -> None:
        self.H, self.points, self.feature, self.feature2, self.representative = (
            H,
            points,
            feature,
            feature2,
            representative,
        )

    @property
    def hypotheses(self) -> HypothesisClass:
        """The class H."""
        return class_of(self.H, points=self.points, feature=self.feature, feature2=self.feature2)

    # scikit-learn's signature; there is no depth
    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Parameters by name."""
        return {
            name: getattr(self, name)
            for name in ("H", "points", "feature", "feature2", "representative")
        }

    def set_params(self, **parameters: Any) -> ClassERM:
        """Change parameters; returns the classifier."""
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> ClassERM:
        return ClassERM(**self.get_params())

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> ClassERM:
        """Find the hypothesis; X (n, d), labels y (n,) in {0, 1}.

        Raises
        ------
        InvalidInput
            If a point lies outside the domain of the class.
        """
        H = self.hypotheses
        H.check(X)
        tried = H.representatives(X, self.representative)
        wrong = (H.predict(tried, X) != (y == 1)).sum(axis=1)
        first = int(np.argmin(wrong))
        self.hypothesis_, self.errors_ = tried[first : first + 1], int(wrong[first])
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Labels, shape (n,)."""
        labels: NDArray[np.int64] = self.hypotheses.predict(self.hypothesis_, X)[0].astype(np.int64)
        return labels


def corner() -> ClassERM:
    """ERM over corners 1[x_1 >= a and x_2 >= b].

    As a learner `dpassay.mechanisms.shared.erm_class:corner`.
    """
    return ClassERM(H="corners")
