"""The experiment: train models, look at them through every view, attack, measure the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.band import band
from dpassay.attacks.experiment.certified import (
    Certified,
    Rule,
    certify,
    chosen,
    exposed,
    right_guesses,
)
from dpassay.attacks.experiment.coins import toss
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
from dpassay.attacks.experiment.models import ExperimentData, Models, models
from dpassay.attacks.experiment.no_leak import tossed_again
from dpassay.attacks.experiment.one_run import OneRun, one_run
from dpassay.attacks.experiment.poisoning import choose
from dpassay.attacks.experiment.slices import Sliced, parts, sliced
from dpassay.attacks.experiment.subjects import Subject, View
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores.interface import Attack
from dpassay.claims import DP
from dpassay.config.options import COMMAND_LINE
from dpassay.errors import TargetError, is_count, is_real, require
from dpassay.targets.groups import Progress, silent
from dpassay.trials.ledger import Ledger

ROUNDED = 1e-9
"""Records of attacks hold twelve digits of a threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How much is trained, and at what confidence something is said.

    Parameters
    ----------
    references : int
        Models that the attacker trains, >= 4.
    targets : int
        Models that are attacked, >= 2; intervals are over them.
    guesses : float
        Share of the pairs of records on which the one-run audit guesses, the others are abstained
        from; in (0, 1].
    certified : int
        Records that a bound of their own is certified for, >= 1; chosen on the reference models.
    confidence : float
        Of all certified numbers of an experiment together, whatever the subject, in (0, 1).
    """

    references: int = COMMAND_LINE["references"].default
    targets: int = 32
    guesses: float = 0.1
    certified: int = 5
    confidence: float = 0.95

    def __post_init__(self) -> None:
        require(is_count(self.references, 4), "--references", self.references, "an integer >= 4")
        require(is_count(self.targets, 2), "--targets", self.targets, "an integer >= 2")
        require(
            is_real(self.guesses) and 0 < self.guesses <= 1,
            "guesses",
            self.guesses,
            "a number in (0, 1]",
        )
        require(is_count(self.certified), "certified", self.certified, "an integer >= 1")
        require(
            is_real(self.confidence) and 0 < self.confidence < 1,
            "--confidence",
            self.confidence,
            "a number in (0, 1)",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one attack reached in one view; rates are over all targets and records together.

    Parameters
    ----------
    attack, view
        Which; the view as in the subject.
    curve : Roc
        At most a hundred of its points and the last.
    band : tuple of array, or None
        95 % around its TPR, pointwise; estimates. None of a single target.
    auc, advantage : float
        Estimates.
    auc_interval : tuple of float
        95 %, by leaving out targets, of a single one over its records; around `auc`, in [0, 1]; an
        estimate.
    operating : tuple of (Operating or None)
        At `FALSE_POSITIVE_RATES`.
    tpr : array (rates, targets)
        True positive rate of each target alone at exactly these false positive rates over all
        targets, a coin being tossed where scores tie; NaN where `operating` is None. For paired
        comparisons.
    beyond : float or None
        By how much the curve rises above the region that the composed claim allows, where ten
        non-members at least are called members and ten members are not; an estimate, 0 where it
        stays inside; None where nothing is claimed. The region is that of the answers at the record
        itself; RMIA reads those at the other records too, and its curve alone proves nothing.
    one_run : OneRun or None
        What the guesses certify about everything that a target has answered; None where the coins
        of membership are not ours, so that nothing can be certified.
    again : array or None
        AUCs if the coins were tossed again; see `dpassay.attacks.experiment.no_leak`. None without
        coins.
    sliced : tuple of Sliced
        The same on canaries, poisoned and natural records apart; empty where there are none but
        natural ones.
    """

    attack: str
    view: View
    curve: Roc
    band: tuple[Array, Array] | None
    auc: float
    advantage: float
    auc_interval: tuple[float, float]
    operating: tuple[Operating | None, ...]
    tpr: Array
    beyond: float | None
    one_run: OneRun | None
    again: Array | None = None
    sliced: tuple[Sliced, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """All about one subject.

    Parameters
    ----------
    name : str
    claim : DP or None
        For a single answer; None of an unprotected learner.
    accuracy : array (targets,)
        Empty where labels are not predicted, or unknown.
    outcomes : tuple of Outcome
    certified : dict
        By the name of the view: bounds for the records that the reference models show to be exposed
        most.
    exposure : array (e,)
        How far apart a record's own shares are in reference models with and without it, in standard
        deviations; empty where there are no reference models.
    guessed : dict
        By the name of the view: of each record (e,), how many guesses at its coin were right.
    again : dict
        By the name of the view: rules of an earlier attack, with the right guesses on these
        targets.
    error : str
        Why there is nothing; empty otherwise.
    """

    name: str
    claim: DP | None
    accuracy: Array
    outcomes: tuple[Outcome, ...]
    certified: Mapping[str, tuple[Certified, ...]]
    exposure: Array
    guessed: Mapping[str, Array] = field(default_factory=dict)
    again: Mapping[str, tuple[tuple[Rule, int], ...]] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """A subject with the name and the claim it goes by.

    Parameters
    ----------
    name : str
    subject : Subject
    claim : DP or None
        Of a single answer, all others given; None where nothing is claimed.
    again : dict
        By the name of the view: rules of an accepted attack, which are counted again.
    """

    name: str
    subject: Subject
    claim: DP | None = None
    again: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)


