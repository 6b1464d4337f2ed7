"""The assay: claim and mechanism, pairs and queries, laws or trials, bounds, verdict. One screen of orchestration."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from dpassay.auditee import Auditee
from dpassay.claims import Claim
from dpassay.data import points
from dpassay.errors import AuditeeError, InvalidInput, is_count, is_real, require
from dpassay.evidence import Evidence, Mode
from dpassay.exact import Laws, exact_evidence, goodness_of_fit, group_laws
from dpassay.executors import Executor, Kind, Staff, executor
from dpassay.exhaustive import Domain, domain_laws, exhaustive_evidence
from dpassay.ledger import Ledger
from dpassay.mechanism import FunctionMechanism, HasLaw, HasWorstCases, Mechanism
from dpassay.monte_carlo import Budget, monte_carlo_evidence, screen
from dpassay.pairs import Pairs
from dpassay.plan import Group, Progress, groups_for, silent
from dpassay.result import Result
from dpassay.shards import Bench
from dpassay.targets import can_be_rebuilt, parameters_of
from dpassay.verdicts import Verdict, decide

Holder = Callable[[Claim], Evidence]
"""Holds what has been measured against one claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run finds out.

    Parameters
    ----------
    mode : {"auto", "exact", "exhaustive", "monte-carlo"}
        `auto` is exact where the mechanism has a law for the data, else Monte Carlo.
    seed : int
        Root of all random streams; >= 0.
    confidence : float
        Of the whole run, in (0, 1): all its sampled bounds hold together with this probability.
    budget : int
        Certification trials per side and finalist, >= 100.
    detect : float, optional
        Loss in nats that a Monte Carlo audit must be able to see; by default 1.5 times the claim.
    domain : Domain, optional
        What `exhaustive` enumerates.
    jobs : int
        Processes that run trials, >= 1; no number depends on it.
    executor : {"inline", "local"}, optional
        Trials run in this process (by default where `jobs` is 1), or in `jobs` worker processes that may hang or die.
    shard_timeout : float
        Seconds, > 0, that a worker may take over a portion of trials before it is killed.
    """

    mode: Literal["auto", "exact", "exhaustive", "monte-carlo"] = "auto"
    seed: int = 0
    confidence: float = 0.999
    budget: int = 20_000
    detect: float | None = None
    domain: Domain | None = field(default=None)
    jobs: int = 1
    executor: Kind | None = None
    shard_timeout: float = 60.0

    def __post_init__(self) -> None:
        modes = ("auto", "exact", "exhaustive", "monte-carlo")
        require(self.mode in modes, "mode", self.mode, f"one of {', '.join(modes)}")
        require(is_count(self.seed, 0), "seed", self.seed, "an integer >= 0")
        require(is_real(self.confidence) and 0 < self.confidence < 1, "confidence", self.confidence, "a number in (0, 1)")
        require(is_count(self.budget, 100), "budget", self.budget, "an integer >= 100")
        known = self.detect is None or (is_real(self.detect) and 0 < self.detect < np.inf)
        require(known, "detect", self.detect, "a number > 0")
        require(is_count(self.jobs, 1), "jobs", self.jobs, "an integer >= 1")
        require(self.executor in (None, "inline", "local"), "executor", self.executor, "inline or local")
        limit = is_real(self.shard_timeout) and 0 < self.shard_timeout < np.inf
        require(limit, "shard_timeout", self.shard_timeout, "a finite number > 0")
        if self.executor == "inline" and self.jobs > 1:
            raise InvalidInput(f"jobs = {self.jobs}: must be 1 with executor 'inline'; 'local' takes more")
        if self.kind == "local" and "fork" not in multiprocessing.get_all_start_methods():
            raise InvalidInput("executor = 'local': must be 'inline' on this system, which cannot fork processes")
        if (self.mode == "exhaustive") != (self.domain is not None):
            raise InvalidInput(
                "mode 'exhaustive' and a domain to enumerate (--n and --domain) go together: one of them is missing"
            )

    @property
    def kind(self) -> Kind:
        """The executor that is meant."""
        return self.executor or ("inline" if self.jobs == 1 else "local")


def check(auditees: Sequence[Auditee], data: Group | None, settings: Settings) -> None:
    """Raise `InvalidInput` if mechanism, data and settings can never go together; nothing is trained or drawn."""
    for auditee in auditees:
        if settings.mode in ("exact", "exhaustive") and not isinstance(auditee.mechanism, HasLaw):
            raise InvalidInput(
                f"mode '{settings.mode}': {auditee.name} has no exact law (no method distribution); use monte-carlo"
            )
        if settings.mode == "exhaustive" and settings.domain is not None:
            auditee.check(settings.domain.dataset((0,) * settings.domain.n))
        elif data is not None:
            auditee.check(data.pairs.base)
        elif not isinstance(auditee.mechanism, HasWorstCases):
            raise InvalidInput(f"{auditee.name}: no pairs to audit; it names no worst cases of its own, so give it data")


def assay(
    auditees: Sequence[Auditee],
    data: Group | None,
    settings: Settings,
    progress: Progress = silent,
    ledger: Ledger | None = None,
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

    Yields
    ------
    Result
        A mechanism that fails ends as `error`, the others go on.

    Raises
    ------
    InvalidInput
        Before anything is run, if data and parameters can never go together.
    """
    check(auditees, data, settings)
    share = (1 - settings.confidence) / max(1, sum(len(auditee.claims) for auditee in auditees))
    taken: set[str] = set()
    staff = Staff(kind=settings.kind, jobs=settings.jobs, timeout=settings.shard_timeout, ledger=ledger)
    for auditee in auditees:
        mode: Mode | None = None
        held: Holder | AuditeeError
        with threadpool_limits(limits=1), ExitStack() as open_until_judged:
            try:
                hire = partial(_hire, auditee, settings, staff, open_until_judged)
                mode, held = _measure(auditee, data, settings, share, hire, _named(auditee.name, progress))
            except AuditeeError as error:
                held = error
            for claim in auditee.claims:
                yield _result(auditee, claim, mode, held, settings, taken)


