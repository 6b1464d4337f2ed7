"""Two examples of the specification, audited whole. A union of labels that no single label shows,
and a symmetric answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.engine.result import Result
from dpassay.laws import FiniteLaw
from dpassay.pairs import replace_one
from dpassay.stats.divergence import privacy_loss

ON_ONE, ON_OTHER = np.array([0.3, 0.3, 0.4]), np.array([0.15, 0.15, 0.7])


class ThreeLabels:
    """Answers 0, 1 or 2; which law depends on whether the first label of the dataset is 0."""

    labels = (0, 1, 2)

    @property
    def claims(self) -> tuple[DP, ...]:
        return (DP(epsilon=0.35, delta=0.1),)

    def prepare(self, data: object) -> np.ndarray:
        return ON_ONE if data.y[0] == 0 else ON_OTHER  # type: ignore[attr-defined]

    def sample(
        self, state: np.ndarray, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        return rng.choice(3, size=(size, len(queries)), p=state)

    def distribution(self, state: np.ndarray, queries: np.ndarray) -> FiniteLaw:
        return FiniteLaw(log_p=np.log([state] * len(queries)), error=1e-15)


def run(mode: str) -> Result:
    pairs = replace_one([[0.0]], [0])
    return audit(
        ThreeLabels(),
        pairs=pairs,
        queries=[[0.0]],
        mode=mode,  # type: ignore[arg-type]
        budget=50_000,
        confidence=0.95,
        executor="inline",
    )


@pytest.mark.parametrize("mode", ["exact", "monte-carlo"])
def test_the_union_of_two_labels_shows_what_neither_shows(mode: str) -> None:
    union, single = math.log((0.6 - 0.1) / 0.3), math.log((0.3 - 0.1) / 0.15)
    assert (round(union, 3), round(single, 3)) == (0.511, 0.288)
    result = run(mode)
    assert result.verdict == "refuted"
    assert single < result.lower <= union + 1e-12
    assert result.evidence is not None
    assert result.evidence.worst.event == (0, 1)
    loss = privacy_loss(np.log(ON_ONE), np.log(ON_OTHER), 0.1)
    assert loss.value == pytest.approx(union, abs=1e-12)


def test_a_correct_symmetric_answer_is_not_refuted_and_little_more_would_have_been() -> None:
    def randomised_response(
        data: object, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        keep = rng.random((size, len(queries))) < 1 / (1 + math.exp(-1))
        return np.asarray(np.where(keep, data.y[0], 1 - data.y[0]))  # type: ignore[attr-defined]

    pairs = replace_one([[0.0]], [0])
    for seed in range(2):
        result = audit(
            randomised_response,
            claim=DP(epsilon=1.0),
            pairs=pairs,
            queries=[[0.0]],
            budget=10_000,
            confidence=0.95,
            seed=seed,
            executor="inline",
        )
        assert result.verdict == "not refuted"
        assert result.detectable <= 1.07
        assert result.lower <= 1.0 <= result.upper
