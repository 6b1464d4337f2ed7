"""What the probes of a service share: where it is asked, and the chances of what it answers.

The chances of coincidences between answers with coins of their own are exact, or upper bounds,
given how often each answer came, whatever their law is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from dpassay.attacks.observed import Array
from dpassay.attacks.services.interface import Service, Session
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.seeds import stream

MOST_LABELS = 10
"""Answers that are told apart, the others together."""
CANDIDATES, SCREENED = 24, 12
"""Points that are looked at, and sessions that look."""
POINTS = 4
"""Points that are then tested."""
JITTER, HAIR = 0.1, 1e-6
"""How far points lie from records, and moved points from points, in standard deviations."""


class Defect(NamedTuple):
    """A defect of a service."""

    name: str
    seen: str  # the evidence
    again: str  # how to see it again
    probability: float = 0.0  # chance to be seen of a correct service, at most; 0: deterministic


class ProbePart(NamedTuple):
    """A part of a probe, and what it takes at most."""

    name: str
    needs: str  # what there must be, see `defects.probe`
    tests: int  # that share the error probability
    room: int  # answers of a session that it needs
    # openings and queries, by the answers of a session and the openings of a birthday test
    cost: Callable[[int, int], tuple[int, int]]


SEARCH = ProbePart(
    "where to ask", "points", 0, 1,
    lambda room, _: (SCREENED * math.ceil(CANDIDATES / room), SCREENED * CANDIDATES),
)  # fmt: skip


class Probing:
    """A service that is probed: where it is asked, and what is told besides its defects."""

    def __init__(
        self,
        service: Service,
        data: Labelled,
        room: int,
        seed: int,
        *,
        share: float = 0.0,
        claim: DP | None = None,
        openings: int = 0,
    ) -> None:
        self.service, self.data, self.room = service, data, room
        self.share = share  # error probability of one test
        self.claim = claim  # about one answer
        self.openings = openings  # sessions of each birthday test
        self.points: list[Array] = []  # where answers differ, see `find_points`
        self.untold: list[str] = []  # what could not be looked at, and why
        self.remarks: list[str] = []  # what may be right or wrong, depending on what is claimed
        self.rng = stream(seed, "probe", service.name)
        spread = data.X.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)

    def session(self, *key: str | int, data: Labelled | None = None) -> Session:
        """Open a session of a new user with a deployment of its own, by default on the data."""
        where = self.data if data is None else data
        return self.service.open(where, self.service.deployment(*key), self.service.user())

    def answers(self, seed: int, user: str, points: Iterable[Array]) -> tuple[Any, ...]:
        """Return the transcript of a session that a user opens with a deployment on the data."""
        return self.service.open(self.data, seed, user).transcript(points)

    def beside(self, x: Array, distance: float) -> Array:
        """Return a point near x."""
        found: Array = x + distance * self.spread * self.rng.normal(size=x.size)
        return found

    def distances(self, x: Array) -> Array:
        """Return the squared distance of every record from a point, in standard deviations."""
        found: Array = (((self.data.X - x) / self.spread) ** 2).sum(axis=1)
        return found

    def find_points(self) -> None:
        """Find up to four points at which answers differ most.

        Each is asked a hair beside itself, in sessions and deployments apart, each time in another
        order: the first answers of two sessions may be the same though later ones are not.
        """
        rows = self.rng.permutation(len(self.data))[:CANDIDATES]
        candidates = [self.beside(self.data.X[i], JITTER) for i in rows]
        seen: list[list[Any]] = [[] for _ in candidates]
        for t in range(SCREENED):
            order = self.rng.permutation(len(candidates)).tolist()
            for first in range(0, len(candidates), self.room):
                part = order[first : first + self.room]
                beside = (self.beside(candidates[c], HAIR) for c in part)
                answers = self.session("screen", t, first).transcript(beside)
                for c, answer in zip(part, answers, strict=False):
                    seen[c].append(answer)
        rest = [len(each) - max(Counter(each).values(), default=0) for each in seen]
        best = sorted(range(len(candidates)), key=lambda c: -rest[c])[:POINTS]
        self.points = [candidates[c] for c in best if rest[c] > 0]


def shown(x: Array) -> str:
    """Return a point as text, cut where it is long."""
    values = [f"{value:.6g}" for value in x[:6]]
    return f"({', '.join(values)}{', ...' if x.size > 6 else ''})"


def is_vector(answer: Any) -> bool:
    """Return whether an answer is a tuple of numbers."""
    return isinstance(answer, tuple) and all(isinstance(each, int | float) for each in answer)


def middle(answers: tuple[Any, ...]) -> Any:
    """Return the commonest answer; of numbers or vectors that are all different their medians."""
    real = isinstance(answers[0], float) or is_vector(answers[0])
    if len(set(answers)) == len(answers) > 1 and real:
        return tuple(np.median(np.array(answers, dtype=float).reshape(len(answers), -1), axis=0))
    return Counter(answers).most_common(1)[0][0]


def halves(one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return real answers as whether each value is above the median of both sides together."""
    everything = one + other
    real = all(isinstance(each, float) or is_vector(each) for each in everything)
    if len(set(everything)) <= MOST_LABELS or not real:
        return one, other
    values = np.array([np.ravel(each) for each in everything], dtype=float)
    above = [tuple(row) for row in (values > np.median(values, axis=0)).tolist()]
    return above[: len(one)], above[len(one) :]


