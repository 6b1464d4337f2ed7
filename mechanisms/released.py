"""What is released of trained weights: a label, a linear statistic, or only the index of the parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import require
from dpassay.mechanisms.trainers import LinearTrainer

Release = Literal["prediction", "vector", "index"]
RELEASES: tuple[Release, ...] = ("prediction", "vector", "index")


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """How an algorithm that ends with one of k trained weight vectors answers.

    Parameters
    ----------
    release : {"prediction", "vector", "index"}
        The label 1[<w, phi(x)> >= 0] at a query x; the number <w, phi(u)>, a linear statistic of the released vector, at a query
        u; or the index of the parameter, whatever is asked.
    """

    release: Release = "prediction"

    def __post_init__(self) -> None:
        require(self.release in RELEASES, "release", self.release, f"one of {', '.join(RELEASES)}")

    @property
    def without_query(self) -> bool:
        """Whether nothing is asked at a point: where only the index is released."""
        return self.release == "index"

    @property
    def thetas(self) -> tuple[float, ...]:
        """The parameters that are chosen from."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[int, ...]:
        """What may be answered: 0 and 1, or an index."""
        return tuple(range(len(self.thetas))) if self.release == "index" else (0, 1)

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Limits of the numbers that are answered; None where labels are."""
        return (-np.inf, np.inf) if self.release == "vector" else None

    def answers(
        self, trainer: LinearTrainer, chosen: NDArray[np.int64], weights: Any, queries: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Answers of each trial at each query, shape (size, q), from the chosen indices and the trained weights of each trial."""
        if self.release == "index":
            return np.tile(chosen[:, None], (1, len(queries)))
        margins = trainer.margins(weights, queries)
        return margins if self.release == "vector" else (margins >= 0).astype(np.int64)
