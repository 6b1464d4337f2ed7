"""Attacks where nobody tossed coins: every number is an estimate, and none is certified.

Signals and models that are already trained are attacked so. A guess at a fair coin of ours is right
half of the time where nothing leaks. Members that somebody
else has chosen may differ from the others by themselves: by when they were collected, or what they
are. How well the two are told apart without the attacked model stands beside: see `MemberShift`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.attacks.experiment.metrics import auc, auc_interval, delong
from dpassay.attacks.experiment.models import toss
from dpassay.attacks.experiment.outcomes import Attacked, measured, separation
from dpassay.attacks.experiment.record import encoded, make_attack_record
from dpassay.attacks.experiment.subjects import ModelView
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ALONE, ATTACKS, BOTH, OWN
from dpassay.attacks.user_models.api import AttackResult
from dpassay.attacks.user_models.predictions import (
    PredictionTask,
    Tabular,
    joined,
    tabular,
    task_of,
)
from dpassay.attacks.user_models.subjects import fitted
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import Labelled, digest
from dpassay.errors import InvalidInput, is_count, require
from dpassay.seeds import stream

FEWEST = 10
"""Members, and others, that tell whether they are alike."""
MOST = 2000
"""Records of either kind that are looked at for that."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberShift:
    """How well members and non-members are told apart without the attacked model; an estimate.

    An attack that does no better than this, or than 1 minus this, has shown nothing about the
    model. The source is 'reference models', which were not trained on the record, or
    'features'.
    """

    auc: float  # 0.5 where they are alike
    interval: tuple[float, float]  # 95 %
    source: str

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        low, high = self.interval
        found = {"auc": self.auc, "low": low, "high": high, "from": self.source}
        written: dict[str, Any] = encoded(found)
        return written


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """The scores of attacked models and of the attacker's own."""

    name: str
    kind: str  # what a score is, in words of the record
    # the view, then what reference models and attacked ones showed in it
    views: Sequence[tuple[ModelView, Observed, Observed]]
    reference: Flags  # (models, e): who was in which reference model
    membership: Flags  # (models, e): who was in which attacked model
    labels: Any  # (e,): classes of the records, to tell results apart
    all_labels: bool = True  # whether the shares of all labels are known, not only of the own one
    shift: MemberShift | None = None  # by default what the reference models tell


def estimate(given: Given, names: Sequence[str] | None = None) -> tuple[Attacked, dict[str, Any]]:
    """Attack what is given by the named attacks, or all that it allows; nothing is certified."""
    for name in names or ():
        require(name in ATTACKS, "--attacks", name, f"one of {', '.join(ATTACKS)}")
    why = {name: lacking(name, given) for name in names or ATTACKS}
    for name in names or ():
        if why[name]:
            raise InvalidInput(f"--attacks = {name}: {why[name]}")
    outcomes = []
    for view, mine, theirs in given.views:
        for name in (name for name, reason in why.items() if not reason):
            scores = ATTACKS[name](mine, given.reference)(theirs)
            outcomes.append(measured(name, view, scores, given.membership))
    mine = given.views[0][1]
    told = separation(mine, given.reference) if len(given.reference) else np.empty(0)
    attacked = Attacked(name=given.name, claim=None, outcomes=tuple(outcomes), exposure=told)
    shift = given.shift or shift_of(mine, given.reference, given.membership)
    facts = {
        "kind": given.kind,
        "left_out": [f"{name}: {reason}" for name, reason in why.items() if reason],
        "shift": None if shift is None else shift.as_json(),
    }
    return attacked, facts


def lacking(name: str, given: Given) -> str:
    """Return the missing requirement of an attack; empty if it can run."""
    if name not in OWN and not given.all_labels:
        return "needs what was seen of all labels, not only of the record's own"
    if name in ALONE:
        return ""
    if not len(given.reference):
        return "needs reference models"
    for inside, which in ((False, "without"), (True, "with")):
        some = (given.reference == inside).any(axis=0)
        if not some.all() and (name in BOTH or not inside or name == "shadow"):
            return f"needs reference models {which} every record; record {np.argmin(some)} has none"
    return ""


