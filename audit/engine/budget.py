"""The budget of one result: how many trials screen and certify it, and where alpha goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from dpassay.claims import Claim
from dpassay.stats.alpha import Spending
from dpassay.stats.health import ALARM
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget

LEAST_SCREENING = 100
SURE = 1.645
"""A standard normal variable is above minus this with probability 0.95."""
HALF_LINES = 4
"""The half-lines of a number err as so many independent events do, about."""
FIRST = 16
"""The first part of a screening in two parts is so many times smaller than the whole."""
FINALISTS = 4
"""So many cells are certified at least, if there are so many pairs; one per query where there are
more queries."""
FEWEST, FACTOR = 50, 4
"""Trials per side before the first look at an e-process, at least; and so many times the trials of
a look are drawn before the next one."""


def lots(draws: int, *, early: bool = True) -> tuple[int, ...]:
    """Return the lots that so many trials per side are cut into; a look follows each but the last.

    At a look the e-process of `dpassay.stats.eprocess` may refute a finalist, at a share of alpha
    of its own; then the trials end. Where it refutes none, all lots together are the trials that
    would have been drawn anyway, and tests with a fixed number of trials judge them. When it stops
    depends on what it saw, so the bounds come from fresh trials instead, as many as the next lot
    would have had. There is one lot where there is nothing to look at in between, or not `early`.
    """
    looks = [draws]
    while early and -(-looks[0] // FACTOR) >= FEWEST:
        looks.insert(0, -(-looks[0] // FACTOR))
    return tuple(int(size) for size in np.diff([0, *looks]))


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
    stop_early: bool = False
    events: int = 2

    @property
    def lots(self) -> tuple[int, ...]:
        """Into what lots the certification trials are cut."""
        return lots(self.draws, early=self.stop_early)

    def about(self, claim: Claim) -> Budget:
        """Return what is spent on a claim; one about means runs on, nothing proven stops it."""
        return replace(self, stop_early=self.stop_early and claim.stops_early)

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
        most = min(1.0, queries * finalists / pairs)
        return max(min(LEAST_SCREENING, self.draws), int(self.draws * min(part, most)))

    def screening_of(self, groups: tuple[PairGroup, ...]) -> tuple[int, ...]:
        """Return the screening trials per dataset of each group.

        There are more where a direction was learned, since all it has is one pair.
        """
        least, learned = self.screening(groups), self.draws // 4
        return tuple(max(least, learned) if each.kind == "learned" else least for each in groups)

    def screening_lots(
        self, groups: tuple[PairGroup, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the screening trials per dataset of each group: of the first part, of the rest.

        There are two parts where trials may end early and every pair is certified anyway. Then the
        screening chooses events and directions alone, and its first part finds gross leaks; a first
        round of looks at the certification costs nothing, as its trials are drawn in any case.
        """
        whole, each = self.screening_of(groups), self.finalists(groups)
        first = tuple(max(LEAST_SCREENING, n // FIRST) for n in whole)
        rest = tuple(most - n for n, most in zip(first, whole, strict=True))
        split = len(self.lots) > 1 and all(len(group.pairs) <= each for group in groups)
        return (first, rest) if split and min(rest) > 0 else (whole, ())

    def spending(self, groups: tuple[PairGroup, ...], *, profiled: bool) -> Spending:
        """Return where alpha goes."""
        each = self.finalists(groups)
        return Spending(
            alpha=self.alpha,
            cells=sum(min(each, len(group.pairs)) * len(group.queries) for group in groups),
            queries=sum(len(group.queries) for group in groups),
            profiled=profiled,
            looks=len(self.lots),
            rounds=2 if self.screening_lots(groups)[1] else 1,
        )
