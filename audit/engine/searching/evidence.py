"""Searched evidence: what a search has found is certified on fresh trials."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpassay.claims import Claim
from dpassay.engine.budget import Budget
from dpassay.engine.evidence import Evidence
from dpassay.engine.monte_carlo import monte_carlo_evidence
from dpassay.engine.sampling import OpenExecutor
from dpassay.engine.screening import screen
from dpassay.engine.searching.deadline import Deadline
from dpassay.engine.searching.drawing import Drawing
from dpassay.engine.searching.search import LEAST, Search
from dpassay.engine.testers.patterns import PatternEvents
from dpassay.errors import TargetError
from dpassay.search.proposals.proposal import Space
from dpassay.search.worth import Goal
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import Group, Progress
from dpassay.targets.guard import AuditTarget
from dpassay.trials.kept import Matches

CHECKED, MOST_CHECKED = 10, 100_000
"""One in so many certification trials, but no more than that, drawn before them, chooses the test
and guards them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBudget(Budget):
    """A budget whose pairs are found already: a few trials choose the tests of their events."""

    def screening(self, groups: tuple[Group, ...]) -> int:  # noqa: ARG002
        """One in `CHECKED` of the certification trials; no more than `MOST_CHECKED`."""
        return min(max(LEAST, self.draws // CHECKED), MOST_CHECKED)

    def finalists(self, groups: tuple[Group, ...]) -> int:  # noqa: ARG002
        """Every group has one pair and one query."""
        return 1


def searched_evidence(
    target: AuditTarget,
    space: Space,
    claim: Claim,
    budget: Budget,
    open_executor: OpenExecutor,
    progress: Progress,
    seed: int,
    seconds: float | None = None,
) -> Evidence:
    """Search, certify what was found, and say what was looked at.

    Parameters
    ----------
    target, space, claim, budget, open_executor, progress, seed
        See `Search`.
    seconds : float, optional
        After so many the search ends; no limit by default. The certification is not in it.

    Raises
    ------
    TargetError
        If the mechanism fails, or the claim is not about events.
    """
    if claim.computed or claim.means or claim.coupled:
        raise TargetError(f"{claim}: a search goes with claims of kind DP, GDP and Stability")
    drawing = Drawing(
        target=target, space=space, open_executor=open_executor, progress=progress, seed=seed
    )
    points = {
        Goal(scale_of(point), point.promised, budget.draws, budget.alpha): point
        for point in claim.points
    }
    search = Search(
        drawing=drawing,
        space=space,
        goals=tuple(points),
        budget=budget,
        deadline=Deadline(seconds=seconds),
    )
    found, encoder = search.best()
    goal = found.goal
    if found.choice is None or goal is None:
        raise TargetError(f"{target.name}: a search needs at least one pair to look at")
    groups, pattern = (drawing.alone(found),), found.choice.pattern
    executor = open_executor(groups, (Matches(pattern=pattern, by_query=target.by_query),))
    certified = SearchBudget(
        draws=budget.draws, alpha=budget.alpha, alarm=budget.alarm, stop_early=budget.stop_early
    )
    tester = PatternEvents(
        scale=goal.scale,
        promised=goal.promised,
        pattern=pattern,
        direction=found.choice.direction,
        rounds=tuple(search.rounds),
        numbers=any(not each.coded for each in encoder.looks),
    )
    screened = screen(executor, groups, certified, progress)
    evidence = monte_carlo_evidence(tester, groups, screened, certified, executor, progress)
    return replace(
        evidence,
        trials=evidence.trials + sum(drawing.spent),
        searched=evidence.searched | {"search": search.log} | search.deadline.as_json(),
        point=points[goal] if len(points) > 1 else None,
    )
