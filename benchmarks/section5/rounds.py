"""Rounds of the cross-validation: which records train, validate and test, and how they are judged.

In round i fold i is the test set, fold (i mod 10) + 1 validates, the other eight train.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.section5.methods import Fold, run
from benchmarks.section5.settings import FOLDS, MEASURES, RUNS, SEED, TABLES, Size
from dpassay.data import Labelled
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import auc
from dpassay.seeds import stream

Array = NDArray[np.float64]
DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One round of one run on one data set; `fold` counts from 0."""

    repetition: int
    scaling: str
    learner: str
    table: str
    fold: int


def tasks(size: Size) -> list[Task]:
    """All tasks, in the order in which results are written: more repetitions only add to them."""
    return [
        Task(
            repetition=repetition, scaling=run.scaling, learner=run.learner, table=table, fold=fold
        )
        for repetition in range(size.repetitions)
        for run in RUNS
        for table in TABLES
        for fold in range(size.folds)
    ]


def parts(size: int, table: str, repetition: int) -> list[NDArray[np.int64]]:
    """Ten folds at random, of sizes that differ by one at most, the same in every run."""
    order = stream(SEED, "section 5", table, repetition).permutation(size)
    return np.array_split(order, FOLDS)


def fold_of(task: Task, data: Labelled) -> tuple[Fold, Labelled]:
    """Return the records that are trained on and validate, and those that test."""
    folds = parts(len(data), task.table, task.repetition)
    test, validation = task.fold, (task.fold + 1) % FOLDS
    train = [rows for i, rows in enumerate(folds) if i not in (test, validation)]
    fold = Fold(
        data=data.take(np.concatenate([*train, folds[validation]])),
        m=len(folds[validation]),
        base=f"objective-perturbation,oplr=true,loss={task.learner},d={data.X.shape[1]}",
    )
    return fold, data.take(folds[test])


def result_of(task: Task, data: Labelled) -> dict[str, Any]:
    """Run a task on scaled data; numbers are rounded to five digits.

    Returns
    -------
    dict
        The task; `index` of lambda from 1, as in Figure 2, and each measure as methods x alphas;
        `fixed` and `noiseless`: each measure for every lambda, with alpha on all of T
        (alphas x k) and without noise (k).
    """
    fold, test = fold_of(task, data)

    def coins(*what: str | float) -> np.random.Generator:
        return stream(SEED, "section 5", *asdict(task).values(), *what)

    found = run(fold, coins)
    return {
        **asdict(task),
        "index": (found.index + 1).tolist(),
        **measures(found.w, test, task.learner),
        "fixed": measures(found.fixed, test, task.learner),
        "noiseless": measures(found.noiseless, test, task.learner),
    }


def measures(W: Array, test: Labelled, learner: str) -> dict[str, Any]:
    """Each measure of a learner for weights (..., d), as nested lists of shape (...)."""
    margins, y = W.reshape(-1, W.shape[-1]) @ test.X.T, test.y
    found = {"AUC": auc(margins, y)}
    if learner == "logistic":
        found["MSE"] = ((expit(margins) - y) ** 2).mean(axis=1)
    else:
        found["error"] = ((margins >= 0) != (y == 1)).mean(axis=1)
    assert tuple(found) == MEASURES[learner]
    return {
        name: np.round(values, DIGITS).reshape(W.shape[:-1]).tolist()
        for name, values in found.items()
    }
