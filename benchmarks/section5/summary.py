"""What the rounds come to: all values as they are stored, means, intervals and differences.

Two intervals. *Student*: 95 % for the mean over the repetitions, each the mean of its folds. All
repetitions cut the same records, so it shows how much cut and noise matter, not how other records
would come out. *Bootstrap*: of the mean of all rounds taken as if they were independent, as in the
paper's figures.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from benchmarks.section5.settings import ALPHAS, MEASURES, METHODS, SEED, Run, Size
from benchmarks.section5.tables import Table
from dpassay.seeds import stream

Array = NDArray[np.float64]
RESAMPLES: Final = 2_000
LEVEL: Final = 0.95
MEAN_DIGITS: Final = 5
Found = dict[str, Any]
"""The JSON file: `size`, `tables`, and `runs` by name, table, measure and method: alphas x rounds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean, and an interval around it."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> Literal[-1, 0, 1]:
        """On which side of 0 it lies; 0 where it holds 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def collected(rows: Iterable[dict[str, Any]], tables: Sequence[Table], size: Size) -> Found:
    """Sort results by run, table, measure, method and alpha."""
    runs: dict[str, Any] = {}
    for row in rows:
        run = runs.setdefault(Run(scaling=row["scaling"], learner=row["learner"]).name, {})
        run.setdefault(row["table"], []).append(row)
    return {
        "size": {"repetitions": size.repetitions, "folds": size.folds},
        "tables": {t.name: {**t.facts, "predictors": list(t.predictors)} for t in tables},
        "runs": {
            name: {table: sorted_out(each) for table, each in by_table.items()}
            for name, by_table in runs.items()
        },
    }


def sorted_out(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Every value of the methods, and means of what they choose from."""
    names = MEASURES[rows[0]["learner"]]
    found: dict[str, Any] = {
        name: {
            method: [[row[name][i][j] for row in rows] for j in range(len(ALPHAS))]
            for i, method in enumerate(METHODS)
        }
        for name in ("index", *names)
    }
    for kind in ("fixed", "noiseless"):
        found[kind] = {
            name: np.mean([row[kind][name] for row in rows], axis=0).round(MEAN_DIGITS).tolist()
            for name in names
        }
    return found


def as_text(found: Found) -> str:
    """JSON with a line for every list of numbers."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda each: re.sub(r"\s+", " ", each[0]), text) + "\n"


def values(found: Found, run: Run, table: str, measure: str, method: str) -> Array:
    """All values of a method, shape (alphas, repetitions, folds)."""
    size = found["size"]
    each = np.array(found["runs"][run.name][table][measure][method])
    return each.reshape(len(ALPHAS), size["repetitions"], size["folds"])


def student(repetitions: Array) -> Interval:
    """Interval for the mean of the repetitions' means (repetitions,); endless for a single one."""
    n, mean = len(repetitions), float(repetitions.mean())
    if n < 2:
        return Interval(mean=mean, low=-math.inf, high=math.inf)
    wide = float(student_t.isf((1 - LEVEL) / 2, n - 1) * repetitions.std(ddof=1) / math.sqrt(n))
    return Interval(mean=mean, low=mean - wide, high=mean + wide)


def bootstrap(rounds: Array) -> Interval:
    """Percentile interval for the mean of all rounds (repetitions, folds)."""
    flat = rounds.ravel()
    drawn = stream(SEED, "bootstrap").integers(flat.size, size=(RESAMPLES, flat.size))
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(flat[drawn].mean(axis=1), [tail, 100 - tail])
    return Interval(mean=float(flat.mean()), low=float(low), high=float(high))


def difference(
    found: Found, run: Run, table: str, measure: str, pair: tuple[str, str]
) -> list[Interval]:
    """First minus second method at each alpha, paired by round; Student's intervals."""
    first, second = (values(found, run, table, measure, method) for method in pair)
    return [student(each.mean(axis=1)) for each in first - second]
