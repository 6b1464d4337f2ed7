"""The assay: claim and mechanism, pairs and queries, laws or trials, bounds, verdict. One screen of orchestration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial

from threadpoolctl import threadpool_limits

from dpassay.claims import Claim, unclaimed
from dpassay.engine.apart import apart
from dpassay.engine.baseline_cells import Raw
from dpassay.engine.evidence import Evidence, Mode
from dpassay.engine.exact import Laws, exact_evidence, goodness_of_fit, group_laws
from dpassay.engine.exhaustive import domain_laws, exhaustive_evidence
from dpassay.engine.monte_carlo import Budget
from dpassay.engine.preflight import check
from dpassay.engine.result import Result
from dpassay.engine.sampling import Accepted, Hire, Sampling
from dpassay.engine.settings import Settings
from dpassay.engine.verdicts import Verdict, decide
from dpassay.errors import AuditeeError
from dpassay.stats.health import ALARM
from dpassay.targets.coupled import Coupled, coupled_group, parts
from dpassay.targets.groups import Group, Progress, groups_for, silent
from dpassay.targets.guard import Auditee
from dpassay.trials.encoders import Coding
from dpassay.trials.executors import Executor, Staff, executor
from dpassay.trials.isolated import Isolated
from dpassay.trials.ledger import Ledger
from dpassay.trials.tasks import Bench

Baseline = Callable[[Auditee, Claim], Sequence[Raw]]
"""Returns the cells that an accepted record lists for a mechanism and its claim."""
Holder = Callable[[Claim], Evidence]
"""Holds what has been measured against one claim."""


def assay(
    auditees: Sequence[Auditee],
    data: Group | None,
    settings: Settings,
    progress: Progress = silent,
    ledger: Ledger | None = None,
    baseline: Baseline = lambda auditee, claim: (),  # noqa: ARG005
) -> Iterator[Result]:
    """Audit each mechanism against each of its claims and yield the results one by one.

    Parameters
    ----------
    auditees : sequence of Auditee
        What to audit.
    data : Group or None
        The user's pairs and queries; every mechanism adds its own worst cases. Not used in exhaustive mode.
    settings : Settings
    progress : callable
        Called with what is being done, how much of it is done, and how much there is.
    ledger : Ledger, optional
        Where finished trials are kept, and taken from if it holds them.
    baseline : callable, optional
        Says which cells of which result are counted again, see `dpassay.engine.baseline_cells`.

    Yields
    ------
    Result
        A mechanism that fails ends as `error`, the others go on.

    Raises
    ------
    InvalidInput
        Before anything is run, if data and parameters can never go together.
    """
    auditees = [part for auditee in auditees for part in parts(auditee)]
    check(auditees, data, settings)
    share = (1 - settings.confidence) / max(1, sum(len(auditee.claims) for auditee in auditees))
    taken: set[str] = set()
    staff = Staff(kind=settings.kind, jobs=settings.jobs, limits=settings.limits, ledger=ledger)
    for auditee in auditees:
        mode: Mode | None = None
        held: Holder | AuditeeError
        with threadpool_limits(limits=1), apart(auditee, data, settings) as subject, ExitStack() as open_until_judged:
            try:
                hire = partial(_hire, subject, settings, staff, open_until_judged)
                accepted = partial(baseline, auditee)
                mode, held = _measure(subject, data, settings, share, hire, _named(auditee.name, progress), accepted)
            except AuditeeError as error:
                held = error
            for claim in auditee.claims:
                yield _result(auditee, claim, mode, held, settings, taken)


def _hire(
    auditee: Auditee, settings: Settings, staff: Staff, stack: ExitStack, groups: tuple[Group, ...], codings: tuple[Coding, ...]
) -> Executor:
    return stack.enter_context(executor(Bench(auditee, groups, codings, settings.seed), staff))


def _measure(
    auditee: Auditee,
    data: Group | None,
    settings: Settings,
    share: float,
    hire: Hire,
    progress: Progress,
    accepted: Accepted,
) -> tuple[Mode, Holder]:
    if settings.mode == "exhaustive" and settings.domain is not None:
        if isinstance(auditee.mechanism, Coupled):
            raise AuditeeError(f"{auditee.claims[0]} speaks of two datasets at once and has no exhaustive mode; use auto")
        domain = settings.domain
        laws = domain_laws(auditee, domain, progress)
        own = groups_for(auditee, None)
        own_laws = _all_laws(auditee, own, progress)

        def hold(claim: Claim) -> Evidence:
            """Hold the domain against the claim, and the mechanism's own worst case where only that one breaks it."""
            found = exhaustive_evidence(auditee, claim, domain, laws)
            if not own_laws or found.lower.value > claim.promised:
                return found
            beyond = exact_evidence(auditee, claim, own, own_laws, None)
            return found.joined_by(beyond) if beyond.lower.value > claim.promised else found

        return "exhaustive", _both_notions(auditee, hold)
    groups = groups_for(auditee, data)
    if isinstance(auditee.mechanism, Coupled):
        groups = tuple(map(coupled_group, groups))
    if not groups:
        raise AuditeeError("no pairs to audit: it was given none, and its method pairs returned none")
    if settings.mode != "monte-carlo":
        exact = _all_laws(auditee, groups, progress)
        if exact:
            fit = goodness_of_fit(auditee, groups[0], settings.seed)
            _unchanged(auditee, groups)
            return "exact", _both_notions(auditee, lambda claim: exact_evidence(auditee, claim, groups, exact, fit))
        if settings.mode == "exact":
            raise AuditeeError("it has no exact law for these data and claims; use mode monte-carlo")
    budget = Budget(draws=settings.budget, alpha=share, alarm=ALARM * share / (1 - settings.confidence))
    return "monte-carlo", Sampling(auditee, groups, budget, hire, progress, accepted).hold


