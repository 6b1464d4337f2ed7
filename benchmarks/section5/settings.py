"""What section 5 of Chaudhuri and Vinterbo (2013) fixes, and what it is run with here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dpassay.errors import is_count, require

ALPHAS: Final = (0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
"""Privacy parameters: the labels of the x-axes of Figures 1 and 2."""
METHODS: Final = ("Stability", "alphaSplit", "dataSplit", "Random", "Control")
"""In the order of the paper's legend."""
TABLES: Final = ("Adult", "Magic")
FOLDS: Final = 10
DELTA: Final = 0.01
SEED: Final = 0
MEASURES: Final = {"logistic": ("AUC", "MSE"), "huber": ("AUC", "error")}
"""Of each learner. MSE needs probabilities, which margins of an SVM are not: it has its 0/1 error.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How features are scaled (`benchmarks.section5.scalings`), and which loss is trained with."""

    scaling: str
    learner: str

    @property
    def name(self) -> str:
        """Key of the run in the JSON file."""
        return f"{self.scaling}, {self.learner}"


PAPERS: Final = Run(scaling="standardised", learner="logistic")
"""What is held against the paper's figures."""
RUNS: Final = (
    PAPERS,
    Run(scaling="cut back", learner="logistic"),
    Run(scaling="standardised", learner="huber"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is run; the paper has ten times ten folds.

    Parameters
    ----------
    repetitions : int
        Random cuts into ten folds, >= 1.
    folds : int
        How many of the ten serve as test set, from 1 to 10.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    repetitions: int = 10
    folds: int = FOLDS

    def __post_init__(self) -> None:
        require(is_count(self.repetitions), "repetitions", self.repetitions, "an integer >= 1")
        known = is_count(self.folds) and self.folds <= FOLDS
        require(known, "folds", self.folds, f"an integer from 1 to {FOLDS}")
