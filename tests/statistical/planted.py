"""One leak among many pairs: a space whose proposals are known, and mechanisms that leak at one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, GDP, Claim
from dpassay.data import Values
from dpassay.engine.detection.families import event_at, move_of
from dpassay.pairs import ReplaceValue
from dpassay.search.proposals.proposal import Proposal, Space, proposal
from dpassay.stats.scales import Ratio, Scale, scale_of

Array = NDArray[np.float64]
RELATION = "replace-one"
ONE = DP(epsilon=1.0)
LEAKING = 0.0
"""The number of the pair that leaks."""


@dataclass(frozen=True, slots=True)
class Row(Space):
    """So many pairs in a row: dataset k is (k, 0), its neighbour (k, 1). Whatever is called smaller
    than one of them leaks what the others leak."""

    pairs: int
    smaller_ones: int = 0

    @property
    def relation(self) -> str:
        return RELATION

    @property
    def words(self) -> str:
        return f"{self.pairs} pairs in a row"

    def first(self, rng: np.random.Generator, most: int) -> list[Proposal]:
        order = rng.permutation(self.pairs)[:most]
        return [_proposal(k) for k in order.tolist()]

    def more(self, best: Sequence[Proposal], rng: np.random.Generator, most: int) -> list[Proposal]:
        return []

    def smaller(self, found: Proposal) -> Iterator[Proposal]:
        first = self.pairs + 1000 * float(found.base.arrays[0][0])
        places = range(self.smaller_ones)
        return (_proposal(first + k) for k in places)


def _proposal(k: float) -> Proposal:
    return proposal(Values(np.array([float(k), 0.0])), ReplaceValue(1, 1.0), "in a row", RELATION)


Sampler = Callable[[float, int, np.random.Generator], Any]
"""So many outputs on a neighbour that leaks so much; nothing leaks at 0."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A way to leak, and how frequent its event is."""

    draw: Sampler
    frequency: float
    claim: Claim = ONE
    budget: int = 2000
    pairs: int = 40


def planted(shape: Shape, leak: float) -> Callable[..., Any]:
    """Return a mechanism that leaks so much at one pair, and at all others what is claimed."""

    def function(data: Array, size: int, rng: np.random.Generator) -> Any:
        if data[1] == 0:
            return shape.draw(0.0, size, rng)
        return shape.draw(leak if data[0] == LEAKING else shape.claim.promised, size, rng)

    return function


def label(base: Sequence[float], claim: Claim = ONE) -> Sampler:
    """The first label becomes rarer, the others likelier by one factor."""
    law, scale = np.array(base), scale_of(claim)

    def draw(leak: float, size: int, rng: np.random.Generator) -> Any:
        p = float(event_at(law[0], leak, scale)) if leak else law[0]
        other = law * (1 - p) / (1 - law[0])
        other[0] = p
        return rng.choice(len(law), p=other, size=size)

    return draw


def laplace(leak: float, size: int, rng: np.random.Generator) -> Array:
    """A number whose noise is Laplace's."""
    return leak + rng.laplace(size=size)


def gaussian(scale: Scale) -> Sampler:
    """A number whose noise is normal."""
    return lambda leak, size, rng: rng.normal(
        loc=move_of("Gaussian", leak, scale) if leak else 0.0, size=size
    )


def vector(leak: float, size: int, rng: np.random.Generator) -> Array:
    """Five numbers, the third of which leaks."""
    found = rng.laplace(size=(size, 5))
    found[:, 2] += leak
    return found


def transcript(leak: float, size: int, rng: np.random.Generator) -> Any:
    """Up to four negative answers, then a positive one: after two of them it leaks."""
    ends = label((0.2, 0.2, 0.2, 0.2, 0.2))(leak, size, rng).astype(int)
    found = np.empty(size, dtype=object)
    found[:] = [(None,) * (2, 0, 1, 3, 4)[k] + ("above",) for k in ends.tolist()]
    return found


DELTA, MU = DP(epsilon=1.0, delta=0.01), GDP(mu=1.0)
SHAPES = {
    "a frequent label": Shape(draw=label((0.73, 0.27)), frequency=0.73),
    "a 20 % label": Shape(draw=label((0.2, 0.4, 0.4)), frequency=0.2),
    "a 10 % label": Shape(draw=label((0.1, 0.9)), frequency=0.1, pairs=12),
    "a 1 % label": Shape(draw=label((0.01, 0.59, 0.4)), frequency=0.01, budget=20_000, pairs=8),
    "one of ten labels": Shape(draw=label((0.1,) * 10), frequency=0.1, pairs=12),
    "Laplace noise": Shape(draw=laplace, frequency=0.5),
    "Gaussian noise, delta": Shape(draw=gaussian(Ratio(0.01)), frequency=0.5, claim=DELTA),
    "Gaussian noise, mu": Shape(draw=gaussian(scale_of(MU)), frequency=0.5, claim=MU),
    "a vector": Shape(draw=vector, frequency=0.5),
    "a transcript": Shape(draw=transcript, frequency=0.2, pairs=12),
}
