"""`data=` keeps the exact law of a mechanism that has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, audit
from dpassay.engine.searching import evidence
from dpassay.laws import FiniteLaw, bernoulli_law
from dpassay.mechanism import Mechanism
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from tests.engine.recorded import evidence_of, recorded

X = np.linspace(-1, 1, 12)[:, None]
Y = (X[:, 0] > 0.1).astype(int)
FRAME = pd.DataFrame({"x": X[:, 0], "y": Y})


@dataclass(frozen=True)
class Count(Mechanism):
    """Says whether a noisy count of label 1 is large; nothing is known beyond its law."""

    steep: float
    law: bool = True
    claims = (DP(epsilon=1.0),)

    def prepare(self, data: Any) -> int:
        return int(np.sum(data.y))

    def distribution(self, state: int, queries: Any) -> FiniteLaw | None:
        return bernoulli_law(np.full(len(queries), self._logit(state))) if self.law else None

    def sample(self, state: int, queries: Any, size: int, rng: np.random.Generator) -> Any:
        p = 1 / (1 + np.exp(-self._logit(state)))
        return (rng.random((size, len(queries))) < p).astype(int)

    def _logit(self, state: int) -> float:
        return self.steep * float(np.clip(state - 2, -2, 2))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "FIRST", 48)


@pytest.mark.parametrize("how", [{"data": (X, Y)}, {"data": FRAME, "label": "y"}])
def test_the_law_of_a_mechanism_of_the_catalogue_is_used(how: dict[str, Any]) -> None:
    mechanism = SoftMajority(epsilon=1.0, r=5, learner="majority")
    found, own = audit(mechanism, **how), audit(mechanism)
    assert (found.mode, found.verdict) == ("exact", "not refuted")
    assert found.exact == own.exact == pytest.approx(0.8774764563, abs=1e-9)
    assert {group.kind for group in evidence_of(found).groups} == {"searched", "own"}
    assert recorded([found])["results"][0]["searched"]["search"][0]["draws"] == 0


@pytest.mark.parametrize(("steep", "verdict"), [(0.9, "not refuted"), (2.0, "refuted")])
def test_the_worst_pair_of_a_law_is_found_and_a_tight_claim_stands(
    steep: float, verdict: str
) -> None:
    found = audit(Count(steep), data=(X, Y), executor="inline")
    pairs = replace_one(X[:3], np.array([1, 1, 1]), neighbours="flip")
    given = audit(Count(steep), pairs=pairs, queries=X[:1])
    assert (found.mode, found.verdict) == ("exact", verdict)
    assert found.exact is not None
    assert given.exact is not None
    assert found.exact >= given.exact - 1e-12


def test_without_a_law_or_for_other_things_it_is_sampled() -> None:
    few: dict[str, Any] = {"data": (X, Y), "budget": 300, "executor": "inline"}
    sampled: dict[str, Any] = {"mode": "monte-carlo"}
    for mechanism, more in ((Count(2.0, law=False), {}), (Count(2.0), sampled)):
        found = audit(mechanism, search_seconds=2.0, **few, **more)
        assert found.mode == "monte-carlo"
