"""Mechanisms so small that everything about them can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled, points
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.pairs import Change, FlipLabel, Pairs
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget


@dataclass(frozen=True, kw_only=True)
class TableMechanism:
    """Answers with a law that depends on the label of record 0 alone.

    Row 0 of `table` for 0, row 1 for 1, at every query.

    `declared` is what `distribution` says, where that is to be something else.
    """

    table: tuple[tuple[float, ...], tuple[float, ...]]
    epsilon: float = 1.0
    delta: float = 0.0
    declared: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    labels: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(range(len(self.table[0]))))

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon, delta=self.delta),)

    def prepare(self, data: Labelled) -> int:
        return int(data.y[0])

    def sample(
        self, state: int, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        return rng.choice(len(self.labels), p=self.table[state], size=(size, len(queries)))

    def distribution(self, state: int, queries: NDArray[np.float64]) -> FiniteLaw:
        with np.errstate(divide="ignore"):
            row = np.log((self.declared or self.table)[state])
        return FiniteLaw(log_p=np.tile(row, (len(queries), 1)), error=1e-15)


class Sampled(TableMechanism):
    """The same without a law."""

    distribution = None  # type: ignore[assignment]


class WithWorstCase(TableMechanism):
    """The same, and it names its own worst case."""

    def pairs(self) -> tuple[WorstCase, ...]:
        pairs = Pairs(
            base=Labelled([[0.0]], [0]),  # type: ignore[arg-type]
            changes=(FlipLabel(0),),
            how="one flip",
        )
        return (
            WorstCase(
                pairs=pairs, queries=points([[0.0]], "queries"), reason="there is one record"
            ),
        )


def target_of(mechanism: Any, name: str = "toy") -> AuditTarget:
    """A target of this process only."""
    return AuditTarget(
        name=name, address=None, parameters={}, mechanism=mechanism, claims=mechanism.claims
    )


def flip_group(
    records: int = 2, queries: int = 1, changes: tuple[Change, ...] = (FlipLabel(0),)
) -> PairGroup:
    """Records labelled 0, whose first label is flipped unless other changes are given."""
    base = Labelled(np.arange(records, dtype=float)[:, None], np.zeros(records, dtype=int))
    pairs = Pairs(base=base, changes=changes, how="by hand")
    return PairGroup(
        pairs=pairs,
        queries=points(np.arange(queries)[:, None], "queries"),
        kind="data",
        reason="by hand",
    )


Function = Callable[[Labelled, NDArray[np.float64], int, np.random.Generator], NDArray[Any]]


def response(epsilon: float) -> Function:
    """Randomised response on the label of record 0.

    The truth with probability sigma(epsilon), loss exactly epsilon.
    """

    def answer(
        data: Labelled, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        truth = rng.random((size, len(queries))) < 1 / (1 + np.exp(-epsilon))
        answers: NDArray[Any] = np.where(truth, data.y[0], 1 - data.y[0])
        return answers

    return answer


def module_response(
    data: Labelled, queries: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Randomised response with loss 1, under a name that can be imported."""
    return response(1.0)(data, queries, size, rng)
