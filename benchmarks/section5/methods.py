"""The five methods of section 5 on one fold, with the mechanisms of the catalogue.

Budgets, records, noise, scores and choices are the mechanisms' own; only the trainings are solved
together, see `benchmarks.section5.solving`. Random and Control choose among the same classifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.section5.settings import ALPHAS, DELTA, METHODS
from benchmarks.section5.solving import Training, solve
from dpassay.data import Labelled
from dpassay.mechanisms.chaudhuri_vinterbo_2013.alpha_split import AlphaSplit
from dpassay.mechanisms.chaudhuri_vinterbo_2013.control import Control
from dpassay.mechanisms.chaudhuri_vinterbo_2013.data_split import DataSplit
from dpassay.mechanisms.chaudhuri_vinterbo_2013.random_choice import RandomChoice
from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import select
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate_train import ValidateTrain

Array = NDArray[np.float64]
Key = tuple[str, float]
"""A method and an alpha."""
ALL: Final = slice(None)
Coins = Callable[..., np.random.Generator]
"""Coins for a purpose: method, alpha and what of it."""
ALTERNATIVES: Final[dict[str, Any]] = {
    "alphaSplit": AlphaSplit,
    "dataSplit": DataSplit,
    "Random": RandomChoice,
    "Control": Control,
}
TRAINED_BY: Final = {"Random": "Control"}
"""Whose classifiers a method chooses from, where not its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """T with V behind it, the number m of records of V, and Algorithm 3 as a text (`trainer_of`).

    `base` takes the extra term off alpha (`oplr`).
    """

    data: Labelled
    m: int
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the methods release, and what they chose from.

    Parameters
    ----------
    index : int array (methods, alphas)
        Of lambda in Theta, from 0.
    w : array (methods, alphas, d)
    fixed : array (alphas, k, d)
        A classifier for every lambda, trained with alpha on all of T: what Random and Control
        choose from.
    noiseless : array (k, d)
        Without noise: not private.
    """

    index: NDArray[np.int64]
    w: Array
    fixed: Array
    noiseless: Array


def mechanism_of(method: str, alpha: float, fold: Fold) -> Any:
    """Return a method that loses alpha in all; Control not so."""
    if method == "Stability":
        return ValidateTrain(
            alpha1=alpha / 2,
            alpha2=alpha / 2,
            base=f"{fold.base},g=ramp",
            m=fold.m,
            delta=DELTA,
            release="index",
        )
    return ALTERNATIVES[method](alpha=alpha, base=fold.base, m=fold.m, release="index")


def trainer_of_method(mechanism: Any) -> Any:
    """Return the trainer of a method, with the alpha of each training."""
    return (
        mechanism.validation.trainer if isinstance(mechanism, ValidateTrain) else mechanism.trainer
    )


def run(fold: Fold, coins: Coins) -> Outcome:
    """Run every method at every alpha."""
    made = {
        (method, alpha): mechanism_of(method, alpha, fold) for method in METHODS for alpha in ALPHAS
    }
    V = trainer_of_method(made["Control", 1.0]).signed(fold.data, slice(0, len(fold.data) - fold.m))
    noiseless, pool = classifiers(made, V, coins)
    index = {key: choose(made[key], pool[key], fold, coins(*key, "choose")) for key in made}
    w = {key: pool[key][index[key]] for key in made}
    stable = [("Stability", alpha) for alpha in ALPHAS]
    again = [afresh(made[key], index[key], coins(*key, "last")) for key in stable]
    w |= zip(stable, solve(V, again), strict=True)
    shape = (len(METHODS), len(ALPHAS))
    return Outcome(
        index=np.array([index[key] for key in made]).reshape(shape),
        w=np.array([w[key] for key in made]).reshape(*shape, -1),
        fixed=np.array([pool["Control", alpha] for alpha in ALPHAS]),
        noiseless=noiseless,
    )


def classifiers(made: dict[Key, Any], V: Array, coins: Coins) -> tuple[Array, dict[Key, Array]]:
    """Train a classifier for every lambda: without noise, and for each method and alpha; (k, d)."""
    own = [key for key in made if key[0] not in TRAINED_BY]
    groups = [trainings(made[key], coins(*key, "train")) for key in own]
    plain = [
        replace(
            each, trainer=trainer_of_method(made["Control", ALPHAS[-1]]), rows=ALL, R=0 * each.R
        )
        for each in groups[0]
    ]
    W = solve(V, [each for group in (plain, *groups) for each in group])
    noiseless, *trained = W.reshape(len(groups) + 1, -1, V.shape[1])
    pool = dict(zip(own, trained, strict=True))
    return noiseless, {key: pool[TRAINED_BY.get(key[0], key[0]), key[1]] for key in made}


def trainings(mechanism: Any, rng: np.random.Generator) -> list[Training]:
    """Return a training for each lambda, with noise of its own."""
    trainer = trainer_of_method(mechanism)
    k = len(trainer.thetas)
    rows = getattr(mechanism, "rows", lambda i, k: ALL)  # noqa: ARG005  (Algorithm 2: all)
    R = trainer.noise(k, rng)
    return [
        Training(trainer=trainer, rows=rows(i, k), lambda_=theta, R=R[i])
        for i, theta in enumerate(trainer.thetas)
    ]


def choose(mechanism: Any, W: Array, fold: Fold, rng: np.random.Generator) -> int:
    """Choose an index of lambda by what was trained for each."""
    if isinstance(mechanism, ValidateTrain):
        validation = mechanism.validation
        scores = validation.trainer.score(W, fold.data)[0]
        return int(select(scores, validation.scale(fold.data), rng))
    return int(mechanism.choose(mechanism.losses(W, fold.data)[None], rng)[0])


def afresh(mechanism: ValidateTrain, index: int, rng: np.random.Generator) -> Training:
    """Line 3 of Algorithm 2: the chosen lambda, fresh noise."""
    trainer: Any = mechanism.validation.trainer
    return Training(
        trainer=trainer,
        rows=ALL,
        lambda_=trainer.thetas[index],
        R=trainer.noise(1, rng)[0],
    )
