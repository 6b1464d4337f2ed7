"""Power of a search: the smallest leak at one of many proposed pairs that is refuted in the end.

The rounds of the search are rehearsed on drawn counts (always the same ones), the certification is
computed from the binomial laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpassay.engine.alternatives import (
    Answers,
    event_at,
    move_of,
    noise_below,
    noise_quantile,
    shifts_for,
    through_event,
    worst_frequency,
)
from dpassay.engine.detection import DetectionCurve, Frontier, two_digits
from dpassay.search.events import parts
from dpassay.search.worth import Goal
from dpassay.stats.combined import BETA_SHARE
from dpassay.stats.lower_bounds import Method, choose
from dpassay.stats.power import LARGEST, POWER, counts_near, power_of
from dpassay.stats.regions import log_noise
from dpassay.stats.scales import Difference, Scale, Shift

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

RUNS = 400
"""Searches that are rehearsed."""
LABELS = (2, 10)
"""Answers through one label of which a leak is rehearsed, whatever the answers really are."""
LEVELS = np.array([0.005, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 0.995])
"""Numbers are counted between these quantiles."""
EVENTS = 3
"""Events that leak just what is claimed, at each of the other pairs and each query; they err
independently."""
NEAR = 0.02
"""The leak is found up to this part of its distance to the claim, from above."""
BEYOND = 0.4
"""So much of that beyond where it is expected is where it is looked for."""
STEEP = 3.0
"""About by how much the scale of the probability changes when the excess over the claim doubles."""
RARE = 0.005
"""Events that are chosen less often count as not refuted."""
NORMAL = 10_000
"""Counts from which on a binomial law is as good as normal for a power."""
OFF = 2.0
"""The test is one that may be chosen at counts up to so many deviations off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a search.

    Parameters
    ----------
    pairs : int
        That are looked at.
    new : int
        Of these, the ones that were not looked at before.
    draws : int
        Trials per side of each.
    safe : int
        So many of the best go on, from whatever families; 1 in the last round.
    queries : int
        That are looked at in each pair, one by one.
    """

    pairs: int
    new: int
    draws: int
    safe: int
    queries: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDesign:
    """All that what a search would see depends on; known before anything is certified.

    Parameters
    ----------
    scale : Scale
        How a leak is measured.
    promised : float
        The claimed leak.
    n : int
        Certification trials per side.
    alpha : float
        Error probability of the bound.
    rounds : tuple of Round
    pilot : int
        Trials per side that choose the test.
    numbers : bool
        Whether there are numbers in the answers, whose noise may move.
    """

    scale: Scale
    promised: float
    n: int
    alpha: float
    rounds: tuple[Round, ...]
    pilot: int
    numbers: bool

    @property
    def goal(self) -> Goal:
        """What events are chosen for."""
        return Goal(self.scale, self.promised, self.n, self.alpha)

    def smallest(self, frequency: float) -> float:
        """Return `smallest_found`."""
        return smallest_found(self, frequency)


def search_sight(design: SearchDesign, frequency: float | None) -> DetectionCurve:
    """Say what a search and the certification of what it finds would have seen.

    Parameters
    ----------
    design : SearchDesign
    frequency : float or None
        Of the event that was certified, on its likelier side; None where it does not seem to move.
        Then that of the claim's worst face is assumed.
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
    """Smallest leak above the promised one that is found and refuted with probability 0.9.

    At one of the pairs that the search begins with, through an event of a given frequency; all the
    others leak what the claim allows, through `EVENTS` events each.

    The largest one of these: a leak through one of two labels; through one of ten; of numbers, and
    where the event is not rarer than the best one of theirs, noise whose centre moves.

    Parameters
    ----------
    design : SearchDesign
    frequency : float
        Probability of the event on the likelier side.

    Returns
    -------
    float
        At most `NEAR` of its distance to the claim too large, but for the simulation; inf where
        not even the largest leak (a loss of 50, a difference of 1) would be found.
    """
    scale = design.scale
    if design.promised >= min(LARGEST, scale.most):
        return math.inf
    if frequency <= scale.allowed(design.promised).slack and scale.rarer_is_harder:
        return math.inf
    laws: list[_Laws] = [_Label(design, frequency, labels) for labels in LABELS]
    if design.numbers:
        laws += [_Noise(design, kind) for kind in shifts_for(scale)]
    found = design.promised
    for law in laws:
        found = _Rehearsal(design, law).smallest(found)
    return found


class _Laws:
    """Laws of the symbols on both sides of a pair that leaks so much.

    Parameters
    ----------
    base : array (K,)
    ordered : bool
        Whether the symbols are bins, so that events are half-lines.
    frequency : float
        Of the worst event, on the likelier side.
    """

    base: Array
    ordered: bool
    frequency: float

    def other(self, leak: float) -> Array:
        """Return the law on the neighbour."""
        raise NotImplementedError


class _Label(_Laws):
    """One label becomes rarer, all others likelier by one factor."""

    ordered = False

    def __init__(self, design: SearchDesign, frequency: float, labels: int) -> None:
        family = through_event(Answers(labels=labels), frequency, design.scale, design.promised)
        self.family, self.base, self.frequency = family, family.base, family.frequency

    def other(self, leak: float) -> Array:
        return self.family.other(leak)