def experiment(
    targets: Sequence[Target],
    data: ExperimentData,
    attacks: Mapping[str, Attack],
    design: Design,
    *,
    ledger: Ledger | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> Iterator[Attacked]:
    """Attack the subjects one after the other.

    Yields
    ------
    Attacked
        A subject that fails has its `error` told; the others go on.
    """
    mine = toss(
        design.references, len(data.records), seed=data.seed, who="reference", mirrored=True
    )
    theirs = toss(design.targets, len(data.records), seed=data.seed, who="target")
    for target in targets:
        try:
            floor = data
            if data.adversarial:
                floor = choose(
                    target.subject,
                    data,
                    design.references,
                    ledger=ledger,
                    jobs=jobs,
                    progress=progress,
                )
            reference = models(
                target.subject,
                floor,
                mine,
                "reference",
                ledger=ledger,
                jobs=jobs,
                progress=progress,
            )
            attacked = models(
                target.subject, floor, theirs, "target", ledger=ledger, jobs=jobs, progress=progress
            )
        except TargetError as error:
            yield _failed(target, str(error))
            continue
        alpha = (1 - design.confidence) / len(targets)
        yield _attack(target, reference, attacked, attacks, design, data, alpha, progress)


def _attack(
    target: Target,
    reference: Models,
    attacked: Models,
    attacks: Mapping[str, Attack],
    design: Design,
    data: ExperimentData,
    alpha: float,
    progress: Progress,
) -> Attacked:
    views, slices = target.subject.views, parts(data.slices, data.columns)
    single, run = shares(alpha, len(views), len(attacks), len(slices))
    outcomes: list[Outcome] = []
    bounds: dict[str, tuple[Certified, ...]] = {}
    guessed: dict[str, Array] = {}
    again: dict[str, tuple[tuple[Rule, int], ...]] = {}
    theirs_in = attacked.coins.membership
    for v, view in enumerate(views):
        mine, theirs = reference.observed[v], attacked.observed[v]
        for name, attack in attacks.items():
            scores = attack.fit(mine, reference.coins.membership).score(theirs)
            found = _outcome(name, view, scores, attacked, target.claim, design, run)
            apart = (
                sliced(
                    part,
                    flags,
                    scores,
                    attacked.coins,
                    share=design.guesses,
                    alpha=run,
                    planted=part in data.slices,
                )
                for part, flags in slices.items()
            )
            outcomes.append(replace(found, sliced=tuple(apart)))
            progress(f"{target.name}: attacks", len(outcomes), len(views) * len(attacks))
        every = exposed(mine, reference.coins.membership, len(data.records))
        rules = chosen(every, design.certified, data.columns)
        guessed[view.name] = right_guesses(every, theirs, theirs_in)
        again[view.name] = tuple(
            (rule, int(right_guesses([rule], theirs, theirs_in, near=ROUNDED)[rule.record]))
            for rule in target.again.get(view.name, ())
        )
        delta = 0.0 if target.claim is None else composed(target.claim, view.m)[1]
        bounds[view.name] = certify(rules, theirs, theirs_in, delta=delta, alpha=single)
    return Attacked(
        name=target.name,
        claim=target.claim,
        accuracy=attacked.accuracy,
        outcomes=tuple(outcomes),
        certified=bounds,
        exposure=separation(reference.observed[0], reference.coins.membership),
        guessed=guessed,
        again=again,
    )


def shares(alpha: float, views: int, attacks: int, slices: int) -> tuple[float, float]:
    """Share the error probability of a subject.

    One half goes to what is held against its claim, all of it without attacks.

    Parameters
    ----------
    alpha : float
        Of everything that is certified of a subject.
    views, attacks, slices : int
        How many there are; slices with the natural rest, 0 where nothing is told apart.

    Returns
    -------
    tuple of float
        Of the bounds of single records in one view, all of them together; of a single one-run
        bound, of which every attack has one on all records and one on each slice.
    """
    claimed = alpha / 2 if attacks else alpha
    return claimed / views, (alpha - claimed) / (views * max(1, attacks) * (1 + slices))


def _outcome(
    name: str,
    view: View,
    scores: Array,
    attacked: Models,
    claim: DP | None,
    design: Design,
    alpha: float,
) -> Outcome:
    guesses, heads = attacked.coins.guesses(scores), attacked.coins.heads
    ran = one_run(guesses, heads, share=design.guesses, alpha=alpha)
    found = measured(name, view, scores, attacked.coins.membership, claim, ran)
    return replace(found, again=tossed_again(scores))


def measured(
    name: str,
    view: View,
    scores: Array,
    membership: Flags,
    claim: DP | None = None,
    ran: OneRun | None = None,
) -> Outcome:
    """Measure what an attack reached.

    Parameters
    ----------
    name, view
        Of the attack, and how it looked.
    scores : array (targets, e)
        Higher means member.
    membership : bool array (targets, e)
        Every target has members and others.
    claim : DP, optional
        About a single answer.
    ran : OneRun, optional
        What the guesses certify.

    Returns
    -------
    Outcome
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

    Only where both kinds of error are frequent enough.
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


def _failed(target: Target, why: str) -> Attacked:
    none = np.empty(0)
    return Attacked(
        name=target.name,
        claim=target.claim,
        accuracy=none,
        outcomes=(),
        certified={},
        exposure=none,
        error=why,
    )
