"""The assay: claim and mechanism, pairs and queries, laws or trials, bounds, verdict.

One screen of orchestration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from dpassay.claims import DP, Claim, Stability
from dpassay.engine.baseline_cells import Raw
from dpassay.engine.budget import Budget
from dpassay.engine.dataset_laws import laws_on
from dpassay.engine.directions import OpenExecutor
from dpassay.engine.domains.domain import Domain
from dpassay.engine.evidence import Evidence, Mode
from dpassay.engine.exact import Laws, exact_evidence, goodness_of_fit, group_laws
from dpassay.engine.exhaustive import all_laws, exhaustive_evidence
from dpassay.engine.monte_carlo import Accepted, Sampling
from dpassay.engine.preflight import apart, check
from dpassay.engine.result import Result
from dpassay.engine.searching.evidence import computed_evidence, searched_evidence
from dpassay.engine.settings import Settings
from dpassay.engine.verdicts import Verdict, decide
from dpassay.errors import TargetError
from dpassay.search.proposals.proposal import Space
from dpassay.stats.health import ALARM
from dpassay.targets.adapter import Freed
from dpassay.targets.coupled import Coupled, coupled_group, parts
from dpassay.targets.groups import PairGroup, Progress, groups_for, silent
from dpassay.targets.guard import AuditTarget
from dpassay.trials.cluster import Cluster
from dpassay.trials.encoders import Coding
from dpassay.trials.executors import Executor, ExecutorOptions, executor
from dpassay.trials.isolation.target import Isolated, is_foreign
from dpassay.trials.ledger import Ledger
from dpassay.trials.tasks import TrialRunner
from dpassay.trials.threads import one_thread

Baseline = Callable[[AuditTarget, Claim], Sequence[Raw]]
"""Returns the cells that an accepted record lists for a mechanism and its claim."""
Holder = Callable[[Claim], Evidence]
"""Holds what has been measured against one claim."""


def assay(
    targets: Sequence[AuditTarget],
    data: PairGroup | Space | None,
    settings: Settings,
    progress: Progress = silent,
    ledger: Ledger | None = None,
    baseline: Baseline = lambda target, claim: (),  # noqa: ARG005
    cluster: Cluster | None = None,
) -> Iterator[Result]:
    """Audit each mechanism against each of its claims and yield the results one by one.

    A mechanism that fails ends as `error`, the others go on. Raise InvalidInput, before anything is
    run, if data and parameters can never go together.

    `data` are the user's pairs and queries, to which every mechanism adds its own worst cases, or a
    space in which pairs are searched for; exhaustive mode does not use them. `progress` is called
    with what is being done, how much of it is done, and how much there is. `ledger` keeps finished
    trials, and they are taken from it; `baseline` says which cells of which result are counted
    again, see `dpassay.engine.baseline_cells`. `cluster` runs the trials where the settings want
    one; by default one is opened for this run.
    """
    if cluster is None and settings.kind == "dask":
        with opened_cluster(settings) as own:
            yield from assay(targets, data, settings, progress, ledger, baseline, own)
        return
    targets = [part for target in targets for part in parts(target)]
    check(targets, data, settings)
    share = (1 - settings.confidence) / max(1, sum(len(target.claims) for target in targets))
    taken: set[str] = set()
    options = ExecutorOptions(
        kind=settings.kind,
        jobs=settings.jobs,
        limits=settings.limits,
        ledger=ledger,
        cluster=cluster,
    )

    def opening(subject: AuditTarget, stack: ExitStack) -> OpenExecutor:
        """Return what opens executors of a mechanism; they are open until it is judged."""

        def opened(groups: tuple[PairGroup, ...], codings: tuple[Coding, ...]) -> Executor:
            runner = TrialRunner(subject, groups, codings, settings.seed)
            return stack.enter_context(executor(runner, options))

        return opened

    for target in targets:
        where = target.space or data
        pairs = where if isinstance(where, PairGroup) else None
        ways, free = [target], target.mechanism
        # a search reads a free mechanism's laws if it can, else draws trials
        if isinstance(where, Space) and isinstance(free, Freed) and settings.mode == "auto":
            known = free.known
            ways = ways if known is None else [replace(target, mechanism=known), target]
        for way in ways:
            measured: tuple[Mode, Holder] | TargetError | None
            with one_thread(), apart(way, pairs, settings) as subject, ExitStack() as stack:
                try:
                    measured = Measurement(
                        target=subject,
                        settings=settings,
                        share=share,
                        raced=is_raced(way, settings),
                        open_executor=opening(subject, stack),
                        progress=_named(target.name, progress),
                        accepted=partial(baseline, target),
                        cluster=cluster,
                    ).measure(where)
                except TargetError as error:
                    measured = error
                if measured is None:
                    continue
                for claim in target.claims:
                    yield _result(way, claim, measured, settings, taken)
                break


def is_raced(target: AuditTarget, settings: Settings) -> bool:
    """Return whether an audit of given pairs ends with its first proof.

    Where `stop_early` says nothing, that of the user's own code does, unless the claim speaks of
    two datasets at once: its bound is what the user asks for.
    """
    own = is_foreign(target) and not isinstance(target.mechanism, Coupled)
    return own if settings.stop_early is None else settings.stop_early


def opened_cluster(settings: Settings) -> AbstractContextManager[Cluster | None]:
    """Return the cluster that settings want, if they do; it is connected with now."""
    return Cluster(settings.scheduler, settings.jobs) if settings.kind == "dask" else nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One mechanism, measured once, so that each of its claims can be held against that."""

    target: AuditTarget
    settings: Settings
    share: float
    raced: bool
    open_executor: OpenExecutor
    progress: Progress
    accepted: Accepted
    cluster: Cluster | None

    def measure(self, data: PairGroup | Space | None) -> tuple[Mode, Holder] | None:
        """Return the mode, and what holds what was measured against a claim; None without a law."""
        target, settings = self.target, self.settings
        alarm = ALARM * self.share / (1 - settings.confidence)
        budget = Budget(draws=settings.budget, alpha=self.share, alarm=alarm)
        if isinstance(data, Space):
            return self._search(data, budget)
        if settings.mode == "exhaustive" and settings.domain is not None:
            return "exhaustive", self._exhaustive(settings.domain)
        groups = groups_for(target, data)
        if isinstance(target.mechanism, Coupled):
            groups = tuple(map(coupled_group, groups))
        if not groups:
            raise TargetError(
                "no pairs to audit: it was given none, and its method pairs returned none"
            )
        if settings.mode != "monte-carlo":
            exact = self._all_laws(groups)
            if exact:
                fit = goodness_of_fit(target, groups[0], settings.seed)
                if isinstance(target, Isolated):
                    target.check_unchanged(groups)
                if any(group.pairs.base.digest != group.digest for group in groups):
                    raise TargetError(
                        "it changed the dataset that it was given; a mechanism must leave its "
                        "inputs as they are"
                    )
                hold = at_worst(lambda claim: exact_evidence(target, claim, groups, exact, fit))
                return "exact", _both_notions(target, hold)
            if settings.mode == "exact":
                raise TargetError(
                    "it has no exact law for these data and claims; use mode monte-carlo"
                )
        how = self.open_executor, self.progress, self.accepted, self.raced
        return "monte-carlo", Sampling(target, groups, budget.of(target), *how).hold

    def _search(self, space: Space, budget: Budget) -> tuple[Mode, Holder] | None:
        """Return what holds the pairs that a search finds against a claim, by laws or trials."""
        target, progress = self.target, self.progress
        words = "; ".join(filter(None, (space.words, target.coded(space))))
        among: dict[str, Any] = {"space": words}
        among |= {"together": True} if target.joint else {}
        among |= {} if target.output is None else {"output": target.output.as_json()}
        seed, seconds = self.settings.seed, self.settings.search_seconds
        if target.has_law:
            hold = computed_evidence(target, space, progress, seed, seconds, among)
            return None if hold is None else ("exact", _both_notions(target, at_worst(hold)))

        def hunt(claim: Claim) -> Evidence:
            raced = self.settings.stop_early is not False
            found = searched_evidence(
                target, space, claim, budget, self.open_executor, progress, seed, seconds, raced
            )
            return replace(found, searched=found.searched | among)

        return "monte-carlo", hunt

    def _exhaustive(self, domain: Domain) -> Holder:
        """Return what holds a whole domain against a claim."""
        target, settings = self.target, self.settings
        if isinstance(target.mechanism, Coupled):
            raise TargetError(
                f"{target.claims[0]} speaks of two datasets at once and has no exhaustive mode; "
                "use auto"
            )
        laws_of = None if self.cluster is None else laws_on(self.cluster, settings.limits)
        laws = all_laws(target, domain, settings.seed, self.progress, laws_of)
        own = groups_for(target, None)
        own_laws = self._all_laws(own)

        def hold(claim: Claim) -> Evidence:
            """Hold the domain against it, or the mechanism's worst case if only that fails."""
            found = exhaustive_evidence(target, claim, domain, laws)
            if not own_laws or found.lower.value > claim.promised:
                return found
            beyond = exact_evidence(target, claim, own, own_laws, None)
            return found.joined_by(beyond) if beyond.lower.value > claim.promised else found

        return _both_notions(target, at_worst(hold))

    def _all_laws(self, groups: tuple[PairGroup, ...]) -> tuple[Laws, ...]:
        """Return the laws of every group, or nothing if a claim cannot be read off one of them."""
        found = []
        for group in groups:
            laws = group_laws(self.target, group, self.progress)
            if laws is None:
                return ()
            found.append(laws)
        return tuple(found)