class _Noise(_Laws):
    """The centre of the noise moves."""

    ordered = True
    frequency = 0.5

    def __init__(self, design: SearchDesign, kind: str) -> None:
        self.kind, self.scale = kind, design.scale
        self.edges = noise_quantile(kind, LEVELS)
        self.base = self._law(0.0)

    def _law(self, shift: float) -> Array:
        found: Array = np.diff(noise_below(self.kind, self.edges - shift), prepend=0.0, append=1.0)
        return found

    def other(self, leak: float) -> Array:
        return self._law(move_of(self.kind, leak, self.scale))


class _Rehearsal:
    """Searches and certifications of pairs whose laws are known."""

    def __init__(self, design: SearchDesign, laws: _Laws) -> None:
        self.design, self.laws, self.goal = design, laws, design.goal
        self.needed = needed(design.rounds, design.n, design.alpha)

    def smallest(self, least: float) -> float:
        """Smallest leak from `least` on that is found and refuted with probability 0.9."""
        promised = self.design.promised
        most = min(LARGEST, self.design.scale.most)
        if least >= most:
            return least
        low, high, under, over = least, math.inf, -math.inf, math.inf
        if least > promised:
            under = self._z_of(least)
            if under >= 0:
                return least
        leak, further = max(self._guess(), least + NEAR * (least - promised)), 1.0
        while math.isinf(high) or math.isinf(under):
            z = self._z_of(leak)
            further *= 1 + max(NEAR, abs(z) / STEEP)
            if z >= 0:
                high, over = leak, z
                leak = max(low, promised + (leak - promised) / further)
            elif leak >= most:
                return math.inf
            else:
                low, under = leak, z
                leak = min(most, promised + (leak - promised) * further)
        while high - low > (near := NEAR * (high - promised)):
            middle = _between(low, high, under, over, near)
            z = self._z_of(middle)
            if z >= 0:
                high, over = middle, z
            else:
                low, under = middle, z
        return high

    def _z_of(self, leak: float) -> float:
        """By how much the probability exceeds `POWER`, on the scale on which it is about a line."""
        sure = 0.5 / RUNS
        return float(ndtri(np.clip(self.probability(leak), sure, 1 - sure)) - ndtri(POWER))

    def probability(self, leak: float) -> float:
        """Probability that a pair that leaks so much is found and refuted.

        Where it is found too rarely, the probability of that.
        """
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
        fewest = design.n * min(p1, 1 - p1, p0, 1 - p0)
        powers = []
        for method in self._methods(p1, p0):
            if method == "stouffer" and fewest >= NORMAL:
                powers.append(self._normal_power(p1, p0))
                continue
            limit = Frontier.of(
                method, design.scale.allowed(design.promised), design.n, design.alpha
            )
            x = counts_near(p1, design.n)
            powers.append(power_of(p1, p0, x, limit.at(x), design.n))
        return min(powers)

    def _normal_power(self, p1: float, p0: float) -> float:
        """Power of Stouffer's test where its two counts are as good as normal.

        The asymptotic form of STATISTICS, section 6, with the larger of the standard errors at the
        leak and at what is claimed: within 0.015 of the power from the binomial laws.
        """
        design, scale = self.design, self.design.scale
        allowed = event_at(p1, design.promised, scale)
        error = max(scale.spread(p1, p0), scale.spread(p1, allowed)) / math.sqrt(design.n)
        apart = (float(scale.between(p1, p0)) - design.promised) / error
        return float(ndtr(apart + ndtri(design.alpha * (1 - BETA_SHARE))))

    def _methods(self, p1: float, p0: float) -> set[Method]:
        design, m = self.design, self.design.pilot
        x, y = m * p1, m * p0
        off_x, off_y = OFF * math.sqrt(x * (1 - p1)), OFF * math.sqrt(y * (1 - p0))
        near = [(x, y), (x + off_x, y), (x - off_x, y), (x, y + off_y), (x, y - off_y)]
        counts = {(min(m, max(0, round(a))), min(m, max(0, round(b)))) for a, b in near}
        return {
            choose(a, b, m, design.n, labels=2, scale=design.scale, alpha=design.alpha)
            for a, b in counts
        }

    def _guess(self) -> float:
        """About the leak that the search would find and the certification show."""
        design, p1, leak = self.design, self.laws.frequency, self.design.promised
        errors = float(ndtri(POWER) - ndtri(design.alpha)) / math.sqrt(design.n)
        drawn = 0
        for each, above in zip(design.rounds, self.needed, strict=True):
            drawn += each.draws
            noise = math.sqrt(1 / design.n + 1 / drawn)
            margin = self.goal.margin(drawn)
            errors = max(errors, (float(np.median(above)) + margin + 1.0) * noise)
        for _ in range(5):
            p0 = max(event_at(p1, leak, design.scale), 0.5 / design.n)
            reach = errors * design.scale.spread(p1, p0)
            leak = min(LARGEST, design.scale.most, design.promised + reach)
        return leak


def _between(low: float, high: float, under: float, over: float, near: float) -> float:
    """Return where to look next for the zero of what is about a line.

    A little beyond where it is expected, on the side that is further off: then both ends close in.
    """
    if not (math.isfinite(under) and math.isfinite(over)):
        return (low + high) / 2
    zero = low - (high - low) * under / (over - under)
    step = BEYOND * near
    aim = zero + step if high - zero > 2 * step else zero - step
    least = (high - low) / 10
    return min(max(aim, low + least), high - least)


def spreads(scale: Scale, p1: Array, p0: Array) -> Array:
    """Return `scale.spread` of many pairs of probabilities."""
    if isinstance(scale, Shift):
        found: Array = np.sqrt(np.exp(log_noise(ndtri(p1))) + np.exp(log_noise(ndtri(p0))))
    elif isinstance(scale, Difference):
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
