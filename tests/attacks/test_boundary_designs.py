"""Bounds and designs at the boundary of a claim, on randomised response: valid, and not silent.

Each record's membership bit is told by randomised response at epsilon, or outright with probability
delta. The error probabilities are those of `dpassay attack` with one mechanism, one claim and the
learner; validity is counted at alpha = 0.05, where a wrong bound would show, with the same guesses.
The law of the bound of one run is enumerated in twins/test_twin_one_run.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.experiment.certified import certify, exposed, fresh_guesses
from dpassay.attacks.experiment.models import build_data, toss
from dpassay.attacks.experiment.one_run import (
    CrossFitted,
    guessed_at,
    largest_rejected,
    one_run,
    right_of_the_surest,
)
from dpassay.attacks.experiment.planning import ABOVE, MOST, VIEWS, at_the_claim, enough, share_of
from dpassay.attacks.experiment.power import (
    SHARE,
    GuessClaim,
    RenyiClaim,
    RunClaim,
    guesses_to_certify,
    guesses_to_see,
    transcripts_to_certify,
)
from dpassay.attacks.experiment.run import Design, Target, shares
from dpassay.attacks.experiment.subjects import ModelView, Subject, around, asked
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.repeated.run import TRANSCRIPTS, bounds_of, enough_transcripts, ladder
from dpassay.attacks.repeated.transcript_tests import run_tests
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP, RDP
from dpassay.config.options import COMMAND_LINE
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.stats.guesses import ORDERS, divergence

REPETITIONS = 200
ALPHA, CHECKS, WRONG = 0.05, 7, 20
"""P[Bin(200, 0.05) > 20] <= 1 % / 7: 1 % for the seven tests that draw; an error of .17 shows."""
EPSILONS = (0.5, 1.0, 2.0)
DEFAULT_LOSSES = tuple(COMMAND_LINE["epsilon"].default)
PAIRS = COMMAND_LINE["records"].default // 2
PLACES = Labelled(np.zeros((2 * PAIRS, 1)), np.zeros(2 * PAIRS, dtype=np.int64))
RECORD = share_of(1, 1e-3)
RUN = shares(1e-3 / 3, VIEWS, len(ATTACKS), 0)[1]


def rung(epsilon: float) -> float:
    """Alpha of one test of a ladder, if each number of answers is tested at two pairs."""
    return 1e-3 / 3 / bounds_of(epsilon)


def exactly_wrong(bound: Callable[[int], float], n: int, epsilon: float, truth: float) -> float:
    """P[bound(V) > truth], V ~ Bin(n, e^epsilon / (1 + e^epsilon)); the bound rises with V."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) > truth else (middle, high)
    return float(binom.sf(high - 1, n, expit(epsilon)))


def test_the_regions() -> None:
    """P[Bin(1000, 0.05) > k] <= 1 % begins at k = 67; one less is asked for."""
    assert binom.sf(WRONG, REPETITIONS, ALPHA) <= 0.01 / CHECKS
    assert binom.sf(WRONG - 1, REPETITIONS, ALPHA) > 0.01 / CHECKS
    assert binom.sf(ALARMS + 1, TIMES, ALPHA) <= 0.01 < binom.sf(ALARMS, TIMES, ALPHA)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wrong_with_probability_alpha_at_most_by_enumeration(epsilon: float) -> None:
    """And not much less, so that nothing is given away: single record, one run, Rényi.

    All bounds rise with the count, so that the median bound is that of the median count.
    """
    p, single = float(expit(epsilon)), GuessClaim(allowed=epsilon)
    n = guesses_to_certify(single, alpha=RECORD)
    orders = [RenyiClaim(order=order, allowed=divergence(p, order)) for order in (1.5, 2.0, 8.0)]
    rho = max(divergence(p, a) / a for a in ORDERS.tolist())
    claims: list[GuessClaim | RenyiClaim] = [single, *orders]
    bounds: list[tuple[Callable[[int], float], float]] = [
        (lambda v: largest_rejected(v, n, m=n, alpha=ALPHA), epsilon),
        *(
            (partial(claim.certified, trials=n, alpha=ALPHA), claim.allowed)
            for claim in (*claims, RenyiClaim(order=None, allowed=rho))
        ),
    ]
    found = [exactly_wrong(bound, n, epsilon, truth) for bound, truth in bounds]
    assert all(0.9 * ALPHA < each <= ALPHA for each in found), found
    for claim in claims:
        n = guesses_to_certify(claim, alpha=RECORD)
        assert claim.certified(int(binom.median(n, p)), n, RECORD) >= SHARE * claim.allowed


@dataclass(frozen=True, slots=True)
class Told:
    """A subject of which only the views matter."""

    views: tuple[ModelView, ...] = (asked(1), asked(8), around(8))


