"""The rates of Theorems 4 and 6, as slopes over a decade or more. Theorem 2 has none."""

from __future__ import annotations

from dpassay.theorems.chaudhuri_vinterbo_2013 import histogram_rows, theorem_4
from dpassay.theorems.row import Measured
from dpassay.theorems.slopes import slope_row

PAPER = "chaudhuri-vinterbo-2013"


def training(bins: int, delta: float, alpha: float) -> Measured:
    """Return beta1 of Theorem 6 for one width, 1 / bins."""
    return histogram_rows.beta1([bins], delta, alpha)


def validation(bins: int, delta: float, alpha: float) -> Measured:
    """Return beta2 of Theorem 6 for one width, 1 / bins."""
    return histogram_rows.beta2([bins], delta, alpha)


ROWS = (
    slope_row(
        f"{PAPER}/theorem-4/slope",
        theorem_4.beta1,
        (
            {
                "along": "lambda_",
                "first": 4.0,
                "last": 0.4,
                "loss": "hinge",
                "n": 2,
                "points": 4,
                "g": "hinge",
            },
        ),
        number="the change of the score with T, times n,",
    ),
    *(
        slope_row(
            f"{PAPER}/theorem-6/slope-{name}",
            measure,
            ({"along": "bins", "first": 2, "last": 50, "delta": 0.1, "alpha": 1.0},),
            number=f"the change of the score with {with_}",
        )
        for name, measure, with_ in (
            ("beta1", training, "T, times n,"),
            ("beta2", validation, "V, times m,"),
        )
    ),
)
