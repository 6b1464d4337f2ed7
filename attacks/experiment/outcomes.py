"""What attacks reached on one subject, and how it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.band import band
from dpassay.attacks.experiment.certified import Certified, Rule
from dpassay.attacks.experiment.metrics import (
    ENOUGH,
    FALSE_POSITIVE_RATES,
    Operating,
    Roc,
    advantage,
    allowed_tpr,
    at_rate,
    auc,
    auc_interval,
    delong,
    per_model,
    roc,
    thin,
    with_a_coin,
)
from dpassay.attacks.experiment.one_run import OneRun
from dpassay.attacks.experiment.slices import Sliced
from dpassay.attacks.experiment.subjects import View
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.claims import DP


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one attack reached in one view; rates are over all targets and records together.

    `tpr` (rates, targets) holds the true positive rate of each target at exactly the
    `FALSE_POSITIVE_RATES` over all targets, with a coin for tied scores and NaN where
    `operating` is None; it serves paired comparisons.

    `beyond` estimates by how much the curve rises above the region that the composed claim
    allows, where at least ten non-members are called members and ten members are not: 0 if it
    stays inside, None without a claim. The region is that of the answers at the record itself;
    RMIA reads those at the other records too, and its curve alone proves nothing.

    `one_run` is what the guesses certify about everything that a target has answered; None if
    the coins of membership are not ours, so that nothing can be certified.
    """

    attack: str
    view: View
    curve: Roc  # at most a hundred of its points and the last
    # 95 % around the TPR, pointwise; estimates; None of a single target
    band: tuple[Array, Array] | None
    auc: float
    advantage: float
    # 95 %, over targets, or over records of a single one; an estimate
    auc_interval: tuple[float, float]
    operating: tuple[Operating | None, ...]  # at `FALSE_POSITIVE_RATES`
    tpr: Array
    beyond: float | None
    one_run: OneRun | None
    again: Array | None = None  # AUCs under new tosses, see `no_leak`; None without coins
    sliced: tuple[Sliced, ...] = ()  # canaries, poisoned and natural records


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """All about one subject.

    `exposure` says how far apart a record's own shares are in reference models with and without
    it, in standard deviations; it is empty without reference models. Keys are names of views.
    """

    name: str
    claim: DP | None  # for a single answer; None of an unprotected learner
    accuracy: Array  # (targets,); empty where labels are not predicted, or unknown
    outcomes: tuple[Outcome, ...]
    # of the records that are most exposed in the reference models
    certified: Mapping[str, tuple[Certified, ...]]
    exposure: Array  # (e,)
    # right guesses at each record's coin, (e,)
    guessed: Mapping[str, Array] = field(default_factory=dict)
    # rules of an earlier attack with their right guesses here
    again: Mapping[str, tuple[tuple[Rule, int], ...]] = field(default_factory=dict)
    error: str = ""  # why there is nothing


def measured(
    name: str,
    view: View,
    scores: Array,
    membership: Flags,
    claim: DP | None = None,
    ran: OneRun | None = None,
) -> Outcome:
    """Measure what an attack reached; scores and membership are (targets, e).

    Every target has members and others. The claim is about a single answer.
    """
    members, others = scores[membership], scores[~membership]
    curve, alone = roc(members, others), per_model(scores, membership)
    operating = tuple(at_rate(curve, rate, others.size) for rate in FALSE_POSITIVE_RATES)
    tpr = np.array(
        [
            [np.nan if at is None else with_a_coin(one, curve, at.asked) for one, _ in alone]
            for at in operating
        ]
    )
    told = thin(curve)
    between = auc_interval(scores, membership) if len(scores) > 1 else delong(members, others)
    return Outcome(
        attack=name,
        view=view,
        curve=told,
        band=band(told, scores, membership) if len(scores) > 1 else None,
        auc=auc(members, others),
        advantage=advantage(curve),
        auc_interval=between or (0.0, 1.0),
        operating=operating,
        tpr=tpr,
        beyond=None
        if claim is None
        else beyond(curve, composed(claim, view.m), members.size, others.size),
        one_run=ran,
    )


def beyond(curve: Roc, allowed: tuple[float, float], members: int, non_members: int) -> float:
    """Return the largest TPR above what (epsilon, delta) allows, at least 0.

    Only rates at which both kinds of error are frequent enough count.
    """
    told = (curve.fpr * non_members >= ENOUGH) & ((1 - curve.tpr) * members >= ENOUGH)
    excess = curve.tpr[told] - allowed_tpr(curve.fpr[told], *allowed)
    return float(max(0.0, excess.max(initial=0.0)))


def separation(reference: Observed, membership: Flags) -> Array:
    """Return how far membership raises the log-odds of a record's own label, shape (e,).

    In standard deviations.

    A record that is in all reference models, or in none, has 0; so has one whose log-odds never
    move. Where they move with the membership and with nothing else (up to rounding) there is no
    deviation to divide by: the difference itself, in nats.
    """
    phi = reference.phi
    counts = membership.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(membership, phi, 0.0).sum(axis=0) / counts
        outside = np.where(membership, 0.0, phi).sum(axis=0) / (len(phi) - counts)
        centred = phi - np.where(membership, inside, outside)
        spread = np.sqrt((centred**2).mean(axis=0))
        spread = np.where(spread > 1e-9 * np.abs(phi).max(axis=0), spread, 1.0)
        found = (inside - outside) / spread
    return np.where(np.isfinite(found), found, 0.0)
