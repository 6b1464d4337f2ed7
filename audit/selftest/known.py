"""Rehearsals: whole audits of mechanisms with known loss, to see what the harness says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP, GDP, Claim
from dpassay.data import Labelled
from dpassay.engine.guards import TAKEN_BACK
from dpassay.engine.result import Result
from dpassay.errors import TargetError
from dpassay.laws import FiniteLaw, NoiseLaw, bernoulli_law
from dpassay.mechanism import Mechanism
from dpassay.noise import Noise
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
    return tuple(
        count
        for cell in cells
        if cell.lower.counts
        for count in (cell.lower.counts.x, cell.lower.counts.y)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianRelease(Mechanism):
    """Answers the label of record 0 and normal noise with standard deviation sigma.

    Exactly (1 / sigma)-Gaussian differentially private, and no less; `claimed` is the mu that
    it promises.
    """

    sigma: float
    claimed: float
    numbers = (-math.inf, math.inf)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return what it says of itself."""
        return (GDP(mu=self.claimed),)

    def prepare(self, data: Labelled) -> float:
        """Look at one label."""
        return float(data.y[0])

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Answers of `size` trials."""
        return state + rng.normal(scale=self.sigma, size=(size, len(queries)))

    def distribution(self, state: float, queries: NDArray[np.float64]) -> NoiseLaw:
        """Exact law."""
        return NoiseLaw(
            values=np.full(len(queries), state),
            noise=Noise(kind="gaussian", scale=self.sigma),
            error=0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyVote(Mechanism):
    """Answers 1 with probability sigma(epsilon v), v the labels 1 less the labels 0.

    Between two records that agree and two that do not, the loss is ln((1 + e^(2 epsilon)) / 2), by
    hand.
    """

    epsilon: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        """One record moves v by 2."""
        return (DP(epsilon=2 * self.epsilon),)

    @property
    def known(self) -> float:
        """Worst loss over the datasets of two records at one point."""
        return math.log((1 + math.exp(2 * self.epsilon)) / 2)

    def prepare(self, data: Labelled) -> int:
        """Count the votes."""
        return int(np.sum(2 * data.y - 1))

    def sample(
        self, state: int, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` trials."""
        return (
            rng.random((size, len(queries))) < 1 / (1 + math.exp(-self.epsilon * state))
        ).astype(np.int64)

    def distribution(self, state: int, queries: NDArray[np.float64]) -> FiniteLaw:
        """Exact law."""
        return bernoulli_law(np.full(len(queries), self.epsilon * state))
