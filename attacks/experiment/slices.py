"""Results on a part of the records.

Canaries, poisoned records, and the natural ones beside them; slices by a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.experiment.canaries import exposure
from dpassay.attacks.experiment.coins import Coins
from dpassay.attacks.experiment.cross_fitting import CrossFitted
from dpassay.attacks.experiment.metrics import (
    FALSE_POSITIVE_RATES,
    Operating,
    advantage,
    at_rate,
    auc,
    auc_interval,
    roc,
)
from dpassay.attacks.experiment.one_run import OneRun, one_run
from dpassay.attacks.observed import Array, Flags

NATURAL = "natural"
"""Records of no other slice."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sliced:
    """What an attack reached on the records of a slice, over all targets together.

    Estimates are None if no target has a member of the slice, or none a non-member. `exposure`
    is the mean of the members in each target, in bits, NaN where it has none; the candidates
    are the slice's records that are out. `one_run` is what guesses at the pairs with a record
    of the slice certify: at all pairs if the records were made to be found, else at a share of
    them; None without a pair.
    """

    name: str
    records: int
    auc: float | None
    advantage: float | None
    auc_interval: tuple[float, float] | None  # 95 %, by leaving out targets; an estimate
    operating: tuple[Operating | None, ...]  # at `FALSE_POSITIVE_RATES`
    exposure: Array  # (targets,), an estimate
    highest: float  # possible exposure, averaged over the targets
    one_run: OneRun | None


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
    inside, outside = membership & flags, ~membership & flags
    pairs = flags.reshape(-1, 2)
    planted = name != NATURAL if planted is None else planted
    chosen: Flags = pairs.sum(axis=1) >= (1 if planted else 2)
    guessed = None
    if chosen.any():
        guesses, heads = coins.guesses(scores)[:, chosen], coins.heads[:, chosen]
        share = 1.0 if planted else known.of(chosen).share(len(heads), alpha)
        guessed = one_run(guesses, heads, share=share, alpha=alpha)
    bits = exposure(scores, membership, flags)
    present = inside.any(axis=1)
    means = np.full(len(bits), np.nan)
    means[present] = np.nanmean(bits[present], axis=1)
    rates: tuple[Operating | None, ...] = (None,) * len(FALSE_POSITIVE_RATES)
    area, gain, between = None, None, None
    if inside.any() and outside.any():
        curve, members, others = (
            roc(scores[inside], scores[outside]),
            scores[inside],
            scores[outside],
        )
        area, gain = auc(members, others), advantage(curve)
        rates = tuple(at_rate(curve, rate, others.size) for rate in FALSE_POSITIVE_RATES)
        between = auc_interval(scores, membership, flags)
    return Sliced(
        name=name,
        records=int(flags.sum()),
        auc=area,
        advantage=gain,
        auc_interval=between,
        operating=rates,
        exposure=means,
        highest=float(np.log2(outside.sum(axis=1) + 1).mean()),
        one_run=guessed,
    )
