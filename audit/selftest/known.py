"""Rehearsals: whole audits of mechanisms with known loss, to see what the harness says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import Claim
from dpassay.data import Labelled
from dpassay.engine.guards import TAKEN_BACK
from dpassay.engine.result import Result
from dpassay.errors import TargetError
from dpassay.pairs import FlipLabel, Pairs
from dpassay.selftest.check import ALPHA
from dpassay.stats.scales import scale_of

SEED_STRIDE = 10**6
"""Audits of the self-test under --seed N have the seeds from N times this on."""
RECORDS = 12
"""Only the first of them leaks, and fewer are certified: the screening has to find it."""

Function = Callable[[Labelled, NDArray[np.float64], int, np.random.Generator], NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAudit:
    """A whole Monte Carlo audit of randomised response on the label of one record out of twelve."""

    truth: float  # true leak of both labels in both directions, on the claim's scale
    claim: Claim
    queries: int  # every point is certified
    budget: int  # certification trials per side

    def runs(self, seeds: range) -> Iterator[Result]:
        """Yield the result of the audit under each seed."""
        function = randomised_response(scale_of(self.claim).allowed(self.truth).tight[0])
        pairs = Pairs(
            base=Labelled(np.zeros((RECORDS, 1)), np.zeros(RECORDS, dtype=int)),
            changes=tuple(FlipLabel(i) for i in range(RECORDS)),
            how="every label flipped",
        )
        queries = np.arange(self.queries, dtype=float)[:, None]
        for seed in seeds:
            result = audit(
                function,
                claim=self.claim,
                pairs=pairs,
                queries=queries,
                mode="monte-carlo",
                seed=seed,
                confidence=1 - ALPHA,
                budget=self.budget,
                executor="inline",  # this code is ours
            )
            if result.verdict == "error" and not refutes(result):
                raise TargetError(result.outcome.reason, result.outcome.detail)
            yield result


def refutes(result: Result) -> bool:
    """Return whether the certification refutes; its replay, which may take that back, is left out.

    The enumerated power is that of the certification alone.
    """
    return result.verdict == "refuted" or result.outcome.reason.startswith(TAKEN_BACK)


def seeds(seed: int, runs: int) -> range:
    """Return the seeds of the audits of one rehearsal."""
    return range(seed * SEED_STRIDE, seed * SEED_STRIDE + runs)


def randomised_response(p: float) -> Function:
    """Answer record 0's label with probability p, else the other one, anew at every query."""

    def answer(
        data: Labelled, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        truth = rng.random((size, len(queries))) < p
        answers: NDArray[Any] = np.where(truth, data.y[0], 1 - data.y[0])
        return answers

    return answer


def counts_of(result: Result) -> tuple[int, ...]:
    """Return the certification counts of all cells of an audit."""
    cells = () if result.evidence is None else result.evidence.cells
    counts = [cell.lower.counts for cell in cells if cell.lower.counts]
    return tuple(number for each in counts for number in (each.x, each.y))
