"""Sampling: one mechanism's trials, made once per way of counting, held against its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dpassay.claims import Claim
from dpassay.engine.baseline_cells import Raw, certified_again
from dpassay.engine.budget import Budget
from dpassay.engine.certification import Screened, screen
from dpassay.engine.directions import learned
from dpassay.engine.evidence import Evidence
from dpassay.engine.kinds import kind_of
from dpassay.engine.monte_carlo import monte_carlo_evidence
from dpassay.errors import TargetError
from dpassay.targets.groups import PairGroup, Progress
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK
from dpassay.trials.encoders import Bins, Coding, Labels, Pilot, Rounded, bins_from
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task

Accepted = Callable[[Claim], Sequence[Raw]]
"""Returns the cells that an accepted record lists for a claim."""
OpenExecutor = Callable[[tuple[PairGroup, ...], tuple[Coding, ...]], Executor]
"""Opens an executor for groups and their codings."""


BASELINE_DRAWS = 2
"""Trials at the cells of a baseline, in units of the budget: an accepted record's own counts are no
sharper than they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What has been drawn for one way of counting."""

    runner: Executor
    groups: tuple[PairGroup, ...]
    codings: tuple[Coding, ...]
    screened: Screened


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampled way to know about one mechanism; the `accepted` cells are counted again."""

    target: AuditTarget
    groups: tuple[PairGroup, ...]
    budget: Budget
    open_executor: OpenExecutor
    progress: Progress
    accepted: Accepted
    _trials: dict[bool, Trials | TargetError] = field(default_factory=dict)

    def hold(self, claim: Claim) -> Evidence:
        """Hold the trials against a claim; those that need the same counts share them.

        Raise TargetError if the mechanism fails; the same for every claim that needs these counts.
        """
        if claim.computed:
            raise TargetError(
                f"it has no exact law for these data, and {claim} is held against computed errors "
                "only"
            )
        means = claim.means
        if means not in self._trials:
            try:
                self._trials[means] = self._screen(means=means)
            except TargetError as error:
                self._trials[means] = error
        trials = self._trials[means]
        if isinstance(trials, TargetError):
            raise trials
        bins = tuple(coding for coding in trials.codings if isinstance(coding, Bins))
        point = self._worst(claim, bins, trials.screened)
        tester = kind_of(point).tester(self.target, bins)
        found = monte_carlo_evidence(
            tester, trials.groups, trials.screened, self.budget, trials.runner, self.progress
        )
        if len(claim.points) > 1:
            found = replace(found, point=point)
        cells, draws = self.accepted(claim), BASELINE_DRAWS * self.budget.draws
        again = certified_again(
            cells, trials.groups, trials.codings, self.target.labels, self.open_executor, draws
        )
        return replace(found, again=again) if again else found

    def _worst(self, claim: Claim, bins: tuple[Bins, ...], screened: Screened) -> Claim:
        """Return the point of a curve that the screening trials speak against most clearly."""
        if len(claim.points) == 1:
            return claim

        def score(point: Claim) -> float:
            """Return how clearly the worst cell exceeds it, in standard deviations; 0 at least."""
            tester = kind_of(point).tester(self.target, bins)
            found = [
                float(tester.rank(counts[:, :, query])[0].max())
                for counts in screened.counts
                for query in range(counts.shape[2])
            ]
            return max(0.0, *found)

        return max(claim.points, key=score)

    def _screen(self, *, means: bool) -> Trials:
        draws = self.budget.screening(self.groups), self.budget.draws // 2
        more = learned(self.target, self.groups, draws, self.open_executor, self.progress)
        groups = (*self.groups, *more)
        codings = self._codings(groups, means=means)
        runner = self.open_executor(groups, codings)
        screened = screen(runner, groups, self.budget, self.progress)
        return Trials(runner=runner, groups=groups, codings=codings, screened=screened)

    def _codings(self, groups: tuple[PairGroup, ...], *, means: bool) -> tuple[Coding, ...]:
        """Return what is counted; numbers audited by events need a pilot for the thresholds."""
        if self.target.numbers is None:
            return (Labels(self.target.labels),) * len(groups)
        if means:
            return (Rounded(*self.target.numbers),) * len(groups)
        pilot = self.open_executor(groups, (Pilot(),) * len(groups))
        tasks = [Task(group=g, pair=None, phase="pilot", size=BLOCK) for g in range(len(groups))]
        return tuple(bins_from(quantiles) for quantiles in pilot.counts(tasks))
