"""The experiment: train models, look at them through every view, attack, measure the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from dpassay.attacks.experiment.certified import (
    Certified,
    Rule,
    asked_again,
    certify,
    chosen,
    exposed,
    fresh_guesses,
    guess_again,
    right_guesses,
)
from dpassay.attacks.experiment.metrics import tossed_again
from dpassay.attacks.experiment.models import ExperimentData, Models, Training, models, toss
from dpassay.attacks.experiment.one_run import cross_fit, one_run
from dpassay.attacks.experiment.outcomes import (
    Attacked,
    AttackOutcome,
    measured,
    parts,
    separation,
    sliced,
)
from dpassay.attacks.experiment.poisoning import choose
from dpassay.attacks.experiment.power import composed
from dpassay.attacks.experiment.subjects import Protected, Subject
from dpassay.attacks.observed import Array
from dpassay.attacks.scores import Attack
from dpassay.claims import DP
from dpassay.config.options import COMMAND_LINE
from dpassay.errors import TargetError, is_count, is_real, require
from dpassay.stats.bounds import Counts
from dpassay.targets.groups import Progress, silent
from dpassay.trials.cluster import Cluster
from dpassay.trials.ledger import Ledger

ROUNDED = 1e-9
"""Records of attacks hold twelve digits of a threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How much is trained, and at what confidence something is said."""

    references: int = COMMAND_LINE["references"].default  # models that the attacker trains, >= 4
    targets: int = 32  # models that are attacked, >= 2; intervals are over them
    certified: int = 5  # records with a certified bound, chosen on the reference models
    fresh: bool = False  # whether fresh answers about these records are asked for, see `fresh`
    confidence: float = 0.95  # of all certified numbers together, whatever the subject

    def __post_init__(self) -> None:
        require(is_count(self.references, 4), "--references", self.references, "an integer >= 4")
        require(is_count(self.targets, 2), "--targets", self.targets, "an integer >= 2")
        require(is_count(self.certified), "certified", self.certified, "an integer >= 1")
        inside = is_real(self.confidence) and 0 < self.confidence < 1
        require(inside, "--confidence", self.confidence, "a number in (0, 1)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """A subject with the name and the claim it goes by."""

    name: str
    subject: Subject
    claim: DP | None = None  # of a single answer, all others given
    # by view: rules of an accepted attack to count again
    again: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)


def experiment(
    targets: Sequence[Target],
    data: ExperimentData,
    attacks: Mapping[str, Attack],
    design: Design,
    *,
    ledger: Ledger | None = None,
    jobs: int = 1,
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> Iterator[Attacked]:
    """Attack the subjects one after the other; one that fails has an `error`."""
    training = Training(ledger=ledger, jobs=jobs, cluster=cluster, progress=progress)
    e, seed = len(data.records), data.seed
    mine = toss(design.references, e, seed=seed, who="reference", mirrored=True)
    theirs = toss(design.targets, e, seed=seed, who="target")
    alpha = (1 - design.confidence) / len(targets)
    for target in targets:
        subject, floor = target.subject, data
        try:
            if data.adversarial:
                floor = choose(subject, data, design.references, training)
            reference = models(subject, floor, mine, "reference", training)
            attacked = models(subject, floor, theirs, "target", training)
            found = _attack(target, reference, attacked, attacks, design, floor, alpha, progress)
        except TargetError as error:
            found = Attacked(name=target.name, claim=target.claim, error=str(error))
        yield found


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
    outcomes, guessed = list[AttackOutcome](), dict[str, Array]()
    bounds, again = dict[str, tuple[Certified, ...]](), dict[str, tuple[tuple[Rule, int], ...]]()
    theirs_in, heads = attacked.coins.membership, attacked.coins.heads
    for v, view in enumerate(views):
        mine, theirs = reference.observed[v], attacked.observed[v]
        for name, attack in attacks.items():
            scores = attack(mine, reference.coins.membership)(theirs)
            known = cross_fit(attack, mine, reference.coins)
            share = known.share(len(heads), run)
            ran = one_run(attacked.coins.guesses(scores), heads, share=share, alpha=run)
            apart = partial(sliced, scores=scores, coins=attacked.coins, known=known, alpha=run)
            found = measured(
                name,
                view,
                scores,
                theirs_in,
                target.claim,
                ran,
                again=tossed_again(scores),
                sliced=tuple(
                    apart(p, each, planted=p in data.slices) for p, each in slices.items()
                ),
            )
            outcomes.append(found)
            progress(f"{target.name}: attacks", len(outcomes), len(views) * len(attacks))
        every = exposed(mine, reference.coins.membership, len(data.records))
        rules = chosen(every, design.certified, data.columns)
        guessed[view.name] = right_guesses(every, theirs, theirs_in)
        again[view.name] = tuple(
            (rule, int(right_guesses([rule], theirs, theirs_in, near=ROUNDED)[rule.record]))
            for rule in target.again.get(view.name, ())
        )
        fresh, claim, delta = tuple[Counts, ...](), target.claim, 0.0
        if claim is not None:
            delta = composed(claim, view.m)[1]
        if design.fresh and claim is not None and asked_again(target.subject, claim) == view:
            assert isinstance(target.subject, Protected)
            each = single / len(rules)
            number = fresh_guesses(view, claim, alpha=each, targets=design.targets)
            fresh = guess_again(target.subject, data, view, rules, number, progress)
        bounds[view.name] = certify(
            rules, theirs, theirs_in, delta=delta, alpha=single, fresh=fresh
        )
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
    """Share the error probability of a subject between its bounds.

    One half goes to what is held against its claim, all of it without attacks. The first number
    is for the bounds of single records in one view, all of them together; the second for a
    single one-run bound, of which every attack has one on all records and one on each slice
    (the natural rest is a slice too).
    """
    claimed = alpha / 2 if attacks else alpha
    return claimed / views, (alpha - claimed) / (views * max(1, attacks) * (1 + slices))
