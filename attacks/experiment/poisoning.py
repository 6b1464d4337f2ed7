"""Adversaries that plant canaries, poison the training set or choose their queries.

Source: Chadha, Jagielski, Papernot, Choquette-Choo and Nasr (2024).

Data are natural or poisoned (NAT, POIS), queries natural or adversarial (MINQ, MIAQ: membership
inference with natural, with adversarial queries). Here a natural query is the record itself. The
poison is a background: the same k records in every training set, with the record and without it.
Two training sets that differ in one coin differ in one record, whatever the background is, so every
claim is held against it as it stands; poison that depended on the coin would need group privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.attacks.experiment.models import HERE, ExperimentData, Training, look, one_a_pair, toss
from dpassay.attacks.experiment.subjects import AskedPoints, Subject
from dpassay.attacks.observed import Array, Flags
from dpassay.data import Labelled
from dpassay.errors import is_count, require
from dpassay.seeds import stream

NEAR = 0.01
"""Distance of a poisoned copy from its record in each column, in standard deviations of the
column."""
CLOSE = 1e-6
"""The same of copies that outvote natural neighbours: these must all lie farther away."""
CHANCE = 0.05
"""With which a candidate that is no better than the record takes its place."""
SLIGHT = 1e-9
"""Rounding errors of shares."""
NEIGHBOURS = 2
"""Nearest records with another label, towards which candidates lie."""
STEPS = (0.25, 0.5, 0.75)
"""How far they lie on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """What an adversary can do."""

    poisons: bool  # adds records to every training set
    chooses: bool  # chooses queries on reference models


ADVERSARIES = {
    "nat-minq": Adversary(poisons=False, chooses=False),
    "nat-miaq": Adversary(poisons=False, chooses=True),
    "pois-minq": Adversary(poisons=True, chooses=False),
    "pois-miaq": Adversary(poisons=True, chooses=True),
}
"""By the names of the paper."""
KINDS = ("labels", "features")
"""What of a canary is random: its label, always another one than its own; or each of its features,
drawn apart."""
POISONS = {"other": 2, "balanced": 25}
"""Labels of the poison, and how many copies of each record there are unless told otherwise: for
`balanced` as many as neighbours vote in `private-knn`."""


def plant(
    records: Labelled, number: int, *, kind: str = "labels", seed: int
) -> tuple[Labelled, NDArray[np.int64]]:
    """Replace some of e records by canaries and return the records and the canaries' indices.

    A canary is a record that nothing but memory explains: a flipped label, or features that
    never occurred together. Canaries are put in by the coins of the experiment like every other
    record, so that claims about a replaced record hold for them unchanged. At most one record of
    each pair is replaced; with features, every column is taken from a record of its own.
    """
    rng = stream(seed, "canaries", kind, records.digest)
    places = one_a_pair(len(records), number, "--canaries", rng)
    X, y = records.X.copy(), records.y.copy()
    require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
    if kind == "labels":
        y[places] = other_labels(records.y, rng)[places]
    else:
        donors = rng.integers(len(records), size=(number, X.shape[1]))
        X[places] = records.X[donors, np.arange(X.shape[1])]
    return Labelled(X, y), places