def _both_notions(auditee: Auditee, hold: Holder) -> Holder:
    """Hold laws of labels against a claim, and measure the notion that it is not about; that once for all its claims."""
    if auditee.numbers is not None:
        return hold
    measure = cache(hold)

    def both(claim: Claim) -> Evidence:
        other = unclaimed(claim)
        return hold(claim) if other is None else replace(hold(claim), other=(other, measure(other)))

    return both


def _all_laws(auditee: Auditee, groups: tuple[Group, ...], progress: Progress) -> tuple[Laws, ...]:
    """Return the laws of every group, or nothing if one of them has none that all claims can be read off."""
    found = []
    for group in groups:
        laws = group_laws(auditee, group, progress)
        if laws is None:
            return ()
        found.append(laws)
    return tuple(found)


def _unchanged(auditee: Auditee, groups: tuple[Group, ...]) -> None:
    """Raise `AuditeeError` if the mechanism has written into a dataset that it was lent."""
    if isinstance(auditee, Isolated):
        auditee.check_unchanged(groups)
    for group in groups:
        if group.pairs.base.digest != group.digest:
            raise AuditeeError("it changed the dataset that it was given; a mechanism must leave its inputs as they are")


def _result(
    auditee: Auditee, claim: Claim, mode: Mode | None, held: Holder | AuditeeError, settings: Settings, taken: set[str]
) -> Result:
    evidence: Evidence | None = None
    try:
        if isinstance(held, AuditeeError):
            raise held
        evidence = held(claim)
        judgement = decide(claim, evidence, settings.wanted(claim, most := auditee.most(claim)), most, auditee.looked_at(claim))
    except AuditeeError as error:
        judgement = Verdict(word="error", reason=error.cause, detail=error.detail)
    stem = ".".join([auditee.name, claim.status, *([mode] if mode else [])])
    unique = next(name for k in range(1, len(taken) + 2) if (name := stem if k == 1 else f"{stem}.{k}") not in taken)
    taken.add(unique)
    draws = settings.budget if mode == "monte-carlo" else 0
    return Result(
        id=unique,
        auditee=auditee,
        claim=claim,
        mode=mode,
        judgement=judgement,
        evidence=evidence,
        seed=settings.seed,
        draws=draws,
    )


def _named(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)
