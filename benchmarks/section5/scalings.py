"""Two readings of how section 5 of Chaudhuri and Vinterbo (2013) scales its data.

It says that "data sets were scaled such that covariate vectors were constrained to the unit ball".

Both look at the data, so what is released is private only if the scale is public knowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def standardised(X: Array) -> Array:
    """Columns to mean 0 and deviation 1, as R's `scale`, then all divided by the largest norm."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return np.asarray(Z / np.linalg.norm(Z, axis=1).max())


def cut_back(X: Array) -> Array:
    """Columns divided by their largest absolute value, then each record longer than 1 by its norm.

    So did Chaudhuri, Monteleoni and Sarwate (2011), whose trainings section 5 uses.
    """
    Z = X / np.abs(X).max(axis=0)
    return np.asarray(Z / np.maximum(1.0, np.linalg.norm(Z, axis=1))[:, None])


SCALINGS: Final[dict[str, Callable[[Array], Array]]] = {
    "standardised": standardised,
    "cut back": cut_back,
}
