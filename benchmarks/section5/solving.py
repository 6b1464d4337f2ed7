"""Many trainings by objective perturbation on the same records, solved together.

What is trained does not depend on what is chosen from it: all trainings of a fold with the same
records and the same lambda are one call of `minimise`, whatever their alpha and method. It starts
all of them on the tangent at the minimiser without noise and proves how near it came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbed import minimise

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One training: who trains, with its alpha; which records of T; lambda; the noise R (d,)."""

    trainer: ObjectivePerturbation
    rows: slice
    lambda_: float
    R: Array


def solve(V: Array, trainings: Sequence[Training]) -> Array:
    """Weights of all trainings, shape (trainings, d).

    Parameters
    ----------
    V : array (n, d)
        Labels times features of T.
    trainings : sequence of Training
        Their trainers differ in alpha alone.

    Raises
    ------
    ArithmeticError
        If weights are certified to no better than the trainer's tolerance.
    """
    together: dict[tuple[int | None, int | None, float], list[int]] = defaultdict(list)
    b = np.empty((len(trainings), V.shape[1]))
    for i, each in enumerate(trainings):
        n = len(V[each.rows])
        alpha, lambda_ = each.trainer.in_force(each.lambda_, n)
        b[i] = 2 / (alpha * n) * each.R
        together[each.rows.start, each.rows.step, lambda_].append(i)
    W = np.empty_like(b)
    for (start, step, lambda_), members in together.items():
        trainer = trainings[members[0]].trainer
        W[members], distance = minimise(
            V[start::step], trainer.training_loss, lambda_, b[members], trainer.tolerance
        )
        trainer.accept(distance, lambda_)
    return W
