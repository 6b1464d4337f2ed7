"""Searched audits, results as a valid record has them, and a mechanism without coins."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonschema
import numpy as np
from numpy.typing import NDArray

from dpassay import DP, PointLaw, audit
from dpassay.data import Labelled
from dpassay.engine.evidence import Evidence
from dpassay.engine.result import Result
from dpassay.mechanism import Mechanism
from dpassay.record.files import dumps
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema


def recorded(results: Iterable[Result], confidence: float = 0.999) -> dict[str, Any]:
    """Return the record of results, as it is read back."""
    run = {
        "seed": 0, "confidence": confidence, "budget": 1, "profile": "", "command": "",
        "catalogue": False, "complete": True,
        "data": None, "commit": None,
    }  # fmt: skip
    record: dict[str, Any] = json.loads(dumps(make_record(run, results)))
    jsonschema.validate(record, read_schema("record"))
    return record


def evidence_of(result: Result) -> Evidence:
    """Return the evidence of a result that has some."""
    assert result.evidence is not None
    return result.evidence


def hunted(function: Any, data: Any, epsilon: float = 1.0, **more: Any) -> Result:
    """Audit with a small search in this process, which goes on after the first proof."""
    settings: dict[str, Any] = {"budget": 1000, "confidence": 0.99, "executor": "inline"}
    settings |= {"stop_early": False} | more
    return audit(function, claim=DP(epsilon=epsilon), data=data, **settings)


class LabelShare:
    """Answers the share of labels 1: there are no coins."""

    def prepare(self, data: Labelled) -> float:
        return float(data.y.mean())

    def sample(
        self, state: float, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        return np.full((size, len(queries)), state)

    def distribution(self, state: float, queries: NDArray[np.float64]) -> PointLaw | None:
        return PointLaw(values=np.full(len(queries), state), error=1e-15)


class Picky(Mechanism):
    """A noisy sum that does not take all datasets."""

    without_query = True

    def prepare(self, data: Any) -> Any:
        if data.values.max() > 1.5:
            raise ValueError("more than one")
        return data.values.sum()

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Any:
        return state + rng.laplace(scale=0.3, size=size)
