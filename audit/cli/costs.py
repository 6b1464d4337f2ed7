"""What a sampled audit would do and cost, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from dpassay.claims import Claim
from dpassay.cli.exit_codes import Exit
from dpassay.cli.output.terminal import console, print_json
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
from dpassay.engine.settings import Settings
from dpassay.engine.wording import seen_words
from dpassay.errors import TargetError
from dpassay.numerics import upper_number
from dpassay.reports.shared.numbers import plural
from dpassay.targets.groups import PairGroup, groups_for
from dpassay.targets.guard import AuditTarget


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
    out = console()
    for _, lines in plans:
        for line in lines:
            out.print(line)
    return Exit.NOTHING


def _plans(
    targets: list[AuditTarget], data: PairGroup | None, settings: Settings
) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield what each claim would cost, as JSON and in words; first those with pairs of their own.

    Those whose worst pair is searched for have a budget of their own each.
    """
    alpha, every = 1 - settings.confidence, sum(len(target.claims) for target in targets)
    share = Budget(
        draws=settings.budget, alpha=alpha / max(1, every), stop_early=settings.stop_early
    )
    for target in targets:
        if target.space is not None:
            continue
        groups = groups_for(target, data)
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
            facts = {"mechanism": target.name, "claim": str(claim), "search": asdict(search)}
            first = f"{target.name}, {claim}: a search among {target.space.words}"
            yield facts, [first, *_search_words(search, settings.search_seconds)]


def _search_words(each: SearchCost, seconds: float | None) -> Iterator[str]:
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
    if spent.looks > 1:
        yield (
            f"  trials may end at {spent.looks - 1} looks before the last: e-processes "
            f"{spent.sequential:.3g}, bounds on fresh trials then {spent.fresh:.3g}"
        )
    seen = seen_words(claim.quantity, each.sight.detectable, each.sight.frequency)
    yield f"  detectable: {seen}, at one of these pairs (assumed; the run reports what it observed)"
    yield f"  about {each.seconds:,.0f} s on one core"


def costs_of(
    target: AuditTarget, data: PairGroup, settings: Settings
) -> list[tuple[float, AuditCost]]:
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


def cost_json(each: AuditCost) -> dict[str, Any]:
    """Return a cost as JSON values."""
    seen = {"detectable": upper_number(each.sight.detectable), "sight": each.sight.as_json()}
    return (
        {name: value for name, value in asdict(each).items() if name != "sight"}
        | {"spending": each.spending.as_json()}
        | seen
    )
