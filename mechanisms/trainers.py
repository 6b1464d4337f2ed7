"""Trainers T = (G, F) as bases of validation: what Algorithms 1 and 2 of Chaudhuri and Vinterbo (2013) are run over."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ScoreStability
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import HasScores
from dpassay.targets import accepts, resolve

Array = NDArray[np.float64]


class LinearTrainer(HasScores, Protocol):
    """A private training procedure that releases weights."""

    @property
    def claims(self) -> tuple[Any, ...]:
        """What it promises: `DP` of the release, `ScoreStability` of its score."""
        ...

    @property
    def alpha(self) -> float:
        """Privacy parameter of one release."""
        ...

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` if these data can never be trained on."""
        ...

    def margins(self, trained: Any, X: Array) -> Array:
        """<w, phi(x)> for each of the trained weights and each point, shape (size, q)."""
        ...


def trainer_of(base: Any, *, alpha: float, m: int, delta: float, released: bool = True) -> LinearTrainer:
    """Build a trainer with a privacy parameter, and validation records.

    Parameters
    ----------
    base : str or object
        A name of the catalogue or `module:object`, its parameters behind it (`output-perturbation,loss=huber`; all but alpha, m
        and delta), or an object, whose alpha and m are then its own.
    alpha, m, delta
        Privacy parameter of a release; records of V; share of bad random strings that its claims about scores allow for.
    released : bool
        Whether weights are to be released; else any trainer with a score will do.

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, or it is no trainer.
    """
    trainer = base
    if isinstance(base, str):
        name, *settings = (part.strip() for part in base.split(","))
        given: dict[str, Any] = {
            key: value for key, value in (("alpha", alpha), ("m", m), ("delta", delta)) if accepts(name, key)
        }
        for setting in settings:
            key, separator, value = (part.strip() for part in setting.partition("="))
            if not (key and separator and value):
                raise InvalidInput(f"base = '{base}': '{setting}' must have the form name=value")
            require(key not in given, "base", base, f"without {key}, which is said of the whole")
            given[key] = value
        try:
            trainer = resolve(name, given).mechanism
        except InvalidInput as error:
            raise InvalidInput(f"base = '{base}': {error}") from error
    known = isinstance(trainer, HasScores) and hasattr(trainer, "alpha")
    require(known, "base", base, "a trainer with noise, apply and score")
    require(not released or hasattr(trainer, "margins"), "base", base, "a trainer that releases weights, with margins")
    found: LinearTrainer = trainer
    return found


def with_alpha(trainer: LinearTrainer, alpha: float) -> LinearTrainer:
    """Return the same trainer with another privacy parameter."""
    changed: Any = dataclasses.replace(trainer, alpha=alpha)  # type: ignore[type-var]
    found: LinearTrainer = changed
    return found


def stability_of(trainer: LinearTrainer, status: str) -> ScoreStability:
    """Return what a trainer claims about its score: as printed, or as corrected where that differs."""
    claims = [claim for claim in trainer.claims if isinstance(claim, ScoreStability)]
    wanted = [claim for claim in claims if claim.status == status] or claims
    if not wanted:
        raise InvalidInput(f"base = {trainer!r}: must claim ScoreStability(...), or beta1 and beta2 must be given")
    return wanted[0]


def part_of(data: Labelled, rows: Any, m: int) -> Labelled:
    """Return some of the training records with all of the validation records behind them."""
    n = len(data) - m
    return data.take(np.concatenate([np.arange(n)[rows], np.arange(n, len(data))]))


def sign_law(trainer: LinearTrainer, data: Labelled, theta: float) -> FiniteLaw | None:
    """In one dimension, the exact law of 1[w >= 0] for what is trained at a parameter; None where it is not known."""
    return label_law(trainer, data, theta, np.ones((1, data.X.shape[1])))


def label_law(trainer: LinearTrainer, data: Labelled, theta: float, queries: Array, state: Any = None) -> FiniteLaw | None:
    """In one dimension, the exact law of 1[<w, phi(x)> >= 0] at each query x; None where it is not known.

    The state is that of the trainer at this parameter, if it is at hand.
    """
    fields = getattr(trainer, "__dataclass_fields__", {})
    if getattr(trainer, "d", None) != 1 or not {"n", "lambda_", "release"} <= set(fields):
        return None
    alone: Any = dataclasses.replace(trainer, n=None, lambda_=theta, release="prediction")  # type: ignore[type-var]
    law: FiniteLaw | None = alone.distribution(alone.prepare(data) if state is None else state, queries)
    return law