def audit(
    mechanism: Mechanism | Callable[..., Any],
    *,
    claim: Claim | None = None,
    pairs: Pairs | None = None,
    queries: ArrayLike | None = None,
    labels: tuple[int, ...] | None = None,
    mode: Literal["auto", "exact", "exhaustive", "monte-carlo"] = "auto",
    seed: int = 0,
    confidence: float = 0.999,
    budget: int = 20_000,
    detect: float | None = None,
    domain: Domain | None = None,
    jobs: int = 1,
) -> Result:
    """Audit one mechanism against one claim.

    Parameters
    ----------
    mechanism : Mechanism or callable
        An object of the protocol, or a function `function(data, queries, size, rng)` that returns the labels of `size`
        independent runs at q queries, shape (size, q).
    claim : DP, optional
        What to hold it against; its own first claim by default. A function promises nothing by itself.
    pairs : Pairs, optional
        Neighbouring datasets, from `replace_one` say; the mechanism's own worst cases come on top.
    queries : array (q, d), optional
        Points at which predictions are asked; goes with `pairs`.
    labels : tuple of int, optional
        What a function may answer; 0 and 1 by default.
    mode, seed, confidence, budget, detect, domain, jobs
        See `Settings`.

    Returns
    -------
    Result

    Raises
    ------
    InvalidInput
        If an argument is out of range, or there is nothing to audit.
    """
    if isinstance(mechanism, type):
        raise InvalidInput(f"mechanism = {mechanism.__name__}: must be an object, not its class; call it with its parameters")
    if hasattr(mechanism, "sample"):
        if labels is not None:
            raise InvalidInput("labels: go with a function; a mechanism names its own")
        subject: Mechanism = mechanism  # type: ignore[assignment]
    elif claim is None:
        raise InvalidInput("claim is missing: a function promises nothing by itself, say claim=DP(epsilon=...)")
    else:
        subject = FunctionMechanism(function=mechanism, claims=(claim,), labels=labels or (0, 1))
    name, target = _address(mechanism)
    parameters = {} if isinstance(subject, FunctionMechanism) else parameters_of(subject)
    auditee = Auditee(
        name=name,
        target=target,
        parameters=parameters,
        mechanism=subject,
        claims=subject.claims[:1] if claim is None else (claim,),
    )
    require(pairs is None or isinstance(pairs, Pairs), "pairs", pairs, "Pairs, from replace_one say")
    if pairs is not None and mode == "exhaustive":
        raise InvalidInput("pairs: go with the other modes; 'exhaustive' enumerates its own")
    if (pairs is None) != (queries is None):
        raise InvalidInput("pairs and queries go together: one of them is missing")
    group = None
    if pairs is not None and queries is not None:
        group = Group(pairs=pairs, queries=points(queries, "queries"), kind="data", reason=pairs.how)
    settings = Settings(mode=mode, seed=seed, confidence=confidence, budget=budget, detect=detect, domain=domain, jobs=jobs)
    return next(assay([auditee], group, settings))


