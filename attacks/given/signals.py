"""Signals: what models that somebody else has trained showed at records, and who was in.

Nobody here drew the membership. So what comes of them are estimates: a bound needs coins that are
fair, independent and ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.subjects import SCORES
from dpassay.attacks.given.estimates import Given
from dpassay.attacks.observed import LEAST, Array, Flags, Observed
from dpassay.errors import InvalidInput, is_count, require

KINDS = ("probability", "logit", "loss")
"""What a score may be: the probability of the record's own label; its log-odds, or any number that
grows with it; a loss >= 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signals:
    """Scores of models at records, one finite number of its kind for each.

    The last `targets` models are attacked, by default a quarter and at least one; the others
    are the attacker's reference models. Every attacked model has members and others.
    """

    scores: Array  # (models, e)
    membership: Flags  # (models, e): whether the record was in the training set
    kind: str = ""  # one of `KINDS`; by default what the range of the scores tells, see `kind_of`
    labels: NDArray[np.int64] | None = None  # (e,): >= 0, to tell the results by class
    targets: int | None = None

    def __post_init__(self) -> None:
        scores = _numbers(self.scores)
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "membership", _flags(self.membership, scores.shape))
        kind = self.kind or kind_of(scores)
        require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
        object.__setattr__(self, "kind", kind)
        _check_range(scores, kind)
        models, e = scores.shape
        targets = max(1, models // 4) if self.targets is None else self.targets
        fits = is_count(targets) and targets <= models
        require(fits, "targets", targets, f"an integer in 1..{models}, the number of models")
        object.__setattr__(self, "targets", int(targets))
        if self.labels is not None:
            object.__setattr__(self, "labels", _labels(self.labels, e))
        _check_members(self.membership, models - int(targets))

    @property
    def reference(self) -> tuple[Observed, Flags]:
        """Return what the attacker's own models, if any, showed, and who was in."""
        return self._part(slice(None, len(self.scores) - self._last))

    @property
    def attacked(self) -> tuple[Observed, Flags]:
        """Return what the attacked models showed, and who was in."""
        return self._part(slice(len(self.scores) - self._last, None))

    @property
    def _last(self) -> int:
        return int(self.targets or 0)

    def _part(self, models: slice) -> tuple[Observed, Flags]:
        return observed(self.scores[models], self.kind), self.membership[models]


def kind_of(scores: Array) -> str:
    """Return what scores are by their range.

    Probabilities where all lie in [0, 1], log-odds where one is negative, else losses.
    """
    if (scores < 0).any():
        return "logit"
    return "probability" if (scores <= 1).all() else "loss"


def observed(scores: Array, kind: str) -> Observed:
    """Return scores (models, e) as every attack reads them.

    The probability of the own label p, and 1 - p for all others together: p itself, 1 / (1 +
    e^-logit), or e^-loss. Log-odds are computed from the scores directly, so that none is cut
    off.
    """
    if kind == "probability":
        own, odds = scores, None
    elif kind == "logit":
        own, odds = 1 / (1 + np.exp(-np.clip(scores, -700, 700))), scores
    else:
        loss = np.maximum(scores, LEAST)
        own, odds = np.exp(-loss), -loss - np.log(-np.expm1(-loss))
    return Observed(
        seen=np.stack([1 - own, own], axis=2),
        y=np.ones(scores.shape[1], dtype=np.int64),
        log_odds=odds,
    )


def _real(values: Any) -> Array:
    """Return a new array of real numbers; raise `TypeError` for complex ones."""
    if np.iscomplexobj(values):
        raise TypeError
    return np.array(values, dtype=float)


def _numbers(scores: Any) -> Array:
    try:
        found = _real(scores)
    except (TypeError, ValueError):
        raise InvalidInput("scores: must be numbers, an array of shape (models, records)") from None
    shape = found.ndim == 2 and found.shape[0] >= 1 and found.shape[1] >= 2
    allowed = "of shape (models, records) with models >= 1 and records >= 2"
    require(shape, "scores", f"shape {found.shape}", allowed)
    finite = np.isfinite(found)
    if not finite.all():
        model, record = np.argwhere(~finite)[0].tolist()
        raise InvalidInput(
            f"scores[{model}, {record}] = {found[model, record]}: must be a finite number"
        )
    return found


def _flags(membership: Any, shape: tuple[int, ...]) -> Flags:
    try:
        found = _real(membership)
    except (TypeError, ValueError):
        raise InvalidInput("membership: must be true or false, or 0 and 1") from None
    allowed = f"of shape {shape}, that of scores"
    require(found.shape == shape, "membership", f"shape {found.shape}", allowed)
    wrong = np.argwhere((found != 0) & (found != 1))
    if len(wrong):
        model, record = wrong[0].tolist()
        raise InvalidInput(
            f"membership[{model}, {record}] = {found[model, record]:g}: must be true or false, or "
            "0 or 1"
        )
    return found.astype(bool)


def _labels(labels: Any, e: int) -> NDArray[np.int64]:
    found = np.asarray(labels)
    require(found.shape == (e,), "labels", f"shape {found.shape}", f"of shape ({e},), as records")
    require(found.dtype.kind in "biu", "labels", f"of {found.dtype}", "integers >= 0")
    least = found.min()
    require(bool(least >= 0), "labels", f"{found.dtype} from {least}", "integers >= 0")
    return found.astype(np.int64)


def _check_range(scores: Array, kind: str) -> None:
    """Refuse scores that are nothing of their kind."""
    allowed = {"probability": "in [0, 1]", "loss": "a number >= 0", "logit": "a number"}[kind]
    wrong = scores < 0 if kind != "logit" else np.zeros(scores.shape, dtype=bool)
    wrong |= (scores > 1) & (kind == "probability")
    if wrong.any():
        model, record = np.argwhere(wrong)[0].tolist()
        raise InvalidInput(
            f"scores[{model}, {record}] = {scores[model, record]:g}: must be {allowed}, as kind "
            f"is {kind}"
        )


def _check_members(membership: Flags, first: int) -> None:
    """Refuse attacked models in which nobody, or everybody, is a member."""
    for model, row in enumerate(membership[first:], first):
        if row.all() or not row.any():
            which = "all true" if row.all() else "all false"
            raise InvalidInput(
                f"membership[{model}] = {which}: must have members and non-members, as model "
                f"{model} is attacked"
            )


def given_of(signals: Signals, name: str) -> Given:
    """Return signals as they are attacked, under a name."""
    mine, reference = signals.reference
    theirs, membership = signals.attacked
    e = signals.scores.shape[1]
    return Given(
        name=name,
        kind=signals.kind,
        views=[(SCORES, mine, theirs)],
        reference=reference,
        membership=membership,
        labels=np.zeros(e, dtype=np.int64) if signals.labels is None else signals.labels,
        all_labels=False,
    )