def shift_of(reference: Observed, inside: Flags, membership: Flags) -> MemberShift | None:
    """Return how well reference models without it tell a record's membership, None if too few."""
    outside = ~inside
    told: Flags = np.asarray(outside.any(axis=0))
    if not ((membership & told).any() and (~membership & told).any()):
        return None
    counts = np.maximum(outside.sum(axis=0), 1)
    scores = np.where(outside, reference.phi, 0.0).sum(axis=0) / counts
    return shift_by(np.broadcast_to(scores, membership.shape), membership, told, "reference models")


def shift_by(scores: Array, membership: Flags, told: Flags, source: str) -> MemberShift:
    """Return how well scores that do not depend on the attacked models tell who is in."""
    one, other = scores[membership & told], scores[~membership & told]
    many = len(scores) > 1
    between = auc_interval(scores, membership, told) if many else delong(one, other)
    return MemberShift(auc=auc(one, other), interval=between or (0.0, 1.0), source=source)


def record_of(run: Mapping[str, Any], given: Given, attacked: Attacked) -> dict[str, Any]:
    """Return the record of such attacks, of schema `dpassay/attack/1`."""
    e = given.membership.shape[1]
    facts = dict(run) | {
        "complete": True,
        "records": e,
        "references": len(given.reference),
        "targets": len(given.membership),
    }
    records = Labelled(np.zeros((e, 1)), np.asarray(given.labels))
    return make_attack_record(facts, records, [attacked])


def attack_model(
    model: Any,
    members: Any,
    non_members: Any,
    *,
    label: str | None = None,
    reference: Any = None,
    references: int = 64,
    task: str | None = None,
    attacks: Sequence[str] | None = None,
    name: str | None = None,
    seed: int = 0,
) -> AttackResult:
    """Attack a model that is already trained.

    All numbers are estimates: nobody drew the members by fair coins of ours. They tell of privacy
    only if members and non-members are alike; whether a classifier tells them apart by features
    and label alone stands in `result.record["run"]["signals"]["shift"]`.

    Parameters
    ----------
    model : object
        Trained; with `predict`, or `predict` and `predict_proba`. Of a regressor the residuals are
        attacked.
    members, non_members : DataFrame, or pair (X, y)
        Records that the model was trained on, and records that it was not.
    label : str, optional
        The column of DataFrames that is predicted.
    reference : estimator or list, optional
        The attacker's own models: an estimator with `fit`, of which copies are trained on random
        halves of all records; or a list of trained models that saw none of the records; or a list
        of pairs (model, flags), with one flag for each record, members first. Without them only
        attacks are run that need none.
    references : int
        How many copies of an estimator are trained, >= 4.
    task : {"classes", "numbers"}, optional
        What is predicted; by default what the model tells.
    attacks : sequence of str, optional
        By default all that are possible, see `dpassay.attacks.scores`.
    name : str, optional
        What the record calls the model; its class by default.
    seed : int
        Root of the coins of the reference models, >= 0.

    Returns
    -------
    AttackResult

    Raises
    ------
    InvalidInput
        If the records do not fit, or a named attack needs what there is not.
    TargetError
        If a model fails.
    """
    if not callable(getattr(model, "predict", None)):
        raise InvalidInput(
            f"model = {type(model).__name__}: must be trained and have predict, or predict_proba "
            "besides"
        )
    inside = tabular(members, label, "members")
    records = joined(inside, tabular(non_members, label, "non_members"))
    doing = PredictionTask(kind=task or task_of(model, records.y), y=records.y)
    membership = np.arange(len(records)) < len(inside)
    views = doing.views(model)
    others, flags = _models(reference, references, records, seed)
    views = tuple(each for each in views if all(each in doing.views(one) for one in others))
    theirs = _seen([model], doing, records, len(views))
    mine = _seen(others, doing, records, len(views))
    called = name or type(model).__name__
    given = Given(
        name=called,
        kind="predictions" if doing.kind == "numbers" else "scores and labels",
        views=[
            (
                view,
                Observed(seen=mine[k], y=doing.labels, m=view.m),
                Observed(seen=theirs[k], y=doing.labels, m=view.m),
            )
            for k, view in enumerate(views)
        ],
        reference=flags,
        membership=membership[None],
        labels=doing.labels if doing.kind == "classes" else np.zeros(len(records), dtype=int),
        all_labels=doing.kind == "classes",
        shift=_by_features(records, membership, seed),
    )
    attacked, facts = estimate(given, attacks)
    run = {
        "command": "dpassay.attack_model(...)",
        "commit": None,
        "confidence": CONFIDENCE,
        "data": {"kind": "records", "name": called, "sha256": digest(records.coded)},
        "seed": seed,
        "signals": facts,
    }
    return AttackResult(record_of(run, given, attacked))


