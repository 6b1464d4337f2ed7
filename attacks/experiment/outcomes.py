"""What attacks reached on one subject and on parts of its records, and how it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    band,
    delong,
    roc,
    thin,
    with_a_coin,
)
from dpassay.attacks.experiment.models import Coins
from dpassay.attacks.experiment.one_run import CrossFitted, OneRun, one_run
from dpassay.attacks.experiment.power import composed
from dpassay.attacks.experiment.subjects import ModelView
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.claims import DP

NATURAL = "natural"
"""Records of no other slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Return what scores tell of some records, or None without both members and others."""

    auc: float | None = None
    advantage: float | None = None
    # 95 %, by leaving out targets, or over the records of a single one; None where it lacks some
    auc_interval: tuple[float, float] | None = None
    operating: tuple[Operating | None, ...] = (None,) * len(FALSE_POSITIVE_RATES)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sliced(Estimates):
    """What an attack reached on the records of a slice, over all targets together.

    `exposure` is the mean of the members in each target, in bits, NaN where it has none; the
    candidates are the slice's records that are out. `one_run` is what guesses at the pairs with
    a record of the slice certify: at all pairs if the records were made to be found, else at a
    share of them; None without a pair.
    """

    name: str
    records: int
    exposure: Array  # (targets,), an estimate
    highest: float  # possible exposure, averaged over the targets
    one_run: OneRun | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackOutcome(Estimates):
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
    view: ModelView
    curve: Roc  # at most a hundred of its points and the last
    # 95 % around the TPR, pointwise; estimates; None of a single target
    band: tuple[Array, Array] | None
    auc: float
    advantage: float
    auc_interval: tuple[float, float]
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
    # (targets,); empty where labels are not predicted, or unknown
    accuracy: Array = field(default_factory=lambda: np.empty(0))
    outcomes: tuple[AttackOutcome, ...] = ()
    # of the records that are most exposed in the reference models
    certified: Mapping[str, tuple[Certified, ...]] = field(default_factory=dict)
    exposure: Array = field(default_factory=lambda: np.empty(0))  # (e,)
    # right guesses at each record's coin, (e,)
    guessed: Mapping[str, Array] = field(default_factory=dict)
    # rules of an earlier attack with their right guesses here
    again: Mapping[str, tuple[tuple[Rule, int], ...]] = field(default_factory=dict)
    error: str = ""  # why there is nothing


def estimated(
    scores: Array, membership: Flags, told: Flags | None = None
) -> tuple[Roc | None, dict[str, Any]]:
    """Return the curve and the fields of `Estimates` at some records (e,), by default at all."""
    flags = np.broadcast_to(True if told is None else told, membership.shape)
    members, others = scores[membership & flags], scores[~membership & flags]
    if not members.size or not others.size:
        return None, {}
    curve, jackknifed = roc(members, others), len(scores) > 1 or told is not None
    return curve, {
        "auc": auc(members, others),
        "advantage": advantage(curve),
        "auc_interval": (
            auc_interval(scores, membership, told) if jackknifed else delong(members, others)
        ),
        "operating": tuple(at_rate(curve, rate, others.size) for rate in FALSE_POSITIVE_RATES),
    }


def measured(
    name: str,
    view: ModelView,
    scores: Array,
    membership: Flags,
    claim: DP | None = None,
    ran: OneRun | None = None,
    **more: Any,
) -> AttackOutcome:
    """Measure what an attack reached; scores and membership are (targets, e)."""
    curve, found = estimated(scores, membership)
    assert curve is not None
    tpr = [
        [
            np.nan if at is None else with_a_coin(row[inside], curve, at.asked)
            for row, inside in zip(scores, membership, strict=True)
        ]
        for at in found["operating"]
    ]
    thinned, members, above = thin(curve), int(membership.sum()), None
    if claim is not None:
        above = beyond(curve, composed(claim, view.m), members, membership.size - members)
    found["auc_interval"] = found["auc_interval"] or (0.0, 1.0)
    return AttackOutcome(
        attack=name,
        view=view,
        curve=thinned,
        band=band(thinned, scores, membership) if len(scores) > 1 else None,
        tpr=np.array(tpr),
        beyond=above,
        one_run=ran,
        **found,
        **more,
    )


def beyond(curve: Roc, allowed: tuple[float, float], members: int, non_members: int) -> float:
    """Return the largest TPR above what (epsilon, delta) allows, at least 0."""
    told = (curve.fpr * non_members >= ENOUGH) & ((1 - curve.tpr) * members >= ENOUGH)
    excess = curve.tpr[told] - allowed_tpr(curve.fpr[told], *allowed)
    return float(max(0.0, excess.max(initial=0.0)))


def separation(reference: Observed, membership: Flags) -> Array:
    """Return how far membership raises each record's own log-odds, in standard deviations (e,).

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


def parts(
    slices: Mapping[str, Flags], columns: Mapping[str, Flags] | None = None
) -> dict[str, Flags]:
    """Return the slices with a natural rest, where there are any, and those by a column."""
    found = dict(slices)
    if slices:
        rest = ~np.any(list(slices.values()), axis=0)
        found |= {NATURAL: rest} if rest.any() else {}
    return found | dict(columns or {})


def sliced(
    name: str,
    flags: Flags,
    scores: Array,
    coins: Coins,
    *,
    known: CrossFitted,
    alpha: float,
    planted: bool | None = None,
) -> Sliced:
    """Measure an attack on a slice, which was chosen without looking at the targets.

    The scores are (targets, e) and `flags` (e,). `known` chooses the share of the natural pairs
    that are guessed at. Records that are `planted` were made to be found, so every pair with
    one of them is guessed at; by default these are all slices but `NATURAL`. `alpha` is that of
    the one-run bound.
    """
    membership = coins.membership
    planted = name != NATURAL if planted is None else planted
    chosen: Flags = flags.reshape(-1, 2).sum(axis=1) >= (1 if planted else 2)
    guessed = None
    if chosen.any():
        guesses, heads = coins.guesses(scores)[:, chosen], coins.heads[:, chosen]
        share = 1.0 if planted else known.of(chosen).share(len(heads), alpha)
        guessed = one_run(guesses, heads, share=share, alpha=alpha)
    bits = exposure(scores, membership, flags)
    present = (membership & flags).any(axis=1)
    means = np.full(len(bits), np.nan)
    means[present] = np.nanmean(bits[present], axis=1)
    return Sliced(
        name=name,
        records=int(flags.sum()),
        exposure=means,
        highest=float(np.log2((~membership & flags).sum(axis=1) + 1).mean()),
        one_run=guessed,
        **estimated(scores, membership, flags)[1],
    )


def exposure(scores: Array, membership: Flags, canaries: Flags) -> Array:
    """Return the exposure of each canary in each target in bits; NaN where the canary is out.

    That is log2(candidates) - log2(rank of its score among the candidates), which are the canary
    and those that are out (Carlini, Liu, Erlingsson, Kos and Song 2019). A model without memory,
    or an attack that only guesses, has about 1 / ln 2 = 1.44 bits on average; ties count against
    the canary, so that constant scores have 0. It lies between 0 and log2(canaries that are out
    + 1). Scores and membership are (models, e).
    """
    own, inside = scores[:, canaries], membership[:, canaries]
    found = np.full(own.shape, np.nan)
    for row, flags, into in zip(own, inside, found, strict=True):
        others = np.sort(row[~flags])
        not_below = others.size - np.searchsorted(others, row[flags], side="left")
        into[flags] = np.log2(others.size + 1) - np.log2(1 + not_below)
    return found
