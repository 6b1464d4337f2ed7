"""A model that is already trained, with lists of records that it was and was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.attacks.experiment.models import toss
from dpassay.attacks.given.estimates import Given, MemberShift, estimate, record_of, shift_by
from dpassay.attacks.given.own import fitted
from dpassay.attacks.given.predictions import PredictionTask, Tabular, joined, tabular, task_of
from dpassay.attacks.given.result import AttackResult
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import digest
from dpassay.errors import InvalidInput, is_count, require
from dpassay.seeds import stream

FEWEST = 10
"""Members, and others, that tell whether they are alike."""
MOST = 2000
"""Records of either kind that are looked at for that."""
FOLDS = 5


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
        rng = stream(seed, "model", "reference", k)
        places = np.flatnonzero(row)
        found.append(
            fitted(reference, records.take(places), records.y[places], rng, f"reference model {k}")
        )
    return found, flags


def _seen(
    models: Sequence[Any], doing: PredictionTask, records: Tabular, views: int
) -> list[Array]:
    """Return what models show, (models, n, K) for each view; a model's last views count."""
    found = [doing.shown(one, records.X, doing.codes)[-views:] for one in models]
    empty = np.zeros((0, len(records), doing.K))
    return [np.stack([one[k] for one in found]) if found else empty for k in range(views)]


def _by_features(records: Tabular, membership: Flags, seed: int) -> MemberShift | None:
    """Return how well a classifier tells members from others by features and label alone."""
    if min(membership.sum(), (~membership).sum()) < FEWEST:
        return None
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    rng = stream(seed, "alike", "trained")
    places = np.concatenate(
        [rng.permutation(np.flatnonzero(kind))[:MOST] for kind in (membership, ~membership)]
    )
    codes, inside = np.clip(records.coded[places], -1e30, 1e30), membership[places]
    forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with np.errstate(all="ignore"):
        chance = cross_val_predict(forest, codes, inside, cv=folds, method="predict_proba")[:, 1]
    return shift_by(chance[None], inside[None], np.ones(len(inside), dtype=bool), "features")
