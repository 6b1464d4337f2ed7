"""Sight: whether leaks of a known size are refuted as often as the power says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.claims import DP
from dpassay.selftest.check import ALPHA, CHANCE, Check
from dpassay.selftest.known import KnownAudit, refutes, seeds
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.exact_error import frontier, probability
from dpassay.stats.lower_bounds import NAMES, Method
from dpassay.stats.power import POWER, power, tight_pair
from dpassay.stats.regions import LineRegion
from dpassay.targets.groups import Progress, silent

FACTORS = (1.1, 1.2, 1.3, 1.5, 2.0, 3.0)
DRAWN = (1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4, 1.45, 1.5, 1.6, 1.7, 1.8, 2.0, 2.5, 3.0)
"""Factors of the claim at which audits are run, and at which the power curve is computed."""
CLAIM = DP(epsilon=1.0)
BUDGET = 400
MODESTY = 0.04
"""`power` interpolates the frontier of the Stouffer test downwards, and may promise so much less
than the exact power."""
ROUNDING = 1e-9
SHARP = 1.5
"""What is detectable is at most so many times the claim; 1.44 was found."""
HONEST_RUNS = 20
"""Audits that are asked for their `detectable`, which depends on the test that the screening chose:
the largest must be refuted as often as it says."""


def sight_checks(
    runs: int, factor_runs: int, seed: int, progress: Progress = silent
) -> Iterator[Check]:
    """Return whether leaks are seen as often as the power says; at `detectable` nine times in ten.

    `runs` are audits at the detectable loss, `factor_runs` at each factor of the power curve.
    """
    observed: list[dict[str, Any]] = []
    tests: dict[Method, NDArray[np.int64]] = {}
    alpha = ALPHA
    for k, factor in enumerate(FACTORS):
        progress("audits of mechanisms that leak", k, len(FACTORS))
        results = list(_rehearsal(factor * CLAIM.epsilon).runs(seeds(seed, factor_runs)))
        bounded = [result.evidence for result in results if result.evidence]
        chosen = Counter(
            method for each in bounded for method in NAMES if method == each.lower.method
        )
        alpha = bounded[0].lower.alpha
        for method in chosen.keys() - tests.keys():
            tests[method] = frontier(
                method, BUDGET, allowed=LineRegion(CLAIM.epsilon, CLAIM.delta), alpha=alpha
            )
        p1, p0 = (np.array([p]) for p in tight_pair(factor * CLAIM.epsilon, CLAIM.delta))
        expected = sum(
            share * float(probability(tests[method], p1, p0)[0]) for method, share in chosen.items()
        ) / len(bounded)
        refuted = sum(map(refutes, results))
        observed.append(
            {"kind": "observed", "factor": factor}
            | _rate(refuted, factor_runs)
            | _region(expected, factor_runs)
        )
    progress("audits of mechanisms that leak", len(FACTORS), len(FACTORS))
    drawn = [method for method in NAMES if method in tests]
    curve = [point for method in drawn for point in _curve(method, alpha, tests[method])]
    yield Check(
        group="sight",
        name="leaks refuted too rarely or too often",
        what=(
            "Factors of the claim at which the number of refutations lies outside the exact 99 % "
            "region around the enumerated power. Too few: the harness is weaker than it says. Too "
            "many: it refutes for the wrong reason."
        ),
        value=sum(not point["least"] <= point["refuted"] <= point["most"] for point in observed),
        limit=0,
        points=(*observed, *curve),
    )
    yield Check(
        group="sight",
        name="power promised, too much by",
        what=(
            "Largest excess of the power that a plan promises over the power enumerated from the "
            "binomial laws."
        ),
        value=max(point["power"] - point["exact"] for point in curve),
        limit=ROUNDING,
    )
    modest = "Largest shortfall of the promised power; the promise interpolates downwards and may "
    yield Check(
        group="sight",
        name="power promised, too little by",
        what=f"{modest}be a little too modest.",
        value=max(point["exact"] - point["power"] for point in curve),
        limit=MODESTY,
    )
    honest = _rehearsal(CLAIM.epsilon).runs(seeds(seed, HONEST_RUNS))
    detectable = [result.detectable for result in honest]
    yield Check(
        group="sight",
        name="detectable loss of such an audit",
        what=(
            f"Loss that half of {HONEST_RUNS} audits of {BUDGET} trials a side at 95 % call "
            f"detectable beside a claim of {CLAIM.epsilon:g}. Beyond the limit the harness would "
            "be blind where it need not be."
        ),
        value=median(detectable),
        limit=SHARP * CLAIM.epsilon,
    )
    yield _detectable_check(max(detectable), runs, seed, progress)


def _detectable_check(loss: float, runs: int, seed: int, progress: Progress) -> Check:
    refuted = 0
    for done, result in enumerate(_rehearsal(loss).runs(seeds(seed, runs)), start=1):
        refuted += refutes(result)
        progress("audits at the detectable loss", done, runs)
    return Check(
        group="sight",
        name=f"refutations at the detectable loss, {loss:.3f}",
        what=(
            f"Refutations in {runs} audits of a mechanism whose loss is what audits of an honest "
            "one call detectable. If that were seen nine times in ten, there would be fewer than "
            "the limit with probability below 1 %."
        ),
        value=refuted,
        limit=int(scipy.stats.binom.ppf(CHANCE, runs, POWER)),
        relation="at least",
        points=({"kind": "detectable", "factor": loss / CLAIM.epsilon} | _rate(refuted, runs),),
    )


def _rehearsal(truth: float) -> KnownAudit:
    return KnownAudit(truth=truth, claim=CLAIM, queries=1, budget=BUDGET)


def _rate(refuted: int, runs: int) -> dict[str, Any]:
    """Return the rate of refutations with its exact 95 % interval (Clopper and Pearson 1934)."""
    ends = clopper_pearson_lower, clopper_pearson_upper
    low, high = (float(end(refuted, runs, 0.025)) for end in ends)
    return {"runs": runs, "refuted": refuted, "rate": refuted / runs, "low": low, "high": high}


def _region(expected: float, runs: int) -> dict[str, Any]:
    """Return the numbers of refutations that are to be expected; all factors share `CHANCE`.

    Audits differ in the test that their screening chose; Hoeffding (1956) lets the binomial tails
    dominate such a mixture.
    """
    p, tail = min(expected, 1.0), CHANCE / 2 / len(FACTORS)
    return {
        "expected": p,
        "least": int(scipy.stats.binom.ppf(tail, runs, p)),
        "most": int(scipy.stats.binom.isf(tail, runs, p)),
    }


def _curve(method: Method, alpha: float, largest: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    """Yield the power curve of a test, as a plan promises it and as it is."""
    pairs = [tight_pair(factor * CLAIM.epsilon, CLAIM.delta) for factor in DRAWN]
    exact = probability(largest, *np.array(pairs).T)
    for factor, (p1, p0), true in zip(DRAWN, pairs, exact.tolist(), strict=True):
        promised = power(
            p1, p0, epsilon=CLAIM.epsilon, delta=CLAIM.delta, n=BUDGET, alpha=alpha, method=method
        )
        yield {
            "kind": "predicted",
            "method": method,
            "factor": factor,
            "power": promised,
            "exact": true,
        }