def _hire(auditee: Auditee, settings: Settings, staff: Staff, stack: ExitStack, groups: tuple[Group, ...]) -> Executor:
    return stack.enter_context(executor(Bench(auditee, groups, settings.seed), staff))


def _measure(
    auditee: Auditee,
    data: Group | None,
    settings: Settings,
    share: float,
    hire: Callable[[tuple[Group, ...]], Executor],
    progress: Progress,
) -> tuple[Mode, Holder]:
    if settings.mode == "exhaustive" and settings.domain is not None:
        domain = settings.domain
        log_p, error = domain_laws(auditee, domain, progress)
        own = groups_for(auditee, None)
        own_laws = _all_laws(auditee, own, progress)

        def hold(claim: Claim) -> Evidence:
            """Hold the domain against the claim, and the mechanism's own worst case where only that one breaks it."""
            found = exhaustive_evidence(auditee, claim, domain, log_p, error)
            if not own_laws or found.lower.value > claim.epsilon:
                return found
            beyond = exact_evidence(auditee, claim, own, own_laws, None)
            return found.joined_by(beyond) if beyond.lower.value > claim.epsilon else found

        return "exhaustive", hold
    groups = groups_for(auditee, data)
    if not groups:
        raise AuditeeError("no pairs to audit: it was given none, and its method pairs returned none")
    if settings.mode != "monte-carlo":
        laws = _all_laws(auditee, groups, progress)
        if laws:
            fit = goodness_of_fit(auditee, groups[0], settings.seed)
            _unchanged(groups)
            return "exact", lambda claim: exact_evidence(auditee, claim, groups, laws, fit)
        if settings.mode == "exact":
            raise AuditeeError("it has no exact law for these data; use mode monte-carlo")
    budget = Budget(draws=settings.budget, alpha=share, seed=settings.seed)
    runner = hire(groups)
    screened = screen(runner, groups, budget, progress)
    return "monte-carlo", lambda claim: monte_carlo_evidence(auditee, claim, groups, screened, budget, runner, progress)


def _all_laws(auditee: Auditee, groups: tuple[Group, ...], progress: Progress) -> tuple[Laws, ...]:
    """Return the laws of every group, or nothing if one of them has none."""
    found = []
    for group in groups:
        laws = group_laws(auditee, group, progress)
        if laws is None:
            return ()
        found.append(laws)
    return tuple(found)


def _unchanged(groups: tuple[Group, ...]) -> None:
    """Raise `AuditeeError` if the mechanism has written into a dataset that it was lent."""
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
        detect = 1.5 * claim.epsilon if settings.detect is None else settings.detect
        judgement = decide(claim, evidence, detect)
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


def _address(mechanism: Any) -> tuple[str, str | None]:
    """Name of a mechanism or function, and the same as a target if that is enough to make it again."""
    function = not hasattr(mechanism, "sample")
    thing = mechanism if function and hasattr(mechanism, "__qualname__") else type(mechanism)
    name = f"{thing.__module__}:{thing.__qualname__}"
    importable = thing.__module__ != "__main__" and thing.__qualname__.isidentifier()
    rebuilt = thing is mechanism or (not function and can_be_rebuilt(mechanism))
    return name, name if importable and rebuilt else None