def other_labels(y: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return another label than its own for each, uniformly of those that occur."""
    labels, codes = np.unique(y, return_inverse=True)
    two = "at least two, to flip one into another"
    require(len(labels) >= 2, "labels", f"{len(labels)} label", two)
    moved = (codes + rng.integers(1, len(labels), size=len(y))) % len(labels)
    found: NDArray[np.int64] = labels[moved]
    return found


def surround(
    records: Labelled, places: NDArray[np.int64], copies: int, *, seed: int, distance: float = NEAR
) -> Labelled:
    """Return near copies of some records with another label, `copies` for each."""
    require(is_count(copies), "--poison", copies, "an integer >= 1")
    rng = stream(seed, "poison", records.digest)
    y = other_labels(records.y, rng)[places]
    drawn = rng.normal(size=((copies + 1) // 2, len(places), records.X.shape[1]))
    steps = np.sign(drawn) * distance * records.X.std(axis=0)
    around = np.stack([steps, -steps], axis=1).reshape(-1, *steps.shape[1:])[:copies]
    X = (records.X[places] + around).reshape(-1, records.X.shape[1])
    return Labelled(X, np.tile(y, copies))


def balance(records: Labelled, places: NDArray[np.int64], copies: int, *, seed: int) -> Labelled:
    """Return near copies of some records that vote as often for as against their labels.

    The `copies` nearest records vote, an odd number, so the record decides. If it is out, all
    copies vote, and the other label has one vote more; if it is in, it takes the place of the
    farthest copy, which lies twice as far away, and its own label has one vote more. So the
    record moves the margin by two votes in the middle, where noise hides a move least; natural
    votes are seldom so close.
    """
    odd = is_count(copies) and copies % 2 == 1
    require(odd, "--poison", copies, "an odd number >= 1 with --poison-labels balanced")
    near = surround(records, places, copies, seed=seed, distance=CLOSE)
    X = near.X.reshape(copies, len(places), -1).copy()
    y = near.y.reshape(copies, len(places)).copy()
    X[-1] += X[-1] - records.X[places]
    y[: copies // 2] = records.y[places]
    return Labelled(X.reshape(near.X.shape), y.reshape(-1))


def candidates(data: ExperimentData) -> Array:
    """Return points that may tell more of a record than itself, shape (c, e, d)."""
    records, e = data.records, len(data.records)
    scale = records.X.std(axis=0)
    Z = records.X / np.where(scale > 0, scale, 1.0)
    found = [data.points.X[:e], *data.points.copies[:, :e]]
    other = [np.flatnonzero(records.y != label) for label in range(data.points.K)]
    few = min(NEIGHBOURS, *(len(other[label]) for label in records.y))
    nearest = np.empty((few, e), dtype=np.int64)
    for i in range(e):
        rows = other[records.y[i]]
        order = np.argsort(((Z[rows] - Z[i]) ** 2).sum(axis=1), kind="stable")
        nearest[:, i] = rows[order[:few]]
    found += [
        records.X + step * (records.X[those] - records.X) for those in nearest for step in STEPS
    ]
    return np.stack(found)


def choose(
    subject: Subject, data: ExperimentData, models: int, training: Training = HERE
) -> ExperimentData:
    """Choose for each record the query where its membership raises the share of its label most.

    The attacker trains scouts for it, at least two. Scouts have coins of their own, so that
    what reference models show at the chosen points is not biased by the choice; see `better`.
    The view is that of scores, or of the most labels. The returned data have the chosen points
    instead of the records, and noisy copies of these points.
    """
    plain, e = subject.without_copies(), len(data.records)
    coins = toss(models, e, seed=data.seed, who="scout")
    points = candidates(data)
    X, K = _frozen(points.reshape(-1, points.shape[2])), data.points.K
    asked = replace(data, points=AskedPoints(X=X, copies=np.empty((0, *X.shape)), K=K))
    seen = look(plain, asked, coins, "scout", training)
    view = max(range(len(plain.views)), key=lambda v: plain.views[v].m or np.inf)
    shares = seen[:, view].reshape(models, len(points), e, -1)
    own = np.take_along_axis(shares, data.records.y[None, None, :, None], axis=3)[:, :, :, 0]
    best = points[better(own, coins.membership), np.arange(e)]
    moved = data.points.X.copy()
    moved[:e] = best
    copies = data.points.copies + (moved - data.points.X)
    return replace(data, points=AskedPoints(X=_frozen(moved), copies=copies, K=K))


def better(own: Array, membership: Flags) -> NDArray[np.int64]:
    """Return for each record the candidate at which its membership raises its share most.

    The first candidate stays unless the rise at another one is larger by so many standard
    errors (Welch's, over the models) as all others together exceed with probability `CHANCE` if
    none is better. Without this, the noisiest of many points that tell nothing would be taken.
    `own` holds shares of the records' own labels, (models, candidates, e).
    """
    gain, variance = np.zeros(own.shape[1:]), np.zeros(own.shape[1:])
    beyond = own - own[:, :1]
    for sign, chosen in ((1, membership), (-1, ~membership)):
        flags, counts = chosen[:, None, :], np.maximum(chosen.sum(axis=0), 1)
        mean = np.where(flags, beyond, 0.0).sum(axis=0) / counts
        gain += sign * mean
        variance += np.where(flags, (beyond - mean) ** 2, 0.0).sum(axis=0) / (
            counts * np.maximum(counts - 1, 1)
        )
    told = gain > -ndtri(CHANCE / max(1, own.shape[1] - 1)) * np.sqrt(variance)
    both = membership.any(axis=0) & ~membership.all(axis=0)
    found: NDArray[np.int64] = np.where(told & (gain > SLIGHT) & both, gain, 0.0).argmax(axis=0)
    return found


def _frozen(X: Array) -> Array:
    X = np.ascontiguousarray(X)
    X.flags.writeable = False
    return X
