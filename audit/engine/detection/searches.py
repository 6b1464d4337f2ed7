"""The smallest leak that a search finds and refutes, at one of the pairs it begins with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.engine.detection.audits import RARE, PlannedCertification
from dpassay.engine.detection.families import (
    CountedAnswers,
    Family,
    shifted,
    shifts_for,
    through_event,
)
from dpassay.search.events import parts
from dpassay.search.worth import Goal
from dpassay.stats.power import POWER
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
NEAR, BEYOND, STEEP = 0.02, 0.4, 3.0
"""A leak is found up to this part of its distance to the claim, from above; so much of that beyond
where it is expected is where it is looked for; and about by how much the probability, as a normal
quantile, changes when the distance doubles."""

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

    def rehearsed(self, frequency: float) -> float:
        """Return the largest of the leaks of all families, at most `NEAR` of its excess too large.

        The leak is that of one of the pairs that the search begins with; all the others leak what
        the claim allows, through `EVENTS` events each. It is through one of two labels, through one
        of ten, or that of noise whose centre moves.
        """
        families = [
            through_event(CountedAnswers(labels=labels), frequency, self.scale, self.promised)
            for labels in LABELS
        ]
        if self.numbers:
            kinds = shifts_for(self.scale)
            families += [shifted(kind, self.scale, self.promised, LEVELS) for kind in kinds]
        found = self.promised
        for family in families:
            found = Rehearsal(self, family).smallest(found)
        return found

    def weakest_power(self, p1: float, p0: float) -> float:
        """Return the probability of refuting by the weakest test that may be chosen."""
        normal = self.n * min(p1, 1 - p1, p0, 1 - p0) >= NORMAL
        return min(
            self.normal_power(p1, p0)
            if normal and method == "stouffer"
            else self.power(method, p1, p0)
            for method in self.methods_near(p1, p0, self.pilot, labels=2, off=OFF)
        )


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
        """Return the smallest leak from `least` on that is found and refuted with probability 0.9.

        It is at most `NEAR` of its distance to the claim too large; inf if there is none.
        """
        promised, most = self.design.promised, self.design.top
        if least >= most:
            return least
        low, under = least, self._z_of(least) if least > promised else -math.inf
        if under >= 0:
            return least
        # step outwards from where the leak is expected until it lies between two known places
        high, over, further = math.inf, math.inf, 1.0
        place = max(self._guess(), least + NEAR * (least - promised))
        while math.isinf(high) or math.isinf(under):
            value = self._z_of(place)
            further *= 1 + max(NEAR, abs(value) / STEEP)
            if value >= 0:
                high, over = place, value
                place = max(low, promised + (place - promised) / further)
            elif place >= most:
                return math.inf
            else:
                low, under = place, value
                place = min(most, promised + (place - promised) * further)
        while high - low > (near := NEAR * (high - promised)):
            middle = (low + high) / 2
            if math.isfinite(under) and math.isfinite(over):
                # a little beyond where a line crosses 0, on the side that is further off: so both
                # ends close in
                zero, step = low - (high - low) * under / (over - under), BEYOND * near
                aim = zero + step if high - zero > 2 * step else zero - step
                edge = (high - low) / 10
                middle = min(max(aim, low + edge), high - edge)
            value = self._z_of(middle)
            if value >= 0:
                high, over = middle, value
            else:
                low, under = middle, value
        return high

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
                total += float(count) / RUNS * self.design.weakest_power(p1, p0)
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

    def _guess(self) -> float:
        """About the leak that the search would find and the certification show."""
        errors, drawn = self.design.errors_needed, 0
        for each, above in zip(self.design.rounds, self.needed, strict=True):
            drawn += each.draws
            noise = math.sqrt(1 / self.design.n + 1 / drawn)
            margin = self.goal.margin(drawn)
            errors = max(errors, (float(np.median(above)) + margin + 1.0) * noise)
        return self.design.leak_about(self.laws.frequency, errors)


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
