"""The self-test: the harness raises no false alarms on this machine, and is not blind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import scipy

from dpassay.claims import DP, Claim, Stability
from dpassay.errors import TargetError
from dpassay.selftest.check import ALPHA, CHANCE, Check, Group
from dpassay.selftest.golden import golden_checks
from dpassay.selftest.known import KnownAudit, counts_of, refutes, seeds
from dpassay.selftest.sensitivity import sight_checks
from dpassay.stats.exact_error import bolder_than_enumerated, frontier, worst_error
from dpassay.stats.lower_bounds import NAMES, Method
from dpassay.stats.scales import Ratio
from dpassay.targets.groups import Progress, silent

CLAIMS = tuple((epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0) for delta in (0.0, 0.01))
CALIBRATION_BUDGET, CALIBRATION_QUERIES = 120, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything is done."""

    n: tuple[int, ...] = (100,)  # trials per side at which the error of the tests is enumerated
    runs: int = 200  # audits per calibrated claim and at the detectable loss
    factor_runs: int = 60  # audits per factor of the power curve
    claims: tuple[Claim, ...] = (DP(epsilon=0.3), DP(epsilon=1.0, delta=0.01))  # what is calibrated
    medians: int = 250  # draws behind each golden median


DEFAULT = Size()
DEEP = Size(
    n=(100, 300),
    runs=1000,
    factor_runs=400,
    claims=(DP(epsilon=0.3), DP(epsilon=1.0, delta=0.01), DP(epsilon=3.0), Stability(gamma=0.2)),
    medians=2000,
)


def selftest(
    size: Size = DEFAULT, *, seed: int = 0, progress: Progress = silent
) -> Iterator[Check]:
    """Run every check; one that cannot be run has failed."""
    parts: list[tuple[Group, Callable[[], Iterator[Check]]]] = [
        ("error", lambda: error_checks(size, progress)),
        ("calibration", lambda: calibration_checks(size, seed, progress)),
        ("sight", lambda: sight_checks(size.runs, size.factor_runs, seed, progress)),
        ("golden", lambda: golden_checks(size.medians, seed, progress)),
        ("replay", lambda: replay_checks(seed)),
    ]
    for group, part in parts:
        try:
            yield from part()
        # whatever breaks a check is what the user wants to know
        except Exception as error:  # noqa: BLE001
            why = f"{type(error).__name__}: {error}"
            yield Check(
                group=group, name=f"{group} could not be checked", what=why, value=math.nan, limit=0
            )


def error_checks(size: Size, progress: Progress = silent) -> Iterator[Check]:
    """Return the exact worst-case error of every certified test, held to the printed bounds."""
    todo: list[tuple[int, Method, tuple[float, float]]] = [
        (n, method, claim) for n in size.n for method in NAMES for claim in CLAIMS
    ]
    points: dict[tuple[int, str], list[dict[str, Any]]] = {}
    bold = 0
    for done, (n, method, (epsilon, delta)) in enumerate(todo):
        progress("exact error of the tests", done, len(todo))
        scale = Ratio(delta)
        allowed = scale.allowed(epsilon)
        largest = frontier(method, n, allowed=allowed, alpha=ALPHA)
        found = worst_error(method, largest, allowed=allowed, alpha=ALPHA)
        points.setdefault((n, method), []).append(
            {"epsilon": epsilon, "delta": delta} | asdict(found)
        )
        if n == min(size.n):
            bold += bolder_than_enumerated(
                method, largest, scale=scale, promised=epsilon, alpha=ALPHA, step=9
            )
    progress("exact error of the tests", len(todo), len(todo))
    for (n, name), rows in points.items():
        yield Check(
            group="error",
            name=f"error of {name}, n = {n}",
            what=(
                "Probability of refuting a claim that holds, at its worst over the whole boundary "
                "of ten claims: enumerated from the binomial laws, with a proof between the grid "
                "points. Above the limit no refutation could be believed."
            ),
            value=max(row["at_most"] for row in rows),
            limit=ALPHA,
            points=tuple({"method": name, "n": n} | row for row in rows),
        )
    yield Check(
        group="error",
        name="printed bounds bolder than enumerated",
        what=(
            "Counts just outside the enumerated region that the printed bound nevertheless "
            "refutes; it is what verdicts use."
        ),
        value=bold,
        limit=0,
    )


def calibration_checks(size: Size, seed: int, progress: Progress = silent) -> Iterator[Check]:
    """False alarms of whole audits of mechanisms whose loss is exactly what they claim."""
    for claim in size.claims:
        rehearsal = KnownAudit(
            truth=claim.promised,
            claim=claim,
            queries=CALIBRATION_QUERIES,
            budget=CALIBRATION_BUDGET,
        )
        refuted = missed = 0
        for done, result in enumerate(rehearsal.runs(seeds(seed, size.runs)), start=1):
            refuted += refutes(result)
            missed += result.upper < claim.promised
            progress(f"audits of a true {claim}", done, size.runs)
        limit = int(scipy.stats.binom.isf(CHANCE, size.runs, ALPHA))
        yield Check(
            group="calibration",
            name=f"false alarms, {claim} true",
            what=(
                f"Of {size.runs} whole audits at 95 % of a mechanism that loses exactly what it "
                "claims, those with a bound on the wrong side of the truth. At an error of 5 % "
                f"there would be more than {limit} with probability below 1 %."
            ),
            value=refuted + missed,
            limit=limit,
            points=(
                {"claim": str(claim), "runs": size.runs, "refuted": refuted}
                | {"upper_missed": missed, "alpha": ALPHA, "limit": limit},
            ),
        )


def replay_checks(seed: int) -> Iterator[Check]:
    """The same seed gives the same counts, another seed gives others."""
    rehearsal = KnownAudit(
        truth=1.0, claim=DP(epsilon=1.0), queries=CALIBRATION_QUERIES, budget=CALIBRATION_BUDGET
    )
    five = seeds(seed, 5)
    first, again = list[Any](), list[Any]()
    for counted in (first, again):
        with suppress(TargetError):  # its trials did not come out again
            counted += [counts_of(result) for result in rehearsal.runs(five)]
    yield Check(
        group="replay",
        name="audits that did not repeat themselves",
        what="Of five audits that were run twice with the same seed, those whose counts changed.",
        value=sum(one != other for one, other in zip(first, again, strict=True))
        if first and again
        else len(five),
        limit=0,
    )
    yield Check(
        group="replay",
        name="audits that ignore their seed",
        what="Of five audits under five seeds, those whose counts are those of another one.",
        value=len(first) - len(set(first)),
        limit=0,
    )
