r"""Show how many trials a sampled audit needs to detect a leak above the claim.

It also shows about how long they take. With --attack: how many models `dpassay
attack` must attack.

  dpassay plan soft-majority -p epsilon=0.5
      for leaks of 5 to 100 % above the claim
  dpassay plan my_module:my_predict --claim epsilon=1 --detect 1.1 \
      --data people.csv --label income
      for one leak, in your own function on your own data
  dpassay plan --attack soft-majority --epsilon 1 --detect 2
      how many models `dpassay attack` must attack to detect a leak of 2
      against a claim of 1
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from dpassay.claims import DP, Claim, spelled
from dpassay.cli.exit_codes import Exit
from dpassay.cli.mechanisms import claim_numbers, opened, wanted_of
from dpassay.cli.parser import DATA, SIZES, SUBJECT, Parser, add, add_option, add_switch, in_force
from dpassay.cli.settings import data_of, settings_of
from dpassay.cli.terminal import console, plain_table, print_json
from dpassay.config.load import Config
from dpassay.engine.budget import Budget
from dpassay.engine.planning import (
    AuditCost,
    SearchCost,
    cost,
    draws_needed,
    ladder,
    measure,
    search_cost,
)
from dpassay.engine.preflight import check
from dpassay.engine.run import is_raced
from dpassay.engine.settings import Settings
from dpassay.engine.wording import seen_words
from dpassay.errors import InvalidInput, TargetError
from dpassay.numerics import upper_number
from dpassay.progress import bars
from dpassay.record.attack_record import renyi_name
from dpassay.reports.shared.numbers import plural
from dpassay.targets.groups import PairGroup, Progress, groups_for
from dpassay.targets.guard import AuditTarget

LADDER = (0.5, 1.0, 2.5, 5.0)
"""Leaks above the claim that attacks are planned for where none is asked for."""
EPSILON = "ε"
"""The loss that is claimed unless RDP or zCDP is; see `renyi_name`."""


def add_arguments(command: Parser) -> None:
    """Say what the command can be asked."""
    command.describe(__doc__)
    add(command, "targets")
    add_switch(command, "--attack", "plan `dpassay attack`: how many --models it needs")
    add_option(command, "epsilon", "with --attack: the claims")
    add_option(command, "detect", shown="5 to 100 % above the claim")
    add(command, "stop_early --json")
    add(command, SUBJECT, "what is audited")
    add(command, SIZES)
    add(command, DATA, "data")


def action(arguments: argparse.Namespace) -> int:
    """Say what it takes to see a leak, by an audit or by guesses at membership."""
    config = in_force(arguments)
    if arguments.attack:
        return _plan_attack(arguments, config)
    if config.said("epsilon"):
        raise InvalidInput("--epsilon: requires --attack; for an audit use --claim")
    if len(arguments.targets) != 1:
        said = f" = '{' '.join(arguments.targets)}'" if arguments.targets else " is missing"
        raise InvalidInput(f"TARGET{said}: must be exactly one mechanism")
    sampled = replace(config, values={**config.values, "mode": "monte-carlo"})
    settings = settings_of(sampled)
    wanted = wanted_of(arguments, config, mode=settings.mode)
    if None not in wanted.searches:
        raise InvalidInput(
            "--search: what a search can see is not known before it has run; for its "
            "cost use dpassay run --search ... --dry-run"
        )
    data = data_of(config)
    with (
        bars(quiet=arguments.json) as progress,
        opened(wanted, len(data.pairs.base), settings.limits) as (target,),
    ):
        check([target], data, settings)
        costs = costs_of(target, data, settings, progress)
    if arguments.json:
        print_json([cost_json(each) | {"detect": leak} for leak, each in costs])
        return Exit.NOTHING
    claim, (_, first) = target.claims[0], costs[0]
    table = plain_table(
        f"to see a {claim.quantity} of", "--budget", "trials in all", "about, on one core"
    )
    for leak, each in costs:
        table.add_row(f"{leak:g}", f"{each.draws:,}", f"{each.trials:,}", f"{each.seconds:,.0f} s")
    out = console()
    out.print(
        f"{target.name}, {claim}: {first.certified} certified cells, confidence "
        f"{settings.confidence}. With these budgets a leak is detected with probability 0.9, "
        "screening included."
    )
    out.print(table)
    if (rarest := first.sight.frequency) is not None:
        out.print(
            f"This holds for a {claim.quantity} at one of the {first.pairs:,} pairs, through an "
            f"answer of probability {rarest:g} or more; a rarer answer takes more trials."
        )
    return Exit.NOTHING


def _plan_attack(arguments: argparse.Namespace, config: Config) -> int:
    """Say how many target models it takes to see a leak by guesses at membership."""
    from dpassay.attacks.experiment.mechanisms import PROTECTED
    from dpassay.attacks.experiment.planning import VIEWS, at_the_claim, share_of
    from dpassay.attacks.experiment.power import GuessClaim, guesses_to_see, reach, renyi_claim
    from dpassay.attacks.repeated.run import bounds_of

    names, claims = dict.fromkeys(arguments.targets or PROTECTED), _claims(arguments, config)
    all_claims, alone = len(names) * len(claims), 1 - config.confidence
    alpha = share_of(all_claims, alone)
    rows: list[dict[str, Any]] = []
    needed = plain_table("claim", "one record", "one run", "--transcripts", "Rényi loss")
    table = plain_table("claim", "to see a leak of", "--models", "cap then")
    for claim in claims:
        promised = renyi_claim(claim, 1)
        bounds = bounds_of(claim.epsilon) if claim.epsilon > 0 else 1
        kept = at_the_claim(
            claim.epsilon, all_claims, alone, bounds, delta=claim.delta, promised=promised
        )
        held = promised or GuessClaim(allowed=claim.epsilon, delta=claim.delta)
        loss = EPSILON if promised is None else renyi_name({"order": promised.order})
        claimed, delta = held.allowed, claim.delta if promised is None else 0.0
        short = f"{'' if promised is None else f'{loss} = '}{claimed:g}"
        short += f", δ = {delta:g}" if delta else ""
        needed.add_row(short, *(f"{n:,}" if n else "-" for n in kept.values()))
        steps = [claimed + each for each in LADDER]
        for leak in (None, *(steps if config.detect is None else [config.detect])):
            models = guesses_to_see(held, leak, alpha=alpha)
            if models == 0:
                option = "--claim" if delta or promised is not None else "--epsilon"
                raise InvalidInput(f"{option} = {claimed:g}: needs more than 10 million models")
            shown = reach(held, models, alpha=alpha)
            whole = "all there is" if leak is None else f"{leak:g}"
            table.add_row(short, whole, f"{models:,}", f"{shown.cap:.3f}")
            row = {"loss": loss, "claim": claimed, "delta": delta, "detect": leak, "alpha": alpha}
            row |= {"models": models, "cap": shown.cap, "at_the_claim": kept}
            row["detectable"] = shown.detectable if shown.detectable < math.inf else None
            rows.append(row)
    if arguments.json:
        print_json(rows)
        return Exit.NOTHING
    out = console()
    out.print(
        f"Guesses at membership; mechanisms: {len(names)}, losses: {len(claims)}, and the "
        f"learner, with {VIEWS} views of each. Confidence {config.confidence:g} for all together, "
        f"so alpha is {alpha:.2g} for each bound. A leak is detected with probability 0.9 if the "
        "record is one of those chosen and the guesses reveal the whole leak. 'all there is': "
        "every guess is right."
    )
    out.print(table)
    out.print(
        "To certify 85 % of a claim that is just kept (median; randomised response): guesses at a "
        "single record, guesses of one run about all the answers, --transcripts of one answer, "
        "guesses at a record for the Rényi loss (of order 2, if ε is claimed). '-': no number up "
        "to ten million, or not planned for such a claim. A guess at a record takes a target "
        "model; without --models, fresh answers take the place of those that are lacking, up to "
        "100,000 about each of the records chosen."
    )
    out.print(needed)
    return Exit.NOTHING


def _claims(arguments: argparse.Namespace, config: Config) -> list[DP]:
    """Return what attacks are planned against."""
    if arguments.claim is None:
        return [DP(epsilon=epsilon) for epsilon in config.epsilon]
    if config.said("epsilon"):
        raise InvalidInput("--epsilon: cannot be combined with --claim")
    claim = spelled(claim_numbers(arguments.claim), "--claim", labels=True)
    if not isinstance(claim, DP) or not (claim.epsilon > 0 or claim.curve is not None):
        raise InvalidInput(
            f"--claim = '{arguments.claim}': with --attack it must be 'epsilon=E', "
            "'epsilon=E,delta=D', 'rho=R' or 'alpha=A,epsilon=E', with a loss > 0"
        )
    return [claim]


def dry_run(
    targets: list[AuditTarget], data: PairGroup | None, settings: Settings, *, as_json: bool
) -> int:
    """Say what a run would do, and about how long it would take.

    Nothing is audited and nothing written.
    """
    if settings.domain is not None:
        for target in targets:
            try:
                told = f"{settings.domain.planned(target)}; no trials"
            except TargetError as error:
                told = f"error: {error.cause}"
            console().print(f"{target.name}: {told}")
        return Exit.NOTHING
    plans = list(_plans(targets, data, settings))
    if as_json:
        print_json([facts for facts, _ in plans])
        return Exit.NOTHING
    for _, lines in plans:
        for line in lines:
            console().print(line)
    return Exit.NOTHING


def _plans(
    targets: list[AuditTarget], data: PairGroup | None, settings: Settings
) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield what each claim would cost, as JSON and in words; first those with pairs of their own.

    Those whose worst pair is searched for have a budget of their own each.
    """
    alpha, every = 1 - settings.confidence, sum(len(target.claims) for target in targets)
    shared = Budget(draws=settings.budget, alpha=alpha / max(1, every))
    for target in targets:
        if target.space is not None:
            continue
        groups = groups_for(target, data)
        share = shared.after_race if is_raced(target, settings) else shared
        speed = measure(target, groups)
        law = settings.mode != "monte-carlo" and target.has_law
        for claim in target.claims:
            planned = cost(target, claim, groups, share, speed)
            facts = {"mechanism": target.name, "claim": str(claim), "law": law}
            yield facts | cost_json(planned), list(_words(target.name, claim, planned, law=law))
    for target in targets:
        if target.space is None:
            continue
        budget = Budget(draws=settings.budget, alpha=alpha)
        search = search_cost(target, target.space, budget, settings.seed)
        for claim in target.claims:
            facts = {"mechanism": target.name, "claim": str(claim)}
            more = {"families": search.families, "seconds": search.seconds}
            facts |= {"search": asdict(search.outlay) | more}
            first = f"{target.name}, {claim}: a search among {target.space.words}"
            yield facts, [first, *_search_words(search, settings.search_seconds)]


