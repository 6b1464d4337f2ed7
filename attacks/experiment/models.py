"""Who is a member of which training set, and the models that are trained on them.

Membership is by fair coins, independent over pairs of records; one of each pair is in. All datasets
have the same size, and two that differ in one coin differ in one replaced record: the coins of an
experiment are the neighbours of replace-one claims. Each record alone is a member with probability
1/2. Models are trained for the attacker's reference, and as targets.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.subjects import AskedPoints, Subject
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.data import Labelled, digest
from dpassay.errors import DpassayError, TargetError, is_count, require, told
from dpassay.seeds import stream
from dpassay.targets.groups import Progress, silent
from dpassay.trials.backends import in_order
from dpassay.trials.cluster import Cluster
from dpassay.trials.ledger import Key, Ledger
from dpassay.trials.threads import one_thread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coins:
    """Coins of several models over e records; records 2 j and 2 j + 1 are a pair."""

    heads: Flags  # (models, e / 2): whether the first of the pair is in, else the second

    @property
    def membership(self) -> Flags:
        """Return whether a record is in the training set of a model, shape (models, e)."""
        members: Flags = np.stack([self.heads, ~self.heads], axis=2).reshape(len(self.heads), -1)
        return members

    def rows(self, model: int) -> NDArray[np.int64]:
        """Records of a model's training set, shape (e / 2,), in ascending order."""
        return np.flatnonzero(self.membership[model])

    def guesses(self, scores: Array) -> Array:
        """Return how much more the first of each pair looks like a member (models, e / 2)."""
        first, second = scores[:, 0::2], scores[:, 1::2]
        # equal infinities differ by 0
        return np.subtract(first, second, out=np.zeros(first.shape), where=first != second)


def toss(models: int, e: int, *, seed: int, who: str, mirrored: bool = False) -> Coins:
    """Toss the coins of some models over e records, e even.

    `who` (`reference`, `target`) selects a stream of its own. If `mirrored`, every second model
    has the coins of the one before turned over, so that each record is in half of the models.
    That suits reference models only: certification needs targets with independent coins.
    """
    require(is_count(models), "models", models, "an integer >= 1")
    require(is_count(e, 2) and e % 2 == 0, "records", e, "an even integer >= 2")
    drawn = np.array([stream(seed, "coins", who, i).random(e // 2) < 0.5 for i in range(models)])
    if mirrored:
        drawn[1::2] = ~drawn[: models - 1 : 2]
    return Coins(heads=drawn)


def one_a_pair(e: int, number: int, argument: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw some of e records, at most one of each pair, so that their coins are independent."""
    fits = is_count(number) and number <= e // 2
    require(fits, argument, number, f"an integer in 1..{e // 2}, half of the records")
    pairs = np.sort(rng.permutation(e // 2)[:number])
    places: NDArray[np.int64] = 2 * pairs + rng.integers(2, size=number)
    return places


VERSION = 3
"""Of how answers are made: raised when equal keys may stand for other answers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Training:
    """The places where models are trained and kept; no number depends on them."""

    ledger: Ledger | None = None
    jobs: int = 1
    cluster: Cluster | None = None
    progress: Progress = silent


HERE = Training()
"""One after the other in this process, with nothing kept."""


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
    points: AskedPoints
    seed: int
    background: Labelled | None = None
    adversarial: bool = False
    # canaries, poisoned records, ...: (e,) each
    slices: Mapping[str, Flags] = field(default_factory=dict)
    # slices by a user's column, see `scenario`: (e,) each
    columns: Mapping[str, Flags] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None  # (e,): line of the file of each record, from 1

    @property
    def digest(self) -> list[str]:
        """Return what a trained model depends on besides subject and coins."""
        behind = [] if self.background is None else [self.background.digest]
        return [self.records.digest, self.test.digest, *behind]

    def training(self, coins: Coins, model: int) -> Labelled:
        """Training set of a model: its half of the records, and the background behind them."""
        return self.behind(self.records.take(coins.rows(model)))

    def behind(self, drawn: Labelled) -> Labelled:
        """Return records with the background behind them, as every training set has it."""
        if self.background is None:
            return drawn
        X, y = ([drawn.X, self.background.X], [drawn.y, self.background.y])
        return Labelled(np.concatenate(X), np.concatenate(y))


def build_data(
    records: Labelled, test: Labelled, *, copies: int, noise: float, seed: int, **more: Any
) -> ExperimentData:
    """Return the data of an experiment, with noisy copies of every record."""
    X = np.concatenate([records.X, test.X])
    X.flags.writeable = False
    made = np.empty((copies, *X.shape))
    if copies:
        drawn = stream(seed, "copies", records.digest).normal(size=made.shape)
        made = X + noise * records.X.std(axis=0) * drawn
    K = int(max(records.y.max(), test.y.max())) + 1
    points = AskedPoints(X=X, copies=made, K=max(2, K))
    return ExperimentData(records=records, test=test, points=points, seed=seed, **more)


def models(
    subject: Subject, data: ExperimentData, coins: Coins, who: str, training: Training = HERE
) -> Models:
    """Train and look at one model per row of coins, or read what the ledger holds; see `look`."""
    seen, e, accuracy = look(subject, data, coins, who, training), len(data.records), np.empty(0)
    own = np.ones(e, dtype=np.int64) if subject.numeric else data.records.y
    observed = tuple(
        Observed(seen=seen[:, view, :e], y=own, m=each.m) for view, each in enumerate(subject.views)
    )
    if not subject.numeric:
        labels = next(view for view, each in enumerate(subject.views) if each.m is not None)
        right = np.take_along_axis(seen[:, labels, e:], data.test.y[None, :, None], axis=2)
        accuracy = right[:, :, 0].mean(axis=1)
    return Models(coins=coins, observed=observed, accuracy=accuracy)


def look(
    subject: Subject, data: ExperimentData, coins: Coins, who: str, training: Training = HERE
) -> Array:
    """Train and look at one model per row of coins, or read what the ledger holds of it."""
    ledger, progress = training.ledger, training.progress
    known = [*data.digest, digest(data.points.X, data.points.copies)]
    keys: list[Key] = []
    for i in range(len(coins.heads)):
        # all that answers depend on, then a block and a trial
        facts = [subject.key, subject.code, known, data.seed, who, i, coins.rows(i).tolist()]
        written = json.dumps([VERSION, facts], sort_keys=True).encode()
        keys.append((hashlib.sha256(written).digest(), 0, 1, 1))
    seen: list[Array | None] = [None if ledger is None else ledger.find(key) for key in keys]
    missing = [i for i, found in enumerate(seen) if found is None]
    done, what = len(keys) - len(missing), f"{subject.key[1]}: {who} models"
    progress(what, done, len(keys))
    # at once, also when interrupted
    with closing(_train(subject, data, coins, who, missing, training)) as trained:
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


def _train(
    subject: Subject,
    data: ExperimentData,
    coins: Coins,
    who: str,
    models: Sequence[int],
    training: Training,
) -> Generator[Array, None, None]:
    """Yield what is seen of the models, in their order."""
    name, work = str(subject.key[1]), partial(_one, subject, data, coins, who)
    if training.cluster is not None:
        yield from training.cluster.in_order(name, work, models)
    elif training.jobs == 1 or len(models) < 2:
        with one_thread():
            yield from map(work, models)
    else:
        yield from in_order(name, work, models, training.jobs)


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