def _models(
    reference: Any, references: int, records: Tabular, seed: int
) -> tuple[list[Any], Flags]:
    """Return the attacker's own models, and who is in them."""
    n = len(records)
    if reference is None:
        return [], np.zeros((0, n), dtype=bool)
    if isinstance(reference, (list, tuple)):
        pairs = [each if isinstance(each, tuple) else (each, np.zeros(n)) for each in reference]
        for k, (one, flags) in enumerate(pairs):
            fits = np.shape(flags) == (n,)
            where = f"reference[{k}]"
            require(fits, where, f"flags of shape {np.shape(flags)}", f"of shape ({n},)")
            known = callable(getattr(one, "predict", None))
            require(known, where, type(one).__name__, "a trained model with predict")
        return [one for one, _ in pairs], np.array([flags for _, flags in pairs], dtype=bool)
    if not callable(getattr(reference, "fit", None)):
        raise InvalidInput(
            f"reference = {type(reference).__name__}: must be an estimator with fit, or a list of "
            "trained models"
        )
    require(is_count(references, 4), "references", references, "an integer >= 4")
    even = n // 2 * 2
    order = stream(seed, "order", "trained").permutation(n)
    flags = np.zeros((references, n), dtype=bool)
    flags[:, order[:even]] = toss(
        references, even, seed=seed, who="reference", mirrored=True
    ).membership
    found = []
    for k, row in enumerate(flags):
        rng, places = stream(seed, "model", "reference", k), np.flatnonzero(row)
        X, y = records.take(places), records.y[places]
        found.append(fitted(reference, X, y, rng, f"reference model {k}"))
    return found, flags


def _seen(
    models: Sequence[Any], doing: PredictionTask, records: Tabular, views: int
) -> list[Array]:
    """Return what models show, (models, n, K) for each view; a model's last views count."""
    found = [doing.shown(one, records.X, doing.codes)[-views:] for one in models]
    empty = np.zeros((0, len(records), len(doing.classes) if doing.kind == "classes" else 2))
    return [np.stack([one[k] for one in found]) if found else empty for k in range(views)]


def _by_features(records: Tabular, membership: Flags, seed: int) -> MemberShift | None:
    """Return how well a classifier tells members from others by features and label alone."""
    if min(membership.sum(), (~membership).sum()) < FEWEST:
        return None
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    rng, kinds = stream(seed, "alike", "trained"), (membership, ~membership)
    places = np.concatenate([rng.permutation(np.flatnonzero(each))[:MOST] for each in kinds])
    codes, inside = np.clip(records.coded[places], -1e30, 1e30), membership[places]
    forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with np.errstate(all="ignore"):
        chance = cross_val_predict(forest, codes, inside, cv=folds, method="predict_proba")[:, 1]
    return shift_by(chance[None], inside[None], np.ones(len(inside), dtype=bool), "features")