def default_models(claims: Sequence[float]) -> int:
    """How many targets `dpassay attack` takes for mechanisms with these claims and the learner."""
    data = build_data(PLACES, PLACES, copies=0, noise=0.0, seed=0)
    targets = [
        Target(name=str(i), subject=cast("Subject", Told()), claim=DP(epsilon=epsilon))
        for i, epsilon in enumerate(claims)
    ]
    return enough(targets, ATTACKS, data, Design(), 1e-3 / (2 * len(claims) + 1))


def responding(models: int, epsilon: float, rng: np.random.Generator) -> CrossFitted:
    """Guesses at coins that are told by randomised response, each as surely as any other."""
    heads = rng.random((models, PAIRS)) < 0.5
    shown = heads == (rng.random(heads.shape) < expit(epsilon))
    return CrossFitted(guesses=np.where(shown, 1.0, -1.0), heads=heads)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "claims"), [(0.5, 30), (1.0, 1), (2.0, 30)])
def test_one_run_at_the_default_design(epsilon: float, claims: int) -> None:
    """With the share of coins that the reference models, which answer in the same way, choose."""
    alpha = shares(1e-3 / (2 * claims + 1), VIEWS, len(ATTACKS), 0)[1]
    models = default_models((epsilon,) if claims == 1 else DEFAULT_LOSSES * 6)
    bound = lru_cache(maxsize=None)(partial(largest_rejected, m=models * PAIRS))
    rng, wrong, found = np.random.default_rng(5), 0, []
    for _ in range(REPETITIONS):
        share = responding(Design().references, epsilon, rng).share(models, alpha)
        target, each = responding(models, epsilon, rng), guessed_at(share, PAIRS)
        v = int(right_of_the_surest(target.guesses, target.heads)[:, :each].sum())
        found.append(bound(v, models * each, alpha=alpha))
        wrong += bound(v, models * each, alpha=ALPHA) > epsilon
    assert wrong <= WRONG
    assert np.median(found) >= SHARE * epsilon


def test_the_default_models_reach_every_claim_that_256_reach() -> None:
    """Of 400 records, and no more models than the claims take."""
    assert default_models(DEFAULT_LOSSES * 6) == 193
    for epsilon, claims in ((0.5, 1), (1.0, 1), (2.0, 1)):
        alpha = shares(1e-3 / (2 * claims + 1), VIEWS, len(ATTACKS), 0)[1]
        models, needed = (
            default_models((epsilon,)),
            guesses_to_certify(RunClaim(allowed=epsilon), alpha=alpha),
        )
        assert models * PAIRS >= needed
        assert (models - 1) * PAIRS < needed or models == guesses_to_see(
            GuessClaim(allowed=epsilon), epsilon + ABOVE, alpha=share_of(claims, 1e-3), most=MOST
        )
    assert default_models((0.1,)) < 64  # 1,855 would reach it


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0, 2.0])
def test_the_default_number_of_transcripts_is_what_thirty_claims_take(epsilon: float) -> None:
    """In the default experiment: three in four bounds reach it, or more, so most of 101 do."""
    claim, alpha = DP(epsilon=epsilon), 1e-3 / 61
    n, each = enough_transcripts(claim, alpha), alpha / bounds_of(epsilon)
    assert n >= TRANSCRIPTS
    rng, p = np.random.default_rng(7), float(expit(epsilon))
    found, wrong = [], 0
    for _ in range(101):
        one, other = ((rng.random((n, 1)) < q).astype(np.int64) for q in (p, 1 - p))
        found.append(run_tests(one, other, claim, 2, each).lower.value)
        wrong += run_tests(one, other, claim, 2, ALPHA).broken
    assert wrong <= binom.isf(0.01 / CHECKS, 101, ALPHA)
    assert np.median(found) >= SHARE * epsilon
    if epsilon in EPSILONS:
        assert told(epsilon)[1:3] == (f"{n:,}", down(float(np.median(found))))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_page_says_what_guesses_certify_by_default(epsilon: float) -> None:
    """One run, a single record and its Rényi loss, by the median, of thirty claims."""
    models, p = default_models(DEFAULT_LOSSES * 6), float(expit(epsilon))
    run, record = shares(1e-3 / 61, VIEWS, len(ATTACKS), 0)[1], share_of(30, 1e-3)
    n = models * PAIRS
    one = largest_rejected(int(binom.median(n, p)), n, m=n, alpha=run)
    claims = DP(epsilon=epsilon), RDP(2.0, divergence(p, 2.0))
    guesses, renyi = (
        models + fresh_guesses(asked(1), claim, alpha=record, targets=models) for claim in claims
    )
    single = GuessClaim().certified(int(binom.median(guesses, p)), guesses, record)
    part = RenyiClaim(order=2.0, allowed=0.0).certified(int(binom.median(renyi, p)), renyi, record)
    part /= divergence(p, 2.0)
    found = (str(models), down(one), f"{guesses:,}", down(single), f"{renyi:,}", down(part))
    assert told(epsilon)[3:] == found
    assert min(one / epsilon, single / epsilon, part) >= SHARE


