"""Side by side with other auditors: bound, seconds and samples on seven mechanisms.

`python -m benchmarks.peers` audits each mechanism with the pair searched for, at 90 % confidence,
with about as many samples as the best of the others took, with half and with a tenth of them, and
writes docs/benchmarks.json and docs/benchmarks.md.

The figures of the others were measured on a machine of the same kind: DP-Sniper and StatDP found
the pair, Delta-Siege was given it, DP-Auditorium too. Their samples include those of their search.
Here a sample is a run of the mechanism, whatever it was for: they are counted where they are made.
Seconds are those of the processor, of one process on one core, without the imports.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay import DP, Answers, Scalars, audit
from dpassay.mechanisms.broken.histograms import noisy_hist_2
from dpassay.mechanisms.broken.noisy_max import noisy_max_1, noisy_max_4
from dpassay.mechanisms.broken.sparse_vector import svt_4, svt_5
from dpassay.mechanisms.broken.specimen import Numbers, numbers

DOCS = Path(__file__).parents[1] / "docs"
CONFIDENCE, SEEDS = 0.9, 25
BATCH = 10_000
"""Runs of a call when raw sampling is timed."""
CERTIFIED = 0.7
"""Part of the samples that certify, at least; the rest may go into the search."""
TENTH, NEAR, SAME = 0.1, 0.95, 0.002
PARTS = {"full": 1.0, "half": 0.5, "tenth": TENTH}
"""With such parts of the peer's samples an audit is made."""
LIMIT, OVERHEAD, SLACK = 1.25, 20e-9, 1.5
MORE = 1.02
"""Samples, in units of those of the peer, that are as many."""
FULL, TRIES = 0.92, 4
"""A budget is right if an audit takes at least this part of its samples; so often it is tried."""
BUDGETS = (20_000, 200_000, 2_000_000)
"""Budgets at which a bound without a limit must grow."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What another auditor reached: bound, seconds (None where nobody timed it) and samples."""

    name: str
    bound: float
    seconds: float | None
    samples: float


@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism of the comparison.

    Parameters
    ----------
    name : str
    function : callable
        `function(data, size, rng)`.
    data : Answers or Scalars
        What datasets look like.
    claim : float
        Claimed epsilon.
    true : float
        The true one; inf if there is none.
    pair : tuple of array
        A pair that shows it, for the time of raw sampling.
    events : callable, optional
        Returns probabilities (p1, p0) of events that show it, on the eight patterns: arrays. The
        best of them is what an auditor could count if it knew the mechanism.
    peers : tuple of Peer
    any_pair : callable, optional
        The same on any pair, where that shows more.
    """

    name: str
    function: Callable[..., Any]
    data: Any
    claim: float
    true: float
    pair: tuple[Numbers, Numbers]
    events: Callable[[], tuple[Probabilities, Probabilities]] | None
    peers: tuple[Peer, ...]
    any_pair: Callable[[], tuple[Probabilities, Probabilities]] | None = None

    @property
    def best(self) -> Peer:
        """The peer with the highest bound, of those that were timed."""
        timed = [peer for peer in self.peers if peer.seconds is not None]
        return max(timed, key=lambda peer: peer.bound)


def laplace(data: Numbers, size: int, rng: np.random.Generator) -> Numbers:
    """Laplace noise of scale 1."""
    return np.asarray(data[0] + rng.laplace(size=size))


def half_laplace(data: Numbers, size: int, rng: np.random.Generator) -> Numbers:
    """Laplace noise of half the scale: loses 2."""
    return np.asarray(data[0] + rng.laplace(scale=0.5, size=size))


KEEP = math.e / (1 + math.e)


def randomised_response(data: Numbers, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Answer a bit truthfully with probability e / (1 + e)."""
    kept: NDArray[np.bool_] = rng.random(size) < KEEP
    return kept if data[0] >= 0.5 else ~kept


Probabilities = NDArray[np.float64]
Events = tuple[Probabilities, Probabilities]


