"""How many models an attack needs, so that its shares of the error probability see a leak."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.special import logit

from dpassay.attacks.experiment.certified import asked_again, fresh_guesses
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.outcomes import parts
from dpassay.attacks.experiment.power import (
    GuessClaim,
    RenyiClaim,
    RunClaim,
    guesses_to_certify,
    guesses_to_see,
    renyi_claim,
    transcripts_to_certify,
)
from dpassay.attacks.experiment.run import Design, Target, shares
from dpassay.attacks.scores import ATTACKS, Attack
from dpassay.stats.guesses import divergence

FEWEST, MOST, ABOVE = 32, 256, 2.5
"""Target models unless something else is said: at least, at most, and how far above its claim a
leak is to be seen, in nats."""
VIEWS = 3
"""Of a mechanism, unless budgets are said otherwise: one label, eight labels, labels of copies."""


def enough(
    targets: Sequence[Target],
    attacks: Mapping[str, Attack],
    data: ExperimentData,
    design: Design,
    alpha: float,
) -> int:
    """Return the number of target models that the claims take.

    So many targets show a leak 2.5 nats above each claim by guesses about a single record, and
    let one-run audits certify 85 % of each claim without delta by the median, on randomised
    response. Claims that 256 models cannot serve are left out. `alpha` is that of a subject,
    which the attacks, data and design divide.
    """
    bounds, needed = design.certified + len(data.columns), [FEWEST]
    for target in targets:
        if target.claim is None:
            continue
        single, run = _shares(target, attacks, data, alpha)
        # RDP and zCDP are held at delta = 0, as their Rényi losses are held against guesses
        promised, delta = renyi_claim(target.claim, 1), target.claim.delta
        epsilon = target.claim.epsilon if promised is None else float(logit(promised.hit()))
        held = GuessClaim(allowed=epsilon, delta=delta if promised is None else 0.0)
        if math.isfinite(epsilon):
            leak, each = epsilon + ABOVE, single / bounds
            needed.append(guesses_to_see(held, leak, alpha=each, most=MOST))
        if epsilon > 0 and delta == 0:
            guesses = guesses_to_certify(RunClaim(allowed=epsilon), alpha=run)
            needed.append(-(-guesses // (len(data.records) // 2)))
    return max(each for each in needed if each <= MOST)


def fresh_answers(
    target: Target,
    attacks: Mapping[str, Attack],
    data: ExperimentData,
    design: Design,
    alpha: float,
) -> int:
    """Return how many fresh answers about its chosen records a target is asked for; see `enough`.

    At most: a record that is the best of a slice too is asked about once.
    """
    view = asked_again(target.subject, target.claim)
    if not design.fresh or view is None or target.claim is None:
        return 0
    single, _ = _shares(target, attacks, data, alpha)
    bounds = design.certified + len(data.columns)
    each = fresh_guesses(view, target.claim, alpha=single / bounds, targets=design.targets)
    return bounds * each * (view.m or 1)


def _shares(
    target: Target, attacks: Mapping[str, Attack], data: ExperimentData, alpha: float
) -> tuple[float, float]:
    slices = len(parts(data.slices, data.columns))
    return shares(alpha, len(target.subject.views), len(attacks), slices)


def share_of(claims: int, alpha: float) -> float:
    """Return the error probability of each bound of a single record in `dpassay attack`."""
    single, _ = shares(alpha / (2 * claims + 1), VIEWS, len(ATTACKS), 0)
    return single / Design().certified


def at_the_claim(
    epsilon: float,
    claims: int,
    alpha: float,
    tests: int,
    *,
    delta: float = 0.0,
    promised: RenyiClaim | None = None,
) -> dict[str, int]:
    """Return how much each design needs to certify 85 % of a claim that is just kept.

    The answer is for the median on randomised response; 0 if ten million are too few. `tests` is
    the length of the ladder of repeated answers. With `promised`, a claim of one answer instead of
    epsilon and delta, only guesses at a single record are planned.

    Keys: `models`, guesses of a single record; `guesses` of one run (models times coins guessed
    at); `transcripts` a side of a single repeated answer; `renyi_models` for the Rényi loss of
    order 2, 0 if delta > 0, where that loss is infinite.
    """
    record = share_of(claims, alpha)
    subject = alpha / (2 * claims + 1)
    _, run = shares(subject, VIEWS, len(ATTACKS), 0)
    if promised is not None:
        needed = guesses_to_certify(promised, alpha=record)
        return {"models": needed, "guesses": 0, "transcripts": 0, "renyi_models": needed}
    claim = GuessClaim(allowed=epsilon, delta=delta)
    run_claim = RunClaim(allowed=epsilon, delta=delta)
    renyi = RenyiClaim(order=2.0, allowed=divergence(run_claim.hit(), 2.0))
    return {
        "models": guesses_to_certify(claim, alpha=record),
        "guesses": guesses_to_certify(run_claim, alpha=run),
        "transcripts": transcripts_to_certify(epsilon, delta=delta, alpha=subject / tests),
        "renyi_models": 0 if delta else guesses_to_certify(renyi, alpha=record),
    }
