"""The smallest leak that a search finds and refutes, at one of the pairs it begins with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.engine.detection.alternatives import (
    CountedAnswers,
    Family,
    shifted,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.engine.detection.certification import (
    RARE,
    PlannedCertification,
    errors_needed,
    leak_about,
    methods_near,
    normal_power,
    power_by,
)
from dpassay.engine.detection.crossing import NEAR, crossing
from dpassay.engine.detection.curve import DetectionCurve, two_digits
from dpassay.search.events import parts
from dpassay.search.worth import Goal
from dpassay.stats.power import LARGEST, POWER
from dpassay.stats.regions import log_noise
from dpassay.stats.scales import DifferenceScale, Scale, ShiftScale

LEVELS = np.array([0.005, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 0.995])
"""Numbers are counted between these quantiles."""


LABELS = (2, 10)
"""Answers through one label of which a leak is rehearsed, whatever the answers really are."""
RUNS = 400
"""Searches that are rehearsed."""
EVENTS = 3
"""Events that leak just what is claimed, at each of the other pairs and each query; they err
independently."""
NORMAL = 10_000
"""Counts from which on a binomial law is as good as normal for a power."""
OFF = 2.0
"""The test is one that may be chosen at counts up to so many deviations off."""

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a search: `pairs`, of which `new` were not looked at before.

    `draws` are the trials per side of each pair, whose `queries` are looked at one by one. So many
    of the best as are `safe` go on, from whatever families; 1 in the last round.
    """

    pairs: int
    new: int
    draws: int
    safe: int
    queries: int = 1


@lru_cache(maxsize=32)
def needed(rounds: tuple[Round, ...], n: int, alpha: float) -> tuple[Array, ...]:
    """Find what a pair must rank above in each round, in so many rehearsed searches: (R,) each.

    All other pairs leak what the claim allows, so that they rank by chance: by the largest of
    `EVENTS` standardised errors for each query. What was drawn of a pair adds up; in the last
    round, a part of it ranks.
    """
    rng = np.random.default_rng(71)
    events = EVENTS * max(each.queries for each in rounds)
    noise, drawn = np.zeros((RUNS, 0, events)), np.zeros((RUNS, 0))
    found = []
    for number, each in enumerate(rounds):
        last = number + 1 == len(rounds)
        # one of the first is the pair that leaks; in the end its other queries are its rivals
        new = each.new - (number == 0) + (last and events > EVENTS)
        noise = np.concatenate([noise, np.zeros((RUNS, new, events))], axis=1)
        drawn = np.concatenate([drawn, np.zeros((RUNS, new))], axis=1)
        noise += math.sqrt(each.draws) * rng.standard_normal(noise.shape)
        drawn += each.draws
        ranking, counted = noise, drawn
        if last:
            counted = np.vectorize(lambda m: parts(int(m))[1], otypes=[float])(drawn)
            part = (counted / drawn)[..., None]
            chance = np.sqrt(counted)[..., None] * np.sqrt(1 - part)
            ranking = noise * part + chance * rng.standard_normal(noise.shape)
        z = ranking.max(axis=2) / counted / np.sqrt(1 / n + 1 / counted)
        z += float(ndtri(alpha)) / np.sqrt(1 + n / counted)  # less the margin; see `Goal.margin`
        order = np.argsort(-z, axis=1)
        safe = order[:, each.safe - 1 : each.safe]
        lowest = np.full((RUNS, 1), -np.inf)
        found.append((np.take_along_axis(z, safe, axis=1) if safe.size else lowest)[:, 0])
        if not last:
            kept = order[:, : max(0, rounds[number + 1].pairs - rounds[number + 1].new - 1)]
            noise = np.take_along_axis(noise, kept[..., None], axis=1)
            drawn = np.take_along_axis(drawn, kept, axis=1)
    return tuple(found)