def tail(at: Probabilities) -> Probabilities:
    """Return P[X >= at] for Laplace noise of scale 1."""
    return np.where(at > 0, 0.5 * np.exp(-np.abs(at)), 1 - 0.5 * np.exp(-np.abs(at)))


def laplace_events(shift: float) -> Events:
    """Half-lines of Laplace noise of scale 1 that is shifted."""
    at = np.linspace(-1.0, 1.5 * shift + 1, 2001)
    return tail(at - shift), tail(at)


def response() -> Events:
    """The answer 1 of randomised response."""
    return np.array([KEEP]), np.array([1 - KEEP])


GRID = np.linspace(-40, 40, 8001)
WEIGHTS = 0.5 * np.exp(-np.abs(GRID)) * (GRID[1] - GRID[0])
"""Quadrature of a Laplace number of scale 1."""


def noisy_max_law(answers: Numbers) -> Probabilities:
    """Return the probability of each index, with noise of scale 2."""
    at = GRID[:, None] + answers / 2
    below = 1 - tail(at[:, :, None] - answers / 2)
    others = ~np.eye(len(answers), dtype=bool)
    return np.array([WEIGHTS @ below[:, j, others[j]].prod(axis=1) for j in range(len(answers))])


def sparse_vector_law(answers: Numbers) -> Probabilities:
    """Return the probability that each answer is the first above, or none; threshold noise 4."""
    above = tail((1.0 + 4 * GRID[:, None] - answers) * 0.75)
    before = np.cumprod(1 - above, axis=1)
    first = np.column_stack([above[:, :1], above[:, 1:] * before[:, :-1], before[:, -1]])
    return np.asarray(WEIGHTS @ first)