def at_worst(hold: Holder) -> Holder:
    """Hold computed laws against every point of a curve, and keep the one that looks worst."""

    def excess(found: Evidence) -> tuple[bool, float]:
        """Return whether a point is refuted, and how many times what is claimed leaks."""
        assert found.point is not None
        lower, promised = found.lower.value, found.point.promised
        return lower > promised, lower / (promised or 1.0)

    def held(claim: Claim) -> Evidence:
        if len(claim.points) == 1:
            return hold(claim)
        return max((replace(hold(point), point=point) for point in claim.points), key=excess)

    return held


def _both_notions(target: AuditTarget, hold: Holder) -> Holder:
    """Hold laws of labels against a claim, and measure the notion that it is not about.

    That once for all its claims; of its cells only the worst is wanted.
    """
    if target.numbers is not None:
        return hold
    measure = cache(lambda claim: replace(hold(claim), table={}))

    def both(claim: Claim) -> Evidence:
        other = claim.beside()
        if not isinstance(other, DP | Stability):
            return hold(claim)
        return replace(hold(claim), other=(other, measure(other)))

    return both


def _result(
    target: AuditTarget,
    claim: Claim,
    measured: tuple[Mode, Holder] | TargetError,
    settings: Settings,
    taken: set[str],
) -> Result:
    mode: Mode | None = None
    evidence: Evidence | None = None
    try:
        if isinstance(measured, TargetError):
            raise measured
        mode, held = measured
        evidence = held(claim)
        claim = evidence.point or claim
        most = target.most(claim)
        wanted = settings.wanted(claim, most)
        outcome = decide(claim, evidence, wanted, most, target.looked_at(claim))
    except TargetError as error:
        outcome = Verdict(word="error", reason=error.cause, detail=error.detail)
    stem = unique = ".".join([target.name, claim.status, *([mode] if mode else [])])
    number = 1
    while unique in taken:
        number += 1
        unique = f"{stem}.{number}"
    taken.add(unique)
    draws = settings.budget if mode == "monte-carlo" else 0
    return Result(
        id=unique,
        target=target,
        claim=claim,
        mode=mode,
        outcome=outcome,
        evidence=evidence,
        seed=settings.seed,
        draws=draws,
    )


def _named(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)