class Rehearsal:
    """Searches and certifications of pairs whose laws are known."""

    def __init__(self, design: SearchDesign, laws: Family) -> None:
        self.design, self.laws, self.goal = design, laws, design.goal
        self.needed = needed(design.rounds, design.n, design.alpha)

    def smallest(self, least: float) -> float:
        """Smallest leak from `least` on that is found and refuted with probability 0.9.

        Up to `dpassay.engine.detection.crossing.NEAR` of its distance to the claim.
        """
        promised, most = self.design.promised, min(LARGEST, self.design.scale.most)
        if least >= most:
            return least
        under = self._z_of(least) if least > promised else -math.inf
        if under >= 0:
            return least
        start = max(self._guess(), least + NEAR * (least - promised))
        return crossing(self._z_of, start, origin=promised, least=least, under=under, most=most)

    def _z_of(self, leak: float) -> float:
        """By how much the probability exceeds `POWER`, on the scale on which it is about a line."""
        sure = 0.5 / RUNS
        return float(ndtri(np.clip(self.probability(leak), sure, 1 - sure)) - ndtri(POWER))

    def probability(self, leak: float) -> float:
        """Return the probability that a leak is found and refuted, or only found if that is low."""
        other = self.laws.other(leak)
        found, events, directions = self._found(other)
        if found.mean() < POWER:
            return float(found.mean())
        chosen, counts = np.unique(
            np.column_stack([events, directions])[found], axis=0, return_counts=True
        )
        total = 0.0
        for event, count in zip(chosen, counts, strict=True):
            if count >= RARE * RUNS:
                shares = [float(law @ event[:-1]) for law in (self.laws.base, other)]
                p1, p0 = (min(1.0, share) for share in (shares[::-1] if event[-1] else shares))
                total += float(count) / RUNS * self._power(p1, p0)
        return total

    def _found(self, other: Array) -> tuple[Mask, Mask, Counts]:
        """Return which searches end with the pair, with what events (R, K) and directions (R,)."""
        rng = np.random.default_rng(17)
        laws = (self.laws.base, other)
        halves = [[np.zeros((RUNS, len(other)), dtype=np.int64) for _ in laws] for _ in range(2)]
        alive = np.ones(RUNS, dtype=bool)
        rounds = self.design.rounds
        for number, each in enumerate(rounds):
            for half in halves:
                for k, law in enumerate(laws):
                    half[k] += rng.multinomial(each.draws // 2, law, size=RUNS)
            one, rest = halves
            if number + 1 == len(rounds):
                one, rest = self._parted(one, rest, rng)
            events, directions, z = self._choose(one, rest)
            m = int(rest[0][0].sum())
            if number + 1 < len(rounds):
                z = (z + self._choose(rest, one)[2]) / 2 * self.goal.doubled(m)
                m *= 2
            alive &= z - self.goal.margin(m) > self.needed[number]
            if alive.mean() < POWER:
                break
        return alive, events, directions

    @staticmethod
    def _parted(
        one: list[Counts], rest: list[Counts], rng: np.random.Generator
    ) -> tuple[list[Counts], list[Counts]]:
        """Part all outputs anew, as the choice of the event does."""
        sides = [a + b for a, b in zip(one, rest, strict=True)]
        taught, selecting = parts(int(sides[0][0].sum()))
        learn = [_some(side, taught, rng) for side in sides]
        rest = [side - some for side, some in zip(sides, learn, strict=True)]
        return learn, [_some(side, selecting, rng) for side in rest]

    def _choose(self, learn: list[Counts], select: list[Counts]) -> tuple[Mask, Counts, Array]:
        """Choose events as the search does: one half proposes, the other chooses and ranks."""
        masks, counts = self._events(learn)
        m, left = int(learn[0][0].sum()), int(select[0][0].sum())
        taught, checked = self.goal.worths(m), self.goal.worths(left)
        seen = []
        for ahead, behind in ((0, 1), (1, 0)):
            event = masks(taught(counts[ahead], counts[behind]).argmax(axis=1))
            x, y = (np.where(event, select[side], 0).sum(axis=1) for side in (ahead, behind))
            seen.append((event, checked(x, y), x, y))
        (event, worth, x, y), (event1, worth1, x1, y1) = seen
        better = worth1 > worth
        return (
            np.where(better[:, None], event1, event),
            better.astype(np.int64),
            self._z(np.where(better, x1, x), np.where(better, y1, y), left),
        )

    def _events(self, learn: list[Counts]) -> tuple[Callable[[Counts], Mask], list[Counts]]:
        """Return events by their place, and the counts (R, E) of all of them on both sides."""
        symbols = learn[0].shape[1]
        if self.laws.ordered:
            order = np.broadcast_to(np.arange(symbols), learn[0].shape)
        else:
            ratio = np.log(learn[0] + 1.0) - np.log(learn[1] + 1.0)
            order = np.argsort(-ratio, axis=1, kind="stable")
        ranks = np.argsort(order, axis=1)
        counts = []
        for side in learn:
            first = np.cumsum(np.take_along_axis(side, order, axis=1), axis=1)[:, :-1]
            parts = [first, side.sum(axis=1, keepdims=True) - first]
            counts.append(np.concatenate(parts if self.laws.ordered else [*parts, side], axis=1))
        ends = symbols - 1

        def masks(place: Counts) -> Mask:
            within = ranks <= (place % ends)[:, None]
            found = np.where((place < ends)[:, None], within, ~within)
            single = np.arange(symbols) == (place - 2 * ends)[:, None]
            event: Mask = np.where((place < 2 * ends)[:, None], found, single)
            return event

        return masks, counts

    def _z(self, x: Counts, y: Counts, m: int) -> Array:
        """Return `Goal.power_z` of many counts."""
        scale, p1, p0 = self.design.scale, (x + 0.5) / (m + 1), (y + 0.5) / (m + 1)
        spread = spreads(scale, p1, p0) * math.sqrt(1 / self.design.n + 1 / m)
        leak = scale.between(p1, p0)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = (leak - self.design.promised) / spread
        return np.where(np.isfinite(leak) & (spread > 0) & np.isfinite(spread), z, -np.inf)

    def _power(self, p1: float, p0: float) -> float:
        """Probability that the certification refutes, by the weakest test that may be chosen."""
        design = self.design
        normal = design.n * min(p1, 1 - p1, p0, 1 - p0) >= NORMAL
        return min(
            normal_power(design, p1, p0)
            if normal and method == "stouffer"
            else power_by(design, method, p1, p0)
            for method in methods_near(design, p1, p0, design.pilot, labels=2, off=OFF)
        )

    def _guess(self) -> float:
        """About the leak that the search would find and the certification show."""
        errors, drawn = errors_needed(self.design), 0
        for each, above in zip(self.design.rounds, self.needed, strict=True):
            drawn += each.draws
            noise = math.sqrt(1 / self.design.n + 1 / drawn)
            margin = self.goal.margin(drawn)
            errors = max(errors, (float(np.median(above)) + margin + 1.0) * noise)
        return leak_about(self.design, self.laws.frequency, errors)


def spreads(scale: Scale, p1: Array, p0: Array) -> Array:
    """Return `scale.spread` of many pairs of probabilities."""
    if isinstance(scale, ShiftScale):
        found: Array = np.sqrt(np.exp(log_noise(ndtri(p1))) + np.exp(log_noise(ndtri(p0))))
    elif isinstance(scale, DifferenceScale):
        found = np.sqrt(p1 * (1 - p1) + p0 * (1 - p0))
    else:
        excess = np.where(p1 > scale.delta, p1 - scale.delta, np.nan)
        found = np.sqrt(p1 * (1 - p1) / excess**2 + (1 - p0) / p0)
        found = np.where(np.isnan(found), np.inf, found)
    return found


def _some(counts: Counts, most: int, rng: np.random.Generator) -> Counts:
    """Draw so many outputs of each run at random, if there are more."""
    left = counts.sum(axis=1)
    if most >= left.max():
        return counts
    wanted = np.minimum(left, most)
    found = np.empty_like(counts)
    for j in range(counts.shape[1]):
        left = left - counts[:, j]
        found[:, j] = rng.hypergeometric(counts[:, j], left, wanted)
        wanted = wanted - found[:, j]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDesign(PlannedCertification):
    """All that what a search would see depends on; known before anything is certified.

    `pilot` is the trials per side that choose the test. Where there are `numbers` in the answers,
    their noise may move.
    """

    rounds: tuple[Round, ...]
    pilot: int
    numbers: bool

    @property
    def goal(self) -> Goal:
        """Return what events are chosen for."""
        return Goal(self.scale, self.promised, self.n, self.alpha)

    def smallest(self, frequency: float) -> float:
        """Return `smallest_found`."""
        return smallest_found(self, frequency)


def search_sight(design: SearchDesign, frequency: float | None) -> DetectionCurve:
    """Say what a search and the certification of what it finds would have seen.

    `frequency`: of the event that was certified, on its likelier side; None where it does not seem
    to move. Then that of the claim's worst face is assumed.
    """
    worst = worst_frequency(design.promised, design.scale)
    if not design.scale.rarer_is_harder:
        return DetectionCurve(detectable=design.smallest(two_digits(worst)))
    at = two_digits(worst if frequency is None else min(frequency, worst))
    return DetectionCurve(
        detectable=design.smallest(at), frequency=at, assumed=frequency is None, design=design
    )


@lru_cache(maxsize=1024)
def smallest_found(design: SearchDesign, frequency: float) -> float:
    """Return the smallest leak above the promise that is found and refuted with probability 0.9.

    It is that of one of the pairs that the search begins with, through an event with probability
    `frequency` on the likelier side; all the others leak what the claim allows, through `EVENTS`
    events each. The largest one of these counts: a leak through one of two labels; through one of
    ten; of numbers, and where the event is not rarer than the best one of theirs, noise whose
    centre moves.

    The result is at most `NEAR` of its distance to the claim too large, but for the simulation; inf
    where not even the largest leak (a loss of 50, a difference of 1) would be found.
    """
    scale = design.scale
    if design.promised >= min(LARGEST, scale.most):
        return math.inf
    if frequency <= scale.allowed(design.promised).slack and scale.rarer_is_harder:
        return math.inf
    families = [
        through_event(CountedAnswers(labels=labels), frequency, scale, design.promised)
        for labels in LABELS
    ]
    if design.numbers:
        families += [shifted(kind, scale, design.promised, LEVELS) for kind in shifts_for(scale)]
    found = design.promised
    for family in families:
        found = Rehearsal(design, family).smallest(found)
    return found
