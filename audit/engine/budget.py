"""The budget of one result: how many trials screen and certify it, and where alpha goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scipy.special import ndtri

from dpassay.stats.alpha import Spending
from dpassay.stats.health import ALARM
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import BLOCK

LEAST_SCREENING = 100
SURE = 1.645
"""A standard normal variable is above minus this with probability 0.95."""
HALF_LINES = 4
"""The half-lines of a number err as so many independent events do, about."""
FINALISTS = 4
"""So many cells are certified at least, if there are so many pairs; one per query where there are
more queries."""
SHARE = 1 / 8
"""Of alpha, for a race."""
PART = 2
"""The part of the certification trials that a race has at most."""
PILOT, SCREENED, REACH, CHEAP = 32, (16, 64, 256), 16, 1 / 6
"""The trials that cut numbers into bins, and those per side that choose the cell, stage by stage.
Each stage certifies at most so many times as many. At given pairs, a later stage is left out if its
screening takes more than this part of the trials that the whole audit certifies with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much is spent on one result.

    `draws` are certification trials per side and finalist; the screening of all pairs together
    costs as much again at most, and a tenth of it where there is next to nothing to choose. `alpha`
    is the error probability of the result, `alarm` bounds the probability that its guards fail by
    chance. About `events` events that err independently are looked at in a pair.
    """

    draws: int
    alpha: float
    alarm: float = ALARM
    events: int = 2

    @property
    def pilot(self) -> int:
        """Return after how many trials numbers are cut into bins."""
        return BLOCK

    @property
    def phase(self) -> str:
        """Return the name of the screening trials."""
        return "screen"

    @property
    def race(self) -> Race:
        """Return what may be spent first on a claim that is grossly false."""
        draws, alpha = max(SCREENED[0], self.draws // PART), SHARE * self.alpha
        return Race(draws=draws, alpha=alpha, alarm=self.alarm / 2, events=self.events)

    @property
    def after_race(self) -> Budget:
        """Return what is left for the audit that follows a race without a proof."""
        return replace(self, alpha=(1 - SHARE) * self.alpha, alarm=self.alarm / 2)

    def of(self, target: AuditTarget) -> Budget:
        """Return what is spent on a mechanism: as many events as it has labels."""
        return replace(self, events=len(target.labels) if target.numbers is None else HALF_LINES)

    def finalists(self, groups: tuple[PairGroup, ...]) -> int:
        """Return how many pairs are certified per query."""
        return max(1, -(-FINALISTS // sum(len(group.queries) for group in groups)))

    def screening(self, groups: tuple[PairGroup, ...]) -> int:
        """Return the screening trials per dataset.

        As many as choosing takes, but no more than make all of them about as many as the
        certification trials. A leak that n trials at error probability a refute with a probability
        of 0.95 lies (z_a + z_.05) standard errors above the claim. In s trials these are less by
        the factor sqrt(s / n), and must exceed the highest of all other events that just keep the
        claim, at about the quantile q of as many as there are for each finalist: hence

            s / n = ((q + z_.05) / (z_a + z_.05))^2,

        a tenth where there are two events of few pairs. It is about where the trials of the whole
        audit are fewest for the same `detectable` (docs/statistics.md has them).
        """
        queries = sum(len(group.queries) for group in groups)
        pairs, finalists = sum(len(group.pairs) for group in groups), self.finalists(groups)
        rivals = max(2.0, self.events * pairs / min(finalists, pairs))
        cells = queries * min(finalists, pairs)
        lead, needed = (-float(ndtri(share)) for share in (1 / rivals, self.alpha / cells))
        part = ((lead + SURE) / (max(lead, needed) + SURE)) ** 2
        most = self._most_screening(groups)
        return max(min(LEAST_SCREENING, self.draws), int(min(self.draws * part, most)))

    def most(self, groups: tuple[PairGroup, ...]) -> int:
        """Return the largest number of runs that screening and certification take."""
        pairs = [len(group.pairs) for group in groups]
        sizes = zip(pairs, self.screening_of(groups), strict=True)
        certified = min(sum(pairs), self.spending(groups, profiled=False).cells) + len(groups)
        return sum((1 + several) * size for several, size in sizes) + self.draws * certified

    def _most_screening(self, groups: tuple[PairGroup, ...]) -> float:
        """Return the trials per dataset with which the screening costs as much as certifying."""
        queries = sum(len(group.queries) for group in groups)
        pairs = sum(len(group.pairs) for group in groups)
        return self.draws * min(1.0, queries * self.finalists(groups) / pairs)

    def races(self, groups: tuple[PairGroup, ...]) -> Iterator[Race]:
        """Yield the stages of a race at given pairs: one where there is a single cell.

        A stage whose screening is dear is left out, unless it is the first: a race must cost little
        where the claim holds.
        """
        if sum(len(group.pairs) * len(group.queries) for group in groups) == 1:
            return iter((self.race.alone,))
        few = CHEAP * self._most_screening(groups)
        return (each for each in self.race.stages if each.screened <= max(SCREENED[0], few))

    def screening_of(self, groups: tuple[PairGroup, ...]) -> tuple[int, ...]:
        """Return the screening trials per dataset of each group.

        There are more where a direction was learned, since all it has is one pair.
        """
        least, learned = self.screening(groups), self.draws // 4
        return tuple(max(least, learned) if each.kind == "learned" else least for each in groups)

    def spending(self, groups: tuple[PairGroup, ...], *, profiled: bool) -> Spending:
        """Return where alpha goes."""
        each = self.finalists(groups)
        return Spending(
            alpha=self.alpha,
            cells=sum(min(each, len(group.pairs)) * len(group.queries) for group in groups),
            queries=sum(len(group.queries) for group in groups),
            profiled=profiled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(Budget):
    """A budget for one cell: `screened` trials per side choose it, at most `draws` certify it."""

    screened: int = SCREENED[0]

    @property
    def alone(self) -> Race:
        """Return the budget of a single cell, which needs no choice."""
        most = min(self.draws, REACH * SCREENED[-1])
        return replace(self, draws=most, screened=SCREENED[0] // 2)

    @property
    def stages(self) -> Iterator[Race]:
        """Return the stages of a race: the first has half of alpha, the next a quarter."""
        for stage, screened in enumerate(SCREENED, 1):
            most = min(self.draws, REACH * screened)
            if screened <= most:
                part = self.alpha / 2**stage
                yield replace(self, draws=most, screened=screened, alpha=part)

    @property
    def pilot(self) -> int:
        """Return after how many trials numbers are cut into bins."""
        return PILOT

    @property
    def phase(self) -> str:
        """Return the name of the screening trials, which have the same coins on all sides."""
        return "race"

    def finalists(self, groups: tuple[PairGroup, ...]) -> int:  # noqa: ARG002
        """One pair per query."""
        return 1

    def screening_of(self, groups: tuple[PairGroup, ...]) -> tuple[int, ...]:
        """Few trials per dataset, of which a gross leak shows."""
        return (self.screened,) * len(groups)

    def spending(self, groups: tuple[PairGroup, ...], *, profiled: bool) -> Spending:  # noqa: ARG002
        """Return where alpha goes: all of it bounds the one cell from below."""
        spending = Budget.spending(self, groups, profiled=False)
        return replace(spending, cells=1, bounded=False)
