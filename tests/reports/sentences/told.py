"""Records to be told of, and what is told of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, Stability
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.laws import FiniteLaw
from dpassay.record.run_record import make_record
from dpassay.reports.run.view import FullView, make_view
from dpassay.targets.resolve import resolve
from tests.core.toys import TableMechanism

Record = dict[str, Any]
FACTS: Record = {
    "confidence": 0.999,
    "seed": 0,
    "profile": "default",
    "command": "",
    "catalogue": True,
    "complete": True,
}
FACTS |= {"data": None, "budget": 0, "commit": None}


@cache
def computed_record(name: str, *given: tuple[str, Any]) -> Record:
    """The record of an exact audit of one entry on its own worst cases."""
    return make_record(FACTS, computed(name, **dict(given)))


def told(result: FullView, *titles: str) -> str:
    return " ".join(
        text for part in result.parts if not titles or part.title in titles for text in part.texts
    )


def only(record: Record) -> FullView:
    (result,) = make_view(record).results
    return result


def of_score(make: Any, share: float, upper: float, lower: float | None = None) -> Record:
    """A result on score stability: its worst event is 'good' where the proportion is 0."""
    result: Record = make.computed("score.exact", "not refuted", share)
    betas = {"beta1": 1.0, "beta2": 1.092103}
    result["claim"] |= betas | {
        "kind": "ScoreStability",
        "epsilon": None,
        "delta": 0.01,
        "unit": "score",
    }
    event, p1, p0 = ([1], share, 0.0) if share else ([0], 1.0, 1.0)
    least = share if lower is None else lower
    numbers = {"lower": least, "upper": upper, "exact": share}
    result |= numbers | {"error": upper - share, "parameters": {"n": 398, "m": 10}}
    result["witness"] |= {"event": event, "p1": p1, "p0": p0, "loss": share}
    result["per_query"] = [
        make.cell(0, least, upper, exact=share) | {"event": event, "p1": p1, "p0": p0}
    ]
    return result


@cache
def computed(name: str, **given: Any) -> list[Any]:
    return list(assay([resolve(name, given)], None, Settings(mode="exact")))


def beside(result: Record, exact: float = 0.25, **more: Any) -> Record:
    """The same result with the change of probabilities that was measured beside its loss."""
    other = {"id": "b", "kind": "Stability", "exact": exact, "error": 0.0, "any_size": None}
    return result | {"other": other | {"witness": result["witness"]} | more}


@dataclass(frozen=True, kw_only=True)
class Blurred(TableMechanism):
    """Claimed to be 0.5-stable; its law is known up to an error."""

    error: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (Stability(gamma=0.5),)

    def distribution(self, state: int, queries: NDArray[np.float64]) -> FiniteLaw:
        return FiniteLaw(log_p=super().distribution(state, queries).log_p, error=self.error)