def pattern_events(law: Callable[[Numbers], Probabilities], n: int) -> Events:
    """Events between the eight patterns of the standard benchmark: outputs by likelihood ratio."""
    up, half = np.eye(1, n)[0], np.repeat([1.0, 0.0], [n // 2, n - n // 2])
    ones = np.ones(n)
    changes = [up, -up, 2 * up - 1, 1 - 2 * up, 2 * half - 1, ones, -ones]
    pairs = [(ones, ones + change) for change in changes] + [(ones + half, 2 - half)]
    found = []
    for pair in pairs:
        a, b = map(law, pair)
        for one, other in ((a, b), (b, a)):
            order = np.argsort(-one / other)
            found += [(one, other), (one[order].cumsum()[:-1], other[order].cumsum()[:-1])]
    p1, p0 = (np.concatenate(side) for side in zip(*found, strict=True))
    return p1, p0


def noisy_max_any() -> Events:
    """On any pair: one index, or all others; one answer goes up and k others down, scale 2."""
    ones, others = [], []
    for k in (1, 4):
        for gap in np.linspace(-12, 12, 97):
            # by how much the answer lies below the k others, in scales, before and after
            low, high = (
                float(WEIGHTS @ (1 - tail(GRID - distance / 2)) ** k) for distance in (gap + 2, gap)
            )
            ones += [high, 1 - low]
            others += [low, 1 - high]
    return np.array(ones), np.array(others)


def sparse_vector_any() -> Events:
    """On any pair: k times below, then above; k answers go up, the next one down."""
    scale = 3.0  # of the threshold's noise, 4, in scales of the answers' noise, which is 4/3
    ones, others = [], []
    for k in range(1, 10):
        for level in np.linspace(-6, 6, 25):
            for last in np.linspace(-6, 6, 25):
                base, moved = (
                    float(
                        WEIGHTS
                        @ (
                            (1 - tail(scale * GRID - (level + s) * 0.75)) ** k
                            * tail(scale * GRID - (last - s) * 0.75)
                        )
                    )
                    for s in (0.0, 1.0)
                )
                ones.append(max(base, moved))
                others.append(min(base, moved))
    return np.array(ones), np.array(others)


def peers(**found: tuple[float, float | None, float]) -> tuple[Peer, ...]:
    """Make peers from bound, seconds and million samples."""
    return tuple(
        Peer(NAMES[key], bound, seconds, million * 1e6)
        for key, (bound, seconds, million) in found.items()
    )


NAMES = {
    "sniper": "DP-Sniper",
    "statdp": "StatDP",
    "auditorium": "DP-Auditorium",
    "siege": "Delta-Siege",
    "jax": "jax_privacy",
}
ROWS = (
    Row(
        "Laplace",
        laplace,
        Answers(1),
        1.0,
        1.0,
        (numbers(0), numbers(1)),
        lambda: laplace_events(1.0),
        peers(
            sniper=(0.991, 15, 60),
            statdp=(0.984, 29, 9.8),
            auditorium=(0.95, None, 0.4),
            siege=(0.996, 3.3, 16),
            jax=(0.987, None, 2),
        ),
    ),
    Row(
        "Laplace, half the scale",
        half_laplace,
        Answers(1),
        1.0,
        2.0,
        (numbers(0), numbers(1)),
        lambda: laplace_events(2.0),
        peers(
            sniper=(1.992, 21, 60),
            statdp=(1.969, 64, 11),
            auditorium=(1.90, None, 0.4),
            siege=(1.994, 3.2, 16),
            jax=(1.978, None, 2),
        ),
    ),
    Row(
        "ReportNoisyMax1",
        noisy_max_1,
        Answers(5),
        1.0,
        1.0,
        (numbers(1, 1, 1, 1, 1), numbers(2, 0, 0, 0, 0)),
        lambda: pattern_events(noisy_max_law, 5),
        peers(
            sniper=(0.975, 44, 120),
            statdp=(0.969, 48, 18),
            auditorium=(0.90, None, 0.4),
            siege=(0.978, 4.7, 16),
            jax=(0.967, None, 2),
        ),
        noisy_max_any,
    ),
    Row(
        "SVT4",
        svt_4,
        Answers(10),
        1.0,
        1.75,
        (numbers(*[1.0] * 10), numbers(2, 2, 2, 0, *[2.0] * 6)),
        lambda: pattern_events(sparse_vector_law, 10),
        peers(
            sniper=(1.600, 107, 120),
            statdp=(1.688, 136, 21),
            auditorium=(1.15, None, 0.4),
            siege=(1.645, 15, 16),
        ),
        sparse_vector_any,
    ),
    Row(
        "SVT5",
        svt_5,
        Answers(10),
        1.0,
        math.inf,
        (numbers(*[1.0] * 10), numbers(*[2.0] * 5, *[0.0] * 5)),
        None,
        peers(
            sniper=(3.684, 44, 120),
            statdp=(5.94, 251, 26),
            auditorium=(4.55, None, 0.4),
            siege=(13.39, 7.4, 16),
            jax=(11.3, None, 2),
        ),
    ),
    Row(
        "NoisyHist2",
        noisy_hist_2,
        Answers(5, moved=1),
        0.1,
        10.0,
        (numbers(1, 1, 1, 1, 1), numbers(2, 1, 1, 1, 1)),
        lambda: laplace_events(10.0),
        peers(
            sniper=(4.610, 21, 60),
            statdp=(8.70, 57, 20),
            auditorium=(5.40, None, 0.4),
            siege=(9.696, 5.6, 16),
            jax=(9.75, None, 2),
        ),
    ),
    Row(
        "randomised response",
        randomised_response,
        Scalars(0, 1, size=1),
        1.0,
        1.0,
        (numbers(0), numbers(1)),
        response,
        peers(
            sniper=(0.994, 12, 50),
            statdp=(0.984, 10, 8.4),
            auditorium=(0.95, None, 0.4),
            siege=(0.999, 2.8, 16),
            jax=(0.996, None, 2),
        ),
    ),
)


GROWING = (("SVT5", svt_5, Answers(10)), ("ReportNoisyMax4", noisy_max_4, Answers(5)))
"""Mechanisms without a true epsilon."""


class Counted:
    """A mechanism that counts its runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.runs = function, 0

    def __call__(self, data: Numbers, size: int, rng: np.random.Generator) -> Any:
        """Run `size` times."""
        self.runs += size
        return self.function(data, size, rng)


@dataclass(frozen=True, slots=True)
class Audit:
    """What one audit came to."""

    bound: float
    seconds: float
    samples: int
    budget: int


def one_audit(row: Row, budget: int, seed: int) -> Audit:
    """Audit a row's mechanism with the pair searched for."""
    counted = Counted(row.function)
    begun = time.process_time()
    result = audit(
        counted,
        claim=DP(epsilon=row.claim),
        data=row.data,
        confidence=CONFIDENCE,
        budget=budget,
        executor="inline",
        seed=seed,
        stop_early=False,
    )
    seconds = time.process_time() - begun
    if result.evidence is None:
        raise SystemExit(f"{row.name}: {result.verdict}: {result.outcome.reason}")
    return Audit(result.evidence.lower.value, seconds, counted.runs, budget)


def budget_for(row: Row, samples: float) -> int:
    """Return the largest budget whose audit takes at most so many samples.

    What the search takes depends on what it finds, so that the first tries are measured.
    """
    budget, found = int((0.8 if samples > 4e6 else CERTIFIED) * samples / 2), 0
    for _ in range(TRIES):
        spent = median(one_audit(row, budget, SEEDS + seed).samples for seed in range(3))
        found = max(found, budget if spent <= samples else 0)
        if samples * FULL <= spent <= samples:
            break
        budget = int(budget * (samples * (1 + FULL) / 2) / spent)
    return found or budget


def raw_seconds(row: Row, samples: int) -> float:
    """Time so many runs on the known pair, half on either side, in batches."""
    rng = np.random.default_rng(0)
    batches = min(math.ceil(samples / BATCH), 200)
    row.function(row.pair[0], BATCH, rng)
    begun = time.process_time()
    for batch in range(batches):
        row.function(row.pair[batch % 2], BATCH, rng)
    return (time.process_time() - begun) * samples / (batches * BATCH)


def measured(row: Row, samples: float, seeds: int) -> dict[str, float]:
    """Return medians over seeds of audits with so many samples."""
    budget = budget_for(row, samples)
    audits = [one_audit(row, budget, seed) for seed in range(seeds)]
    spent = median(each.samples for each in audits)
    return {
        "bound": median(each.bound for each in audits),
        "least": min(each.bound for each in audits),
        "most": max(each.bound for each in audits),
        "seconds": median(each.seconds for each in audits),
        "samples": spent,
        "budget": budget,
        "certified": 2 * budget / spent,
        "raw": raw_seconds(row, int(spent)),
    }


def single_event(events: Callable[[], Events] | None, samples: float) -> float | None:
    """Return the bound to be expected of the best single event, counted with all samples."""
    if events is None:
        return None
    z, n = -float(ndtri(1 - CONFIDENCE)), samples / 2
    p1, p0 = events()
    spread = np.sqrt((1 - p1) / p1 + (1 - p0) / p0)
    return float(np.max(np.log(p1 / p0) - z * spread / math.sqrt(n)))


def judged(row: Row, parts: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Hold the figures of a row against what is asked of them; None where nothing is."""
    best, full, tenth = row.best, parts["full"], parts["tenth"]
    assert best.seconds is not None
    allowed = max(best.seconds / 2, SLACK * full["raw"])
    further = full["samples"] - tenth["samples"]
    marginal = full["seconds"] - full["raw"] - tenth["seconds"] + tenth["raw"]
    limit = single_event(row.events, best.samples)
    finite = math.isfinite(row.true)
    near = finite and limit is not None
    return {
        "allowed": allowed,
        "limit": limit,
        "any_pair": single_event(row.any_pair or row.events, best.samples),
        "a": any(
            each["bound"] >= best.bound - SAME
            and each["seconds"] <= allowed
            and each["samples"] <= MORE * best.samples
            for each in parts.values()
        ),
        "b": (
            tenth["bound"] >= NEAR * best.bound and tenth["samples"] <= MORE * TENTH * best.samples
            if finite
            else None
        ),
        "c": (
            row.true - full["bound"] <= LIMIT * (row.true - limit)  # type: ignore[operator]
            and full["certified"] >= CERTIFIED
            if near
            else None
        ),
        "e": (full["seconds"] - full["raw"]) / full["samples"] <= OVERHEAD,
        "overhead": (full["seconds"] - full["raw"]) / full["samples"] * 1e9,
        "further": marginal / further * 1e9,
    }


def growth(seeds: int) -> dict[str, list[tuple[int, float, float]]]:
    """Return bound and slope per e-fold of the budget where there is no true epsilon."""
    found = {}
    for name, function, data in GROWING:
        row = Row(name, function, data, 1.0, math.inf, ROWS[0].pair, None, ())
        steps: list[tuple[int, float, float]] = []
        for budget in BUDGETS:
            bound = median(one_audit(row, budget, seed).bound for seed in range(seeds))
            slope = (bound - steps[-1][1]) / math.log(budget / steps[-1][0]) if steps else 0.0
            steps.append((budget, bound, slope))
        found[name] = steps
    return found


def words(mark: bool | None) -> str:
    """Say whether something holds."""
    return "–" if mark is None else "yes" if mark else "**no**"


def page(facts: dict[str, Any]) -> str:
    """Return docs/benchmarks.md."""
    intro = (
        f"`python -m benchmarks.peers` on {facts['date']}, {facts['machine']}; one core, medians "
        f"of {facts['seeds']} seeds, 90 % confidence. dpassay searches for pair and event. "
        "DP-Sniper and StatDP do too; DP-Auditorium, Delta-Siege and jax_privacy were given the "
        "pair, jax_privacy the score as well. The claimed epsilon is 1, for NoisyHist2 it is 0.1. "
        "A cell is a lower bound / seconds / million samples; seconds are those of the processor, "
        "imports excluded; where a peer was not timed they are left out. Peers ran once."
    )
    asked = (
        "What is asked of dpassay, against the highest bound of a peer that was timed. "
        f"(a): with no more samples (as many, half or a tenth of them), a bound at least as high "
        f"(within {SAME:g}) in the seconds allowed: half of the peer's, or {SLACK:g} times those "
        f"of raw sampling in batches of {BATCH:,}, if that is more. (b): with a tenth of the "
        f"samples, {NEAR:.0%} of its bound. "
        f"(c): {CERTIFIED:.0%} of the samples certify, and the distance to the true epsilon is at "
        f"most {LIMIT:g} times that of the best single event on the eight patterns that the peers "
        "search, known in advance and counted with all samples (its bound: limit; beside it, that "
        "of the best event on any pair). (e): at most "
        f"{OVERHEAD * 1e9:.0f} ns a sample beyond raw sampling, the search included; beside it, "
        "what every further sample costs beyond its sampling, from a tenth of the samples to all "
        f"of them. {facts['note']}"
    )
    grown = (
        "(d): the bound where there is no true epsilon, by the budget (trials per side), and by "
        "how much it grows when the budget grows by a factor of e; 1 is what n trials without a "
        f"count on the other side give. Seeds: {facts['growth_seeds']}."
    )
    heads = "mechanism|peer|its bound|ours|seconds allowed|ours|raw|limit|any pair|certifying"
    heads += "|ns a sample|further"
    lines = [
        "# Side by side with other auditors",
        "",
        intro,
        "",
        "| mechanism (true epsilon) | dpassay | half of the samples | a tenth | "
        + " | ".join(NAMES.values())
        + " |",
        "|" + "---|" * (4 + len(NAMES)),
    ]
    for row in ROWS:
        told = facts["rows"][row.name]
        cells = [f"{row.name} ({'∞' if math.isinf(row.true) else f'{row.true:g}'})"]
        cells += [_cell(told[size]) for size in PARTS]
        known = {peer.name: peer for peer in row.peers}
        for name in NAMES.values():
            cells.append(_peer(known[name]) if name in known else "–")
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        asked,
        "",
        f"| {' | '.join([*heads.split('|'), *'abce'])} |",
        "|" + "---|" * 16,
    ]
    for row in ROWS:
        told = facts["rows"][row.name]
        full, marks = told["full"], told["judged"]
        limit, any_pair = (
            "–" if marks[each] is None else f"{marks[each]:.4f}" for each in ("limit", "any_pair")
        )
        lines.append(
            f"| {row.name} | {row.best.name} | {row.best.bound:.3f} | {full['bound']:.4f} | "
            f"{marks['allowed']:.2f} | {full['seconds']:.2f} | {full['raw']:.2f} | {limit} | "
            f"{any_pair} | {full['certified']:.0%} | {marks['overhead']:.0f} | "
            f"{marks['further']:.0f} | " + " | ".join(words(marks[each]) for each in "abce") + " |"
        )
    lines += [
        "",
        grown,
        "",
        "| mechanism | " + " | ".join(f"{budget:,}" for budget in BUDGETS) + " |",
        "|" + "---|" * (1 + len(BUDGETS)),
    ]
    for name, steps in facts["growth"].items():
        cells = [f"{bound:.2f}" + (f" (+{up:.2f})" if up else "") for _, bound, up in steps]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(found: dict[str, float]) -> str:
    return f"{found['bound']:.4f} / {found['seconds']:.2f} / {found['samples'] / 1e6:.2f}"


def _peer(peer: Peer) -> str:
    seconds = "" if peer.seconds is None else f" / {peer.seconds:g}"
    return f"{peer.bound:g}{seconds} / {peer.samples / 1e6:g}"


def machine() -> str:
    """Name processor and versions."""
    told = Path("/proc/cpuinfo")
    models = [
        line.partition(":")[2].strip()
        for line in (told.read_text().splitlines() if told.exists() else [])
        if line.startswith("model name")
    ]
    cores = f"{os.cpu_count()} cores"
    return f"{models[0] if models else platform.machine()}, {cores}, NumPy {np.__version__}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--core", type=int, default=0, help="which core it is pinned to")
    parser.add_argument("--rows", default="", help="only rows whose names contain this")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.*")
    told = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {told.core})
    for row in ROWS:
        one_audit(row, 5000, 0)  # what is imported late is imported now
    rows: dict[str, Any] = {}
    for row in ROWS:
        if told.rows not in row.name:
            continue
        best = row.best
        parts = {
            name: measured(row, part * best.samples, told.seeds) for name, part in PARTS.items()
        }
        full, marks = parts["full"], judged(row, parts)
        rows[row.name] = parts | {"judged": marks}
        print(
            f"{row.name}: {_cell(full)} (raw {full['raw']:.2f} s, certified "
            f"{full['certified']:.0%}), half {_cell(parts['half'])}, a tenth "
            f"{_cell(parts['tenth'])}; {best.name} {_peer(best)}; limit "
            f"{marks['limit'] or math.nan:.4f}, {marks['overhead']:.0f} ns a sample, "
            f"{marks['further']:.0f} a further one; "
            + ", ".join(f"({each}) {words(marks[each])}" for each in "abce"),
            flush=True,
        )
    if told.rows:
        return
    facts = {
        "date": datetime.now(tz=UTC).date().isoformat(),
        "machine": machine(),
        "seeds": told.seeds,
        "note": "",
        "rows": rows,
        "growth_seeds": min(told.seeds, 5),
        "growth": growth(min(told.seeds, 5)),
    }
    print(page(facts))
    if told.write:
        (DOCS / "benchmarks.json").write_text(json.dumps(facts, indent=1) + "\n")
        (DOCS / "benchmarks.md").write_text(page(facts))


if __name__ == "__main__":
    main()