def told(epsilon: float) -> tuple[str, ...]:
    """Return the cells of the row of a claim in docs/attacks.md."""
    text = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8")
    table = text[text.index("| claim, of thirty |") :].splitlines()[2:5]
    rows = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table]
    return next(row for row in rows if float(row[0]) == epsilon)


def down(bound: float) -> str:
    """Write a bound as the page does."""
    return "0" if bound == 0 else f"{math.floor(1000 * bound) / 1000:.3f}"


def test_more_transcripts_than_can_be_drawn_are_not_begun() -> None:
    assert transcripts_to_certify(1.0, alpha=rung(1.0)) <= TRANSCRIPTS
    assert enough_transcripts(DP(epsilon=1.0), 1e-3 / 3) == TRANSCRIPTS
    assert enough_transcripts(DP(epsilon=0.1), 1e-3) == TRANSCRIPTS
    assert enough_transcripts(DP(epsilon=8.0, delta=1e-5), 1e-5) > TRANSCRIPTS


@pytest.mark.parametrize("order", [1.01, 2.0, 100.0])
@pytest.mark.parametrize("hit", [0.52, 0.95])
def test_no_rule_with_as_many_right_guesses_loses_less(hit: float, order: float) -> None:
    """The larger of both directions over all (p, q) with (1 + p - q) / 2 = hit, by enumeration."""
    gap = 2 * hit - 1
    q = np.linspace(0, 1 - gap, 2003)[1:-1]
    p = q + gap

    def one(p: NDArray[Any], q: NDArray[Any]) -> NDArray[Any]:
        a = order * np.log(p) + (1 - order) * np.log(q)
        b = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
        found: NDArray[Any] = np.logaddexp(a, b) / (order - 1)
        return found

    worse = np.maximum(one(p, q), one(q, p))
    assert divergence(hit, order) == pytest.approx(float(worse.min()), rel=1e-9)


@pytest.mark.parametrize("claims", [1, 30])
def test_a_leak_of_everything_behind_1_is_broken_at_the_default_number(claims: int) -> None:
    """Every guess is right: single record, one run, transcripts, Rényi orders and zCDP."""
    alpha = share_of(claims, 1e-3)
    targets = guesses_to_see(GuessClaim(allowed=1.0), 1 + ABOVE, alpha=alpha, most=MOST)
    assert 0 < targets <= MOST
    assert GuessClaim().certified(targets, targets, alpha) > 1
    for order in (1.5, 2.0, 8.0):
        assert RenyiClaim(order=order, allowed=0.0).certified(targets, targets, alpha) > 1
    assert RenyiClaim(order=None, allowed=0.0).certified(targets, targets, alpha) > 1
    run = shares(1e-3 / (2 * claims + 1), VIEWS, len(ATTACKS), 0)[1]
    known = CrossFitted(guesses=np.ones((4, 100)), heads=np.ones((4, 100), dtype=bool))
    r = targets * guessed_at(known.share(targets, run), 100)
    assert largest_rejected(r, r, m=targets * 100, alpha=run) > 1
    told, not_told = (np.full((TRANSCRIPTS, 1), label, dtype=np.int64) for label in (1, 0))
    share = 1e-3 / (2 * claims + 1) / bounds_of(1.0)
    for m in ladder(1.0):
        one, other = (np.repeat(each, m, axis=1) for each in (told, not_told))
        # one bit is told m times: above 8 nats only if 20,000 transcripts can show so much
        test = run_tests(one, other, DP(epsilon=1.0), 2, share)
        assert test.broken == (test.reach.cap > m)
        assert test.broken or m == 8


def test_a_concentrated_bound_is_that_of_its_best_order() -> None:
    found = RenyiClaim(order=None, allowed=0.0).certified(180, 200, 1e-3)
    assert found >= RenyiClaim(order=2.0, allowed=0.0).certified(180, 200, 1e-3) / 2 - 1e-3
    assert RenyiClaim(order=None, allowed=0.0).certified(100, 200, 1e-3) == 0


