"""What is released of trained weights.

A label, a linear statistic, an AUC, or only the index of the parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import require
from dpassay.mechanism import Mechanism
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import (
    UNIT_VECTORS,
    as_text,
    released_auc,
    sample_of,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import (
    LOOKED_AT,
    Perturbation,
    bin_words,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import LinearTrainer

Release = Literal["prediction", "vector", "bins", "index", "auc"]
RELEASES: tuple[Release, ...] = ("prediction", "vector", "index", "auc")
RELEASED: Final = "released index and weights"
"""What the paper releases, whatever is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released(Mechanism):
    """How an algorithm that ends with one of k trained weight vectors answers.

    Parameters
    ----------
    release : {"prediction", "vector", "index", "auc"}
        The label 1[<w, phi(x)> >= 0] at a query x; the number <w, phi(u)>, a linear statistic of
        the released vector, at a query u; the index of the parameter, whatever is asked; or,
        whatever is asked, the area under the ROC curve of <w, phi(x)> on the public sample
        (`dpassay.mechanisms.chaudhuri_vinterbo_2013.auc`). Some take `bins` too: which of the
        base's bins <w, u> lies in.
    public : Labelled or str
        Public sample for `auc`, with both labels and as many columns as the trainer takes, kept as
        a text; left out, the unit vectors labelled 1 and the origin labelled 0.
    """

    release: Release = "prediction"
    public: Any = ""

    def __post_init__(self) -> None:
        known = self.ways_to_answer
        require(self.release in known, "release", self.release, f"one of {', '.join(known)}")
        object.__setattr__(self, "public", as_text(self.public))

    @property
    def derived_parameters(self) -> dict[str, float | str]:
        """The public sample, where it is used."""
        return {"public": UNIT_VECTORS} if self.release == "auc" else {}

    @property
    def ways_to_answer(self) -> tuple[Release, ...]:
        """What `release` may be."""
        return RELEASES

    @property
    def without_query(self) -> bool:
        """Whether nothing is asked at a point: where only the index or the AUC is released."""
        return self.release in ("index", "auc")

    @property
    def one_query(self) -> bool:
        """Whether every query shows the same of the weights."""
        return isinstance(self.shown, Perturbation) and self.shown.alike(self.release)

    @property
    def looked_at(self) -> str:
        """What of the index and the weights, which are what the paper releases, is answered."""
        return (
            "the index of the parameter alone"
            if self.release == "index"
            else LOOKED_AT[self.release]
        )

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:  # noqa: ARG002
        """The parameter that an index stands for, or which numbers lie in a bin."""
        if self.release == "index":
            return f"the parameter {self.thetas[answer]:g}"
        return bin_words(self.shown.cuts, answer) if self.release == "bins" else ""

    @property
    def shown(self) -> Any:
        """The trainer whose weights are released."""
        raise NotImplementedError

    @property
    def dimension(self) -> int:
        """Coordinates of the vector that is released; 0 where none is."""
        known = self.release == "vector" and isinstance(self.shown, Perturbation)
        return self.shown.d if known else 0

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return the queries (k, columns) u with phi(u) the given directions, shape (k, d)."""
        queries: NDArray[np.float64] = self.shown.towards(directions, columns)
        return queries

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
        return {"vector": (-np.inf, np.inf), "auc": (0.0, 1.0)}.get(self.release)

    def answers(
        self,
        trainer: LinearTrainer,
        chosen: NDArray[np.int64],
        weights: Any,
        queries: NDArray[np.float64],
    ) -> NDArray[Any]:
        """Answers of each trial at each query, shape (size, q).

        From the chosen indices and the trained weights of each trial.
        """
        if self.release == "index":
            return np.tile(chosen[:, None], (1, len(queries)))
        if self.release == "auc":
            areas = released_auc(trainer, weights, sample_of(self.public, getattr(trainer, "d", 1)))
            return np.tile(areas[:, None], (1, len(queries)))
        if self.release == "bins":
            at: NDArray[np.int64] = np.searchsorted(
                self.shown.cuts, weights @ self.shown.directions(queries).T, side="right"
            )
            return at
        margins = trainer.margins(weights, queries)
        return margins if self.release == "vector" else (margins >= 0).astype(np.int64)
