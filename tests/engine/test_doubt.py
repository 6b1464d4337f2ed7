"""Numerical doubt hides no violation, and is not called rounding where it is more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import points
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dwork_feldman_2018.projected_walk import ProjectedWalk
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from dpassay.stats.divergence import privacy_loss


@dataclass(frozen=True, kw_only=True)
class Declared:
    """Answers 1 with probability sigma(a) on the base dataset and sigma(-a) on every neighbour.
    Declares this error."""

    a: float
    error: float

    @property
    def claims(self) -> tuple[DP, ...]:
        return (DP(epsilon=1.0),)

    def prepare(self, data: object) -> float:
        return self.a if data.y[0] == 0 else -self.a  # type: ignore[attr-defined]

    def sample(
        self, state: float, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        return np.asarray(rng.random((size, len(queries))) < 1 / (1 + np.exp(-state)), dtype=int)

    def distribution(self, state: float, queries: np.ndarray) -> FiniteLaw:
        p = 1 / (1 + np.exp(-state))
        return FiniteLaw(log_p=np.log([[1 - p, p]] * len(queries)), error=self.error)


@pytest.mark.parametrize(
    ("a", "error", "verdict"),
    [
        (1.6, 1.0, "inconclusive"),
        (0.5, 1.0, "inconclusive"),
        (1.6, 1e-12, "refuted"),
        (0.5, 1e-12, "not refuted"),
    ],
)
def test_a_law_that_is_not_sure_of_itself_decides_nothing(
    a: float, error: float, verdict: str
) -> None:
    pairs = replace_one([[0.0]], [0])
    assert (
        audit(Declared(a=a, error=error), pairs=pairs, queries=[[0.0]], mode="exact").verdict
        == verdict
    )


def test_cells_are_ranked_by_what_is_certain() -> None:
    delta = 0.1
    doubtful, clear = np.log([np.nextafter(delta, 1), 0.45, 0.45]), np.log([1e-300, 0.9, 0.1])
    with np.errstate(divide="ignore"):
        base = np.log([1e-300, 0.5, 0.5])
    loss = privacy_loss(np.stack([doubtful, clear]), base, delta, 1e-15)
    assert loss.value[0] > loss.value[1]
    assert loss.certain[1] == pytest.approx(np.log(1.6), abs=1e-9)
    assert loss.certain[1] > loss.certain[0]


def test_probabilities_too_small_for_a_float_are_not_lost() -> None:
    for epsilon in (700.0, 742.0, 744.0, 800.0):
        result = audit(
            SoftMajority(epsilon=epsilon, r=2), claim=DP(epsilon=min(epsilon, 700), delta=0.1)
        )
        assert result.exact == pytest.approx(epsilon + np.log(0.4), abs=1e-6)
        assert result.verdict == ("not refuted" if epsilon == 700 else "refuted")


def test_a_domain_that_is_too_small_to_show_it_does_not_verify_a_false_claim() -> None:
    from dpassay.engine.domains.domain import Domain

    walk = ProjectedWalk(epsilon=1.0, T=8)
    result = audit(walk, claim=DP(epsilon=0.9), mode="exhaustive", domain=Domain(n=3, points=1))
    assert result.verdict == "refuted"
    assert result.lower == pytest.approx(0.969563, abs=1e-6)
    assert result.evidence is not None
    assert result.evidence.groups[result.evidence.worst.group].kind == "own"
    assert audit(walk, mode="exhaustive", domain=Domain(n=3, points=1)).verdict == "verified"


def test_a_mechanism_that_writes_into_its_data_is_an_error() -> None:
    def writes(
        data: object, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        data.y.setflags(write=True)  # type: ignore[attr-defined]
        data.y[:] = 1  # type: ignore[attr-defined]
        return np.zeros((size, len(queries)), dtype=int)

    result = audit(
        writes,
        claim=DP(epsilon=1.0),
        pairs=replace_one([[0.0]] * 3, [0, 1, 0]),
        queries=points([[0.0]], "q"),
    )
    assert result.verdict == "error"
    assert "changed the dataset" in result.outcome.reason
