"""The worst pair at a query, whichever way it was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.bounds import Computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst pair at one query."""

    loss: Computed
    choice: tuple[int, ...]  # a dataset, as record numbers
    other: tuple[int, ...]  # its neighbour, likewise
    # what their laws have in the table at this query
    rows: tuple[NDArray[np.float64], NDArray[np.float64]]
