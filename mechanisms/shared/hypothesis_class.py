"""Hypothesis classes H of Boolean functions, and the class H_T of all labellings of T.

Source: Dagan and Feldman (2020), section 2.1.

h ~_T g if h(x) = g(x) for all x in T; H_T has one representative of each class of this relation,
"chosen arbitrarily". Which one is a parameter here, as privacy and stability depend on it: a
`Rule`. Representatives depend on T alone, never on labels.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, require

Points = NDArray[np.float64]
Labels = NDArray[np.bool_]

Rule = Literal["least", "greatest", "middle", "adverse"]
"""Representative of a labelling of T: the function with the fewest ones elsewhere, with the most,
or one between them; or chosen to leak, which is known for thresholds alone."""
RULES: tuple[Rule, ...] = ("least", "greatest", "middle")
"""Those that every class has."""


class HypothesisClass(Protocol):
    """A class H of functions from X to {0, 1}; a hypothesis is a row of parameters."""

    @property
    def vc_dimension(self) -> int:
        """d: the size of the largest set that H labels in all ways."""
        ...

    def check(self, X: Points) -> None:
        """Raise `InvalidInput` if a point, shape (n, columns), lies outside the domain."""
        ...

    def growth(self, m: int) -> int:
        """tau_m(H): the most labellings that H gives to m points."""
        ...

    def representatives(self, T: Points, rule: Rule) -> Points:
        """H_T: one hypothesis for each labelling of the points T, shape (k, parameters).

        In an order that T alone decides.
        """
        ...

    def predict(self, hypotheses: Points, X: Points) -> Labels:
        """Labels of n points by k hypotheses, shape (k, n)."""
        ...


def column(X: Points, feature: int) -> Points:
    """Return a column of the data, shape (n,), or raise `InvalidInput` if there is none."""
    allowed = f"a column of the data, 0 to {X.shape[1] - 1}"
    require(feature < X.shape[1], "feature", feature, allowed)
    return X[:, feature]


def require_columns(*features: int) -> None:
    """Raise `InvalidInput` unless columns are named by different integers >= 0."""
    for feature in features:
        require(isinstance(feature, int) and feature >= 0, "feature", feature, "an integer >= 0")
    allowed = f"another column than feature = {features[0]}"
    require(len(set(features)) == len(features), "feature2", features[-1], allowed)


def require_domain(values: Points, points: int) -> None:
    """Raise `InvalidInput` unless all values are in {1, ..., points}."""
    outside = ~np.isin(values, np.arange(1, points + 1))
    if outside.any():
        raise InvalidInput(
            f"x = {values[outside][0]:g}: must be in the domain, an integer from 1 to points = "
            f"{points}"
        )