def test_refused() -> None:
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidInput, match="epsilon"):
            guesses_to_certify(GuessClaim(allowed=wrong), alpha=0.1)
    with pytest.raises(InvalidInput, match="order"):
        divergence(0.7, 1.0)
    with pytest.raises(InvalidInput, match="share"):
        guesses_to_certify(RunClaim(allowed=1.0), alpha=0.1, share=1.0)
    assert guesses_to_certify(GuessClaim(allowed=30.0), alpha=0.01) == 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_plan_uses_the_error_probabilities_of_the_command(epsilon: float) -> None:
    assert at_the_claim(epsilon, 1, 1e-3, bounds_of(epsilon)) == {
        "models": guesses_to_certify(GuessClaim(allowed=epsilon), alpha=RECORD),
        "guesses": guesses_to_certify(RunClaim(allowed=epsilon), alpha=RUN),
        "transcripts": transcripts_to_certify(epsilon, alpha=rung(epsilon)),
        "renyi_models": guesses_to_certify(
            RenyiClaim(order=2.0, allowed=divergence(float(expit(epsilon)), 2.0)), alpha=RECORD
        ),
    }


TIMES, ALARMS = 1000, 66
"""STATISTICS, section 7, at ALPHA."""


def respond(inside: Flags, epsilon: float, delta: float, rng: np.random.Generator) -> Flags:
    """Each bit, told outright with probability delta, else by randomised response at epsilon."""
    right = rng.random(inside.shape) < delta + (1 - delta) / (1 + math.exp(-epsilon))
    shown: Flags = inside == right
    return shown


def labels(shown: Flags) -> Observed:
    """One answer: the own label 1 where the bit that is shown is a member's."""
    return Observed(
        seen=np.stack([~shown, shown], axis=2).astype(float),
        y=np.ones(shown.shape[1], dtype=np.int64),
        m=1,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "number", "targets", "reached"), [
    (0.1, 0.0, 1, 400, 0.0),
    (1.0, 0.0, 5, 400, 0.6),
    (0.5, 0.1, 1, 400, 0.4),
])  # fmt: skip
def test_bounds_of_records_are_rarely_wrong(
    epsilon: float, delta: float, number: int, targets: int, reached: float
) -> None:
    """Rules from 32 references, bounds from the targets: any is wrong with alpha at most."""
    above, best = 0, []
    for repetition in range(TIMES):
        rng = np.random.default_rng([repetition, targets, number])
        mine = toss(32, 10, seed=repetition, who="reference", mirrored=True).membership
        theirs = rng.random((targets, 5)) < 0.5
        theirs = np.stack([theirs, ~theirs], axis=2).reshape(targets, 10)
        rules = exposed(labels(respond(mine, epsilon, delta, rng)), mine, number)
        found = certify(
            rules, labels(respond(theirs, epsilon, delta, rng)), theirs, delta=delta, alpha=ALPHA
        )
        assert sum(each.lower.alpha for each in found) == pytest.approx(ALPHA)
        best.append(max(each.lower.value for each in found))
        above += best[-1] > epsilon
    assert above <= ALARMS
    assert np.median(best) >= reached * epsilon


def guesses_of(shown: Flags, spoken: Flags) -> Array:
    """Scores, through attack and coins, of pairs of which only the first speaks, if at all."""
    first = np.where(spoken, np.where(shown, 1.0, 0.0), 0.5)
    own = np.stack([first, np.full(first.shape, 0.5)], axis=2).reshape(len(first), -1)
    seen = Observed(seen=np.stack([1 - own, own], axis=2), y=np.ones(own.shape[1], dtype=np.int64))
    scores = ATTACKS["loss-threshold"](seen, own > 0)(seen)
    return toss(len(first), own.shape[1], seed=0, who="shape").guesses(scores)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "at_once", "speaks", "reached"), [
    (1.0, 0.0, False, 0.5, 0.7),
    (2.0, 0.001, True, 0.5, 0.5),
    (1.0, 0.01, True, 1.0, 0.0),
])  # fmt: skip
def test_bounds_of_one_run_are_rarely_wrong(
    epsilon: float, delta: float, at_once: bool, speaks: float, reached: float
) -> None:
    """Four models of 150 coins pooled as one run; it abstains from coins that say nothing."""
    models, coins, share = 4, 150, 0.9 * speaks
    each = guessed_at(share, coins)
    bound = lru_cache(maxsize=None)(
        partial(largest_rejected, r=models * each, delta=delta, m=models * coins, alpha=ALPHA)
    )
    bounds = []
    for repetition in range(TIMES):
        rng = np.random.default_rng([repetition, 7])
        heads = rng.random((models, coins)) < 0.5
        shown = respond(heads, epsilon, 0.0 if at_once else delta, rng)
        if at_once:
            shown = np.where(rng.random((models, 1)) < delta, heads, shown)
        guesses = guesses_of(shown, rng.random((models, coins)) < speaks)
        v = int(right_of_the_surest(guesses, heads)[:, :each].sum())
        bounds.append(bound(v))
    found = one_run(guesses, heads, share=share, alpha=ALPHA, delta=delta)
    assert (found.v, found.epsilon) == (v, bounds[-1])
    assert sum(value > epsilon for value in bounds) <= ALARMS
    assert np.median(bounds) >= reached * epsilon