def fisher(
    one: tuple[int, int],
    other: tuple[int, int],
    alternative: Literal["two-sided", "greater"] = "two-sided",
) -> float:
    """Return the p-value of Fisher's exact test of a table with these two rows."""
    return float(scipy.stats.fisher_exact(np.array([one, other]), alternative=alternative).pvalue)


def block_probability(blocks: Iterable[Hashable], size: int) -> float:
    """Return the chance that exchangeable values fall into constant blocks.

    It is T! / prod b_k! over (T size)! / prod (size b_k)! for b_k blocks of the k-th value, of
    T: the share of the orders of all values in which every block is constant.
    """
    counts = Counter(blocks).values()
    log = math.lgamma(sum(counts) + 1) - math.lgamma(size * sum(counts) + 1)
    parts = (math.lgamma(size * b + 1) - math.lgamma(b + 1) for b in counts)
    return math.exp(min(0.0, log + sum(parts)))


def apart_probability(still: int, moved: int, different: int) -> float:
    """Return the probability that every value other than the mode was moved.

    The values, still + moved, are exchangeable.
    """
    if different == 0:
        return 1.0
    return math.comb(moved, different) / math.comb(still + moved, different)


def pairing_probability(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the chance that as many places of two lists (T,) agree, were one put in random order.

    If the values of one list are independent of those of the other, and the places of a list
    alike, every order of the second is equally likely, whatever the two laws are. The result is
    P[as many agreements or more], exactly: with R_k ways to choose k places of both that hold
    equal values, the k-th factorial moment of the agreements is k! R_k / (T (T-1) ... (T-k+1)).
    """
    size = len(one)
    seen = sum(a == b for a, b in zip(one, other, strict=True))
    if seen == 0:
        return 1.0
    ways, mine, theirs = np.array([1], dtype=object), Counter(one), Counter(other)
    for value in mine.keys() & theirs.keys():
        p, q = mine[value], theirs[value]
        chosen = range(min(p, q) + 1)
        factor = [math.comb(p, j) * math.comb(q, j) * math.factorial(j) for j in chosen]
        ways = np.convolve(ways, np.array(factor, dtype=object))
    left = [way * math.factorial(size - k) for k, way in enumerate(ways)]  # orders with k chosen
    total = sum(
        (-1) ** (k - m) * math.comb(k, m) * left[k]
        for m in range(seen, len(left))
        for k in range(m, len(left))
    )
    return float(Fraction(total, math.factorial(size)))


def repeat_probability(transcripts: Sequence[tuple[Hashable, ...]]) -> tuple[int, float]:
    """Return how many transcripts repeat an earlier one, and bound the chance of that many or more.

    Each transcript is of answers at one point with coins of their own, so that every order of
    the same answers is equally likely. Given which answers each has, transcript i repeats an
    earlier one with probability at most (earlier ones with the same answers) / (orders of these
    answers), whatever came before. So the repeats are at most a sum of independent events with
    these probabilities, and the tail of that sum is computed.
    """
    earlier: Counter[frozenset[tuple[Hashable, int]]] = Counter()
    seen: set[tuple[Hashable, ...]] = set()
    chances, repeats = [], 0
    for transcript in transcripts:
        counts = Counter(transcript)
        kind = frozenset(counts.items())
        same = math.prod(map(math.factorial, counts.values()))
        chances.append(min(1.0, earlier[kind] / (math.factorial(len(transcript)) // same)))
        repeats += transcript in seen
        earlier[kind] += 1
        seen.add(transcript)
    if repeats == 0:
        return 0, 1.0
    # the law of the sum is kept below the repeats, and what lies from there on is added up
    law, above = np.zeros(repeats), 0.0
    law[0] = 1.0
    for chance in filter(None, chances):
        above += float(law[-1]) * chance
        law[1:] = law[1:] * (1 - chance) + law[:-1] * chance
        law[0] *= 1 - chance
    return repeats, min(1.0, above)