def _search_words(cost: SearchCost, seconds: float | None) -> Iterator[str]:
    each = cost.outlay
    yield (
        f"  search: {plural(each.pairs, 'pair')} in {plural(cost.families, 'family')}; at most "
        f"{each.search:,} runs in {len(each.rounds)} rounds"
    )
    for number, (pairs, trials) in enumerate(each.rounds, 1):
        yield f"    round {number}: {plural(pairs, 'pair')}, {trials:,} trials per side"
    yield (
        f"  certification: the worst pair, {each.draws:,} trials per side; at most "
        f"{each.certification:,} runs"
    )
    yield (
        f"  if it looks broken, a smaller pair is looked for: at most {each.shrinking:,} runs more"
    )
    yield f"  about {cost.seconds:,.0f} s on one core for the runs, besides what learns from them"
    if seconds is not None:
        yield f"  the search ends after {seconds:g} s at the latest, before the certification"


def _words(name: str, claim: Claim, each: AuditCost, *, law: bool) -> Iterator[str]:
    yield f"{name}, {claim}: {each.pairs:,} pairs, {each.queries:,} queries, {each.cells:,} cells"
    if law:
        only = claim.computed
        yield (
            "  exact, without trials"
            f"{'' if only else ', if its law is known for these data; else sampled as follows'}"
        )
        if only:
            return
    yield f"  screening: at least {each.screening:,} trials of each of {each.pairs + 1:,} datasets"
    yield (
        f"  certification: {each.certified:,} cells, {each.draws:,} trials per side; at most "
        f"{each.trials:,} runs in all"
    )
    spent = each.spending
    yield (
        f"  alpha {spent.alpha:.3g}: lower bounds {spent.lower:.3g} ({spent.each_lower:.3g} "
        f"each), upper bounds {spent.upper:.3g}, profiles {spent.profile:.3g}"
    )
    seen = seen_words(claim.quantity, each.sight.detectable, each.sight.frequency)
    yield f"  detectable: {seen}, at one of these pairs (assumed; the run reports what it observed)"
    yield f"  about {each.seconds:,.0f} s on one core"


def costs_of(
    target: AuditTarget, data: PairGroup, settings: Settings, progress: Progress
) -> list[tuple[float, AuditCost]]:
    """Return what it costs to see each leak: the one that is asked for, or some above the claim."""
    groups, claim = groups_for(target, data), target.claims[0]
    speed, alpha = measure(target, groups), (1 - settings.confidence) / len(target.claims)
    costs = []
    leaks = ladder(target, claim) if settings.detect is None else (settings.detect,)
    for number, leak in enumerate(leaks):
        progress(f"{target.name}: {leak:g}", number, len(leaks))
        budget = Budget(draws=settings.budget, alpha=alpha)
        budget = budget.after_race if is_raced(target, settings) else budget
        budget = replace(budget, draws=draws_needed(target, claim, groups, leak, budget))
        costs.append((leak, cost(target, claim, groups, budget, speed)))
    return costs


def cost_json(each: AuditCost) -> dict[str, Any]:
    """Return a cost as JSON values."""
    seen = {"detectable": upper_number(each.sight.detectable), "sight": each.sight.as_json()}
    return (
        {name: value for name, value in asdict(each).items() if name != "sight"}
        | {"spending": each.spending.as_json()}
        | seen
    )
