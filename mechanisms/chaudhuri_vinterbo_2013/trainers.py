"""Trainers T = (G, F) as bases of validation.

What Algorithms 1 and 2 of Chaudhuri and Vinterbo (2013) are run over.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, ScoreStability
from dpassay.config.values import named_text
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Trainer
from dpassay.mechanisms.shared.bases import read_base
from dpassay.targets.adapter import is_trainer
from dpassay.targets.resolve import accepts, resolve

Array = NDArray[np.float64]


class LinearTrainer(Trainer):
    """A private training procedure that releases weights.

    alpha is the privacy parameter of one release.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def alpha(self) -> float: ...  # noqa: D102

    def margins(self, trained: Any, X: Array) -> Array:
        """<w, phi(x)> for each of the trained weights and each point, shape (size, q)."""
        raise NotImplementedError


def trainer_of(
    base: Any, *, alpha: float, m: int, delta: float, released: bool = True
) -> LinearTrainer:
    """Build a trainer with a privacy parameter, and validation records.

    Parameters
    ----------
    base : str, dict or object
        A name of the catalogue or `module:object`, with its parameters, all but alpha, m and delta,
        in one of the spellings of `dpassay.mechanisms.shared.bases.read_base`; or an object, whose
        alpha and m are then its own.
    alpha, m, delta
        Privacy parameter of a release; records of V; share of bad random strings that its claims
        about scores allow for.
    released : bool
        Whether weights are to be released; else any trainer with a score will do.

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, or it is no trainer.
    """
    trainer = base
    if isinstance(base, (str, dict)):
        name, given = read_base(base)
        decided = {"alpha": alpha, "m": m, "delta": delta}
        told: dict[str, Any] = {key: value for key, value in decided.items() if accepts(name, key)}
        for key in told:
            require(key not in given, "base", base, f"without {key}, which is said of the whole")
        try:
            trainer = resolve(name, told | given).given
        except InvalidInput as error:
            raise InvalidInput(f"base = '{named_text(base, 'base')}': {error}") from error
    known = is_trainer(trainer) and hasattr(trainer, "alpha")
    require(known, "base", base, "a trainer with noise, apply and score")
    allowed = "a trainer that releases weights, with margins"
    require(not released or hasattr(trainer, "margins"), "base", base, allowed)
    found: LinearTrainer = trainer
    return found


def with_alpha(trainer: LinearTrainer, alpha: float) -> LinearTrainer:
    """Return the same trainer with another privacy parameter."""
    changed: Any = dataclasses.replace(trainer, alpha=alpha)  # type: ignore[type-var]
    found: LinearTrainer = changed
    return found


def training_loss(
    trainer: LinearTrainer, status: Literal["printed", "corrected"], parts: int = 1
) -> tuple[DP, ...]:
    """Return what a trainer itself claims about releasing its weights, for each of its parameters.

    Parameters
    ----------
    trainer : trainer
        Its privacy parameter is what training is run with; its claim may be of more.
    status : {"printed", "corrected"}
        Which of its claims; the first one where there is none of that status.
    parts : int
        Into how many parts the training records are cut, each for a training of its own; the claim
        is for every part.

    Returns
    -------
    tuple of DP
        In the order of `thetas`. Where it claims no differential privacy, its privacy parameter
        alone.
    """
    found = []
    for theta in trainer.thetas:
        claims = [_largest(each.claims, status) for each in _alone(trainer, theta, parts)]
        known = [claim for claim in claims if claim is not None]
        found.append(
            max(known, key=lambda claim: (claim.epsilon, claim.delta))
            if known
            else DP(epsilon=trainer.alpha)
        )
    return tuple(found)


def _largest(claims: tuple[Any, ...], status: str) -> DP | None:
    """Return the DP claim with this status that allows most, or the first one."""
    private = [claim for claim in claims if isinstance(claim, DP)]
    wanted = [claim for claim in private if claim.status == status] or private[:1]
    return max(wanted, key=lambda claim: (claim.epsilon, claim.delta), default=None)


def _alone(trainer: LinearTrainer, theta: float, parts: int) -> list[Any]:
    """Return the trainer at one of its parameters, for the least and the largest part of T.

    Without validation records.
    """
    if not {"n", "lambda_", "m"} <= set(getattr(trainer, "__dataclass_fields__", {})):
        return [trainer]
    known: Any = trainer
    n = None if known.n is None else known.n - known.m
    sizes = {None} if n is None else {max(1, n // parts), max(1, -(-n // parts))}
    return [dataclasses.replace(known, lambda_=theta, m=0, n=size) for size in sizes]


def stability_of(trainer: LinearTrainer, status: str) -> ScoreStability:
    """Return what a trainer claims about its score.

    As printed, or as corrected where that differs.
    """
    claims = [claim for claim in trainer.claims if isinstance(claim, ScoreStability)]
    wanted = [claim for claim in claims if claim.status == status] or claims
    if not wanted:
        raise InvalidInput(
            f"base = {trainer!r}: must claim ScoreStability(...), or beta1 and beta2 must be given"
        )
    return wanted[0]


def enough_stability_of(trainer: LinearTrainer) -> tuple[float, float]:
    """Return beta_1 and beta_2 as printed by the trainer, or what is true where that is more."""
    claims = [stability_of(trainer, status) for status in ("printed", "corrected")]
    return max(claim.beta1 for claim in claims), max(claim.beta2 for claim in claims)


def part_of(data: Labelled, rows: Any, m: int) -> Labelled:
    """Return some of the training records with all of the validation records behind them."""
    n = len(data) - m
    return data.take(np.concatenate([np.arange(n)[rows], np.arange(n, len(data))]))


def sign_law(trainer: LinearTrainer, data: Labelled, theta: float) -> FiniteLaw | None:
    """In one dimension, the exact law of 1[w >= 0] for what is trained at a parameter.

    None where it is not known.
    """
    return answer_law(trainer, data, theta, np.ones((1, data.X.shape[1])))


def answer_law(
    trainer: LinearTrainer,
    data: Labelled,
    theta: float,
    queries: Array,
    state: Any = None,
    release: str = "prediction",
) -> FiniteLaw | None:
    """In one dimension, the exact law of the answer at each query; None where not known.

    The answer at x is 1[<w, phi(x)> >= 0], or the bin of <w, u>.

    The state is that of the trainer at this parameter, if it is at hand.
    """
    fields = getattr(trainer, "__dataclass_fields__", {})
    if getattr(trainer, "d", None) != 1 or not {"n", "lambda_", "release"} <= set(fields):
        return None
    alone: Any = dataclasses.replace(trainer, n=None, lambda_=theta, release=release)  # type: ignore[type-var]
    law: FiniteLaw | None = alone.distribution(
        alone.prepare(data) if state is None else state, queries
    )
    return law
