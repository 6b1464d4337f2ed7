"""Golden numbers: medians of certified bounds, and exact losses worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.api import audit
from dpassay.claims import GDP, Claim
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.run import assay
from dpassay.engine.settings import ModeWanted, Settings
from dpassay.laws import NoiseLaw
from dpassay.mechanism import Mechanism
from dpassay.noise import Noise
from dpassay.pairs import replace_one
from dpassay.seeds import stream
from dpassay.selftest.check import ALPHA, CHANCE, Check
from dpassay.stats import lower_bounds
from dpassay.stats.bounds import Counts
from dpassay.stats.power import tight_pair
from dpassay.stats.scales import Ratio
from dpassay.targets.groups import Progress, silent
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import resolve

MEDIANS: dict[str, tuple[float, float]] = {
    "stouffer": (0.97077, 0.0173),
    "clopper-pearson": (0.95568, 0.0173),
    "accuracy": (0.97363, 0.0159),
}
"""Median and spread of each 95 % lower bound for randomised response with loss 1 and 10,000 trials
a side, from the two binomial laws. The table in section 2 of the specification has .973, .958 and
.976, medians of about 100 simulations each."""
BY_HAND = {
    "soft-majority": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e) / 2)),
    "soft-majority-overview": ({"r": 2, "epsilon": 1.0}, math.log((1 + math.e**2) / 2)),
}
"""Catalogue entries whose worst loss over two records at one point is worked out by hand: two
teachers agree, or they do not."""
GOLDEN_N = 10_000
GAUSSIAN_BUDGET = 2000
GAUSSIAN_MODES: tuple[ModeWanted, ...] = ("exact", "monte-carlo")


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
        """Return the mu that it promises."""
        return (GDP(mu=self.claimed),)

    def prepare(self, data: Labelled) -> float:
        """Return the label of record 0."""
        return float(data.y[0])

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the answers of `size` trials."""
        return state + rng.normal(scale=self.sigma, size=(size, len(queries)))

    def distribution(self, state: float, queries: NDArray[np.float64]) -> NoiseLaw:
        """Return the exact law."""
        noise = Noise(kind="gaussian", scale=self.sigma)
        return NoiseLaw(values=np.full(len(queries), state), noise=noise, error=0.0)


def golden_checks(draws: int, seed: int, progress: Progress = silent) -> Iterator[Check]:
    """Known numbers: each bound's median for randomised response, and a loss worked out by hand."""
    p1, p0 = tight_pair(1.0, 0.0)
    rng = stream(seed, "selftest", "medians")
    both = (rng.binomial(GOLDEN_N, p, draws).tolist() for p in (p1, p0))
    drawn = [Counts(x=x, n1=GOLDEN_N, y=y, n0=GOLDEN_N) for x, y in zip(*both, strict=True)]
    known = [(method, *MEDIANS[method]) for method in lower_bounds.NAMES if method in MEDIANS]
    for k, (method, reference, spread) in enumerate(known):
        progress("golden medians", k, len(known))
        bounds = (
            lower_bounds.lower_bound(method, counts, scale=Ratio(), alpha=ALPHA) for counts in drawn
        )
        median = float(np.median([bound.value for bound in bounds]))
        far = float(-ndtri(CHANCE / 2 / len(known)))
        error = far * math.sqrt(math.pi / 2) * spread / math.sqrt(draws)
        yield Check(
            group="golden",
            name=f"median bound of {method}, off by",
            what=(
                f"Distance between the median of {draws} lower bounds for randomised response "
                f"with loss 1 at 10,000 trials a side and the known {reference:.4f}; the limit is "
                "the Monte Carlo error of such a median at 99 %."
            ),
            value=abs(median - reference),
            limit=error,
            points=({"method": method, "median": median, "reference": reference, "draws": draws},),
        )
    progress("golden medians", len(known), len(known))
    for name, (given, loss) in BY_HAND.items():
        yield exact_check(resolve(name, given), loss)
    yield from gaussian_checks(seed)


def gaussian_checks(seed: int) -> Iterator[Check]:
    """Check a release with normal noise against its mu, and against half of it: refuted."""
    pair = replace_one([[1.0]], [0], neighbours="flip")
    results = {
        (claimed, mode): audit(
            GaussianRelease(sigma=0.8, claimed=claimed),
            mode=mode,
            pairs=pair,
            queries=[[1.0]],
            seed=seed,
            confidence=1 - ALPHA,
            budget=GAUSSIAN_BUDGET,
            executor="inline",  # this code is ours
        )
        for claimed in (1.25, 0.625)
        for mode in GAUSSIAN_MODES
    }
    yield _exact_check("a Gaussian release (its mu)", results[1.25, "exact"].exact, 1.25)
    yield Check(
        group="golden",
        name="audits of a Gaussian release that claims half its mu and is not refuted",
        what=(
            "A label with normal noise is exactly 1.25-Gaussian differentially private; a claim "
            f"of 0.625 was held against its law and against {GAUSSIAN_BUDGET:,} trials a side."
        ),
        value=sum(results[0.625, mode].verdict != "refuted" for mode in GAUSSIAN_MODES),
        limit=0,
        points=tuple(
            {"name": mode, "lower": results[0.625, mode].lower} for mode in GAUSSIAN_MODES
        ),
    )


def exact_check(target: AuditTarget, known: float) -> Check:
    """Check the worst loss over two records at one point against one worked out by hand."""
    result = next(assay([target], None, Settings(mode="exhaustive", domain=Domain(n=2, points=1))))
    return _exact_check(f"{target.name}, exhaustive", result.exact, known)


def _exact_check(name: str, found: float | None, known: float) -> Check:
    return Check(
        group="golden",
        name=f"exact loss of {name}, off by",
        what=f"Distance between the computed loss and {known:.12g}, which is worked out by hand.",
        value=math.nan if found is None else abs(found - known),
        limit=1e-12,
        points=({"name": name, "loss": found, "reference": known},),
    )
