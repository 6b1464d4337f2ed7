"""What a sampled audit would do and cost, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from dpassay.claims import Claim
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console, print_json
from dpassay.engine.budget import Budget
from dpassay.engine.planning import Cost, cost, draws_needed, ladder, measure
from dpassay.engine.searching.cost import SearchCost, search_cost
from dpassay.engine.settings import Settings
from dpassay.engine.wording import seen_words
from dpassay.errors import TargetError
from dpassay.numerics import upper_number
from dpassay.reports.shared.numbers import plural
from dpassay.targets.groups import Group, groups_for
from dpassay.targets.guard import AuditTarget


def dry_run(
    targets: list[AuditTarget], data: Group | None, settings: Settings, *, as_json: bool
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
    given = [each for each in targets if each.space is None]
    every = sum(len(target.claims) for target in targets)
    plans = list(_plans(given, data, settings, every))
    searches = list(_searches(targets, settings))
    if as_json:
        planned = [
            {"mechanism": name, "claim": str(claim), "law": law} | cost_json(each)
            for name, claim, law, each in plans
        ]
        sought = [
            {"mechanism": target.name, "claim": str(claim), "search": asdict(each)}
            for target, claim, each in searches
        ]
        print_json([*planned, *sought])
        return Exit.NOTHING
    out = console()
    for name, claim, law, each in plans:
        for line in _words(name, claim, each, law=law):
            out.print(line)
    for target, claim, search in searches:
        for line in _search_words(target, claim, search, settings.search_seconds):
            out.print(line)
    return Exit.NOTHING


def _searches(
    targets: list[AuditTarget], settings: Settings
) -> Iterator[tuple[AuditTarget, Claim, SearchCost]]:
    """Yield what each claim would cost whose worst pair is searched for."""
    budget = Budget(draws=settings.budget, alpha=1 - settings.confidence)
    for target in targets:
        if target.space is None:
            continue
        each = search_cost(target, target.space, budget, settings.seed)
        for claim in target.claims:
            yield target, claim, each


def _search_words(
    target: AuditTarget, claim: Claim, each: SearchCost, seconds: float | None
) -> Iterator[str]:
    space = "" if target.space is None else target.space.words
    yield f"{target.name}, {claim}: a search among {space}"
    yield (
        f"  search: {plural(each.pairs, 'pair')} in {plural(each.families, 'family')}; at most "
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
    yield f"  about {each.seconds:,.0f} s on one core for the runs, besides what learns from them"
    if seconds is not None:
        yield f"  the search ends after {seconds:g} s at the latest, before the certification"


def _plans(
    targets: list[AuditTarget], data: Group | None, settings: Settings, every: int
) -> Iterator[tuple[str, Claim, bool, Cost]]:
    """Yield what each claim would cost: name, claim, whether its law is known, cost."""
    share = (1 - settings.confidence) / max(1, every)
    budget = Budget(draws=settings.budget, alpha=share, stop_early=settings.stop_early)
    for target in targets:
        groups = groups_for(target, data)
        speed = measure(target, groups)
        law = settings.mode != "monte-carlo" and target.has_law
        for claim in target.claims:
            yield target.name, claim, law, cost(target, claim, groups, budget, speed)


def _words(name: str, claim: Claim, each: Cost, *, law: bool) -> Iterator[str]:
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
    if spent.looks > 1:
        yield (
            f"  trials may end at {spent.looks - 1} looks before the last: e-processes "
            f"{spent.sequential:.3g}, bounds on fresh trials then {spent.fresh:.3g}"
        )
    seen = seen_words(claim.quantity, each.sight.detectable, each.sight.frequency)
    yield f"  detectable: {seen}, at one of these pairs (assumed; the run reports what it observed)"
    yield f"  about {each.seconds:,.0f} s on one core"


def costs_of(target: AuditTarget, data: Group, settings: Settings) -> list[tuple[float, Cost]]:
    """Return what it costs to see each leak: the one that is asked for, or some above the claim."""
    groups, claim = groups_for(target, data), target.claims[0]
    speed, alpha = measure(target, groups), (1 - settings.confidence) / len(target.claims)
    costs = []
    for leak in ladder(target, claim) if settings.detect is None else (settings.detect,):
        early = settings.stop_early
        draws = draws_needed(target, claim, groups, leak, alpha, stop_early=early)
        budget = Budget(draws=draws, alpha=alpha, stop_early=early)
        costs.append((leak, cost(target, claim, groups, budget, speed)))
    return costs


def cost_json(each: Cost) -> dict[str, Any]:
    """Return a cost as JSON values."""
    seen = {"detectable": upper_number(each.sight.detectable), "sight": each.sight.as_json()}
    return (
        {name: value for name, value in asdict(each).items() if name != "sight"}
        | {"spending": each.spending.as_json()}
        | seen
    )
