"""Models trained on the coins of an experiment: for the attacker's reference, and as targets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.coins import Coins
from dpassay.attacks.experiment.subjects import Points, Subject
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.data import Labelled, digest
from dpassay.errors import DpassayError, TargetError, told
from dpassay.seeds import stream
from dpassay.targets.groups import Progress, silent
from dpassay.trials.cluster import Cluster
from dpassay.trials.ledger import Key, Ledger
from dpassay.trials.pool import in_order
from dpassay.trials.threads import one_thread

VERSION = 3
"""Of how answers are made: raised when equal keys may stand for other answers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Models:
    """What was seen of the models of a subject.

    `accuracy` is each model's, in the first view that shows labels; it is empty if shares are
    of 'close' and 'far' instead of labels (`subject.numeric`).
    """

    coins: Coins
    observed: tuple[Observed, ...]  # one per view of the subject, at the e records
    accuracy: Array  # (models,), of the test records


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExperimentData:
    """Data of an experiment.

    Every model is trained on half of the e records, whose membership is asked about, and on the
    background. The background is the same in all training sets: two sets that differ in one
    coin still differ in one replaced record, so claims about one record hold as they are,
    without group privacy. Models are asked at `points`: the records, then the test records, and
    noisy copies of these. If `adversarial`, queries are chosen for each subject before it is
    attacked, and `points` are where the choice starts.
    """

    records: Labelled
    test: Labelled
    points: Points
    seed: int
    background: Labelled | None = None
    adversarial: bool = False
    # canaries, poisoned records, ...: (e,) each
    slices: Mapping[str, Flags] = field(default_factory=dict)
    # slices by a user's column, see `by_column`: (e,) each
    columns: Mapping[str, Flags] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None  # (e,): line of the file of each record, from 1

    @property
    def digest(self) -> list[str]:
        """Return what a trained model depends on besides subject and coins."""
        behind = [] if self.background is None else [self.background.digest]
        return [self.records.digest, self.test.digest, *behind]

    def training(self, coins: Coins, model: int) -> Labelled:
        """Training set of a model: its half of the records, and the background behind them."""
        return self.behind(coins.dataset(self.records, model))

    def behind(self, drawn: Labelled) -> Labelled:
        """Return records with the background behind them, as every training set has it."""
        if self.background is None:
            return drawn
        return Labelled(
            np.concatenate([drawn.X, self.background.X]),
            np.concatenate([drawn.y, self.background.y]),
        )


def build_data(
    records: Labelled, test: Labelled, *, copies: int, noise: float, seed: int, **more: Any
) -> ExperimentData:
    """Return the data of an experiment, with noisy copies of every record.

    `noise` is the standard deviation of the noise divided by that of the column over the
    records. `more` holds other fields of `ExperimentData`.
    """
    X = np.concatenate([records.X, test.X])
    X.flags.writeable = False
    spread = noise * records.X.std(axis=0)
    shape = (copies, *X.shape)
    made = (
        X + spread * stream(seed, "copies", records.digest).normal(size=shape)
        if copies
        else np.empty(shape)
    )
    K = int(max(records.y.max(), test.y.max())) + 1
    return ExperimentData(
        records=records, test=test, points=Points(X=X, copies=made, K=max(2, K)), seed=seed, **more
    )


def models(
    subject: Subject,
    data: ExperimentData,
    coins: Coins,
    who: str,
    *,
    ledger: Ledger | None = None,
    jobs: int = 1,
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> Models:
    """Train and look at one model per row of coins, or read what the ledger holds; see `look`."""
    seen = look(
        subject, data, coins, who, ledger=ledger, jobs=jobs, cluster=cluster, progress=progress
    )
    e = len(data.records)
    numeric = getattr(subject, "numeric", False)
    own = np.ones(e, dtype=np.int64) if numeric else data.records.y
    observed = tuple(
        Observed(seen=seen[:, view, :e], y=own, m=each.m) for view, each in enumerate(subject.views)
    )
    if numeric:
        return Models(coins=coins, observed=observed, accuracy=np.empty(0))
    labels = next(view for view, each in enumerate(subject.views) if each.m is not None)
    right = np.take_along_axis(seen[:, labels, e:], data.test.y[None, :, None], axis=2)[:, :, 0]
    return Models(coins=coins, observed=observed, accuracy=right.mean(axis=1))


def look(
    subject: Subject,
    data: ExperimentData,
    coins: Coins,
    who: str,
    *,
    ledger: Ledger | None = None,
    jobs: int = 1,
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> Array:
    """Train and look at one model per row of coins, or read what the ledger holds of it.

    The result holds shares of the labels at the q points: (models, views, q, K). It does not
    depend on `jobs` or `cluster`. `who` selects streams of its own; the ledger keeps every
    model as soon as it is done.
    """
    known = [*data.digest, digest(data.points.X, data.points.copies)]
    keys = [
        key_of([subject.key, subject.code, known, data.seed, who, i, coins.rows(i).tolist()])
        for i in range(len(coins.heads))
    ]
    seen: list[Array | None] = [None if ledger is None else ledger.find(key) for key in keys]
    missing = [i for i, found in enumerate(seen) if found is None]
    done, what = len(keys) - len(missing), f"{subject.key[1]}: {who} models"
    progress(what, done, len(keys))
    name, work = str(subject.key[1]), partial(_one, subject, data, coins, who)
    # at once, also when interrupted
    with closing(_train(work, name, missing, jobs, cluster)) as trained:
        for i, found in zip(missing, trained, strict=True):
            seen[i] = found
            if ledger is not None:
                ledger.keep([(keys[i], found)])
            done += 1
            progress(what, done, len(keys))
    every = [found for found in seen if found is not None]
    if len({found.shape for found in every}) > 1:
        raise TargetError(f"{what}: they do not all show the same number of labels")
    return np.stack(every)


def key_of(facts: Any) -> Key:
    """Return the ledger key of a trained model: all that answers depend on, block and trial."""
    digest = hashlib.sha256(json.dumps([VERSION, facts], sort_keys=True).encode()).digest()
    return digest, 0, 1, 1


def _train(
    work: Callable[[int], Array],
    name: str,
    models: Sequence[int],
    jobs: int,
    cluster: Cluster | None,
) -> Generator[NDArray[np.float64], None, None]:
    """Yield what is seen of the models, in their order."""
    if cluster is not None:
        yield from cluster.in_order(name, work, models)
        return
    if jobs == 1 or len(models) < 2:
        with one_thread():
            yield from map(work, models)
        return
    yield from in_order(name, work, models, jobs)


def _one(subject: Subject, data: ExperimentData, coins: Coins, who: str, i: int) -> Array:
    rng = stream(data.seed, "model", who, i, repr(subject.key), *data.digest)
    try:
        return subject.see(data.training(coins, i), data.points, rng)
    except DpassayError:
        raise
    except Exception as error:  # what is not ours may do anything
        raise TargetError(
            f"{who} model {i}: {type(error).__name__} was raised", told(error)
        ) from error
