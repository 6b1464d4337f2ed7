"""Settings: what is refused, and numbers of every type as plain ones."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay import audit, replace_one
from dpassay.claims import DP, Claim, PredictionStability, Stability
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.stats.lower_bounds import MOST_ALPHA
from tests.core.toys import response, target_of
from tests.engine.recorded import evidence_of, recorded

PAIRS = replace_one([[0.0], [1.0]], [0, 1], neighbours="flip")


def record_of(**arguments: Any) -> str:
    """The record of a small sampled audit."""
    result = audit(response(0.5), pairs=PAIRS, queries=[[0.0]], executor="inline", **arguments)
    return json.dumps([recorded([result]), result.seed, result.draws])


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"seed": np.int64(3)}, {"seed": 3}),
        ({"budget": np.int32(200)}, {"budget": 200}),
        ({"confidence": Fraction(9, 10)}, {"confidence": 0.9}),
        ({"detect": np.float32(1.5)}, {"detect": 1.5}),
        (
            {"claim": DP(epsilon=np.float32(1), delta=Fraction(1, 8))},  # type: ignore[arg-type]
            {"claim": DP(epsilon=1.0, delta=0.125)},
        ),
        ({"claim": Stability(gamma=np.float32(0.5))}, {"claim": Stability(gamma=0.5)}),  # type: ignore[arg-type]
        ({"labels": np.array([0, 1])}, {"labels": (0, 1)}),
        ({"labels": (False, True)}, {"labels": (0, 1)}),
        (
            {
                "claim": PredictionStability(gamma=Fraction(1, 2)),  # type: ignore[arg-type]
                "numbers": (np.int64(0), np.float32(1)),
            },
            {"claim": PredictionStability(gamma=0.5), "numbers": (0.0, 1.0)},
        ),
    ],
    ids=str,
)
def test_numbers_of_every_type_make_the_record_that_plain_ones_make(
    given: dict[str, Any], plain: dict[str, Any]
) -> None:
    common: dict[str, Any] = {"claim": DP(epsilon=1.0), "budget": 200}
    assert record_of(**common | given) == record_of(**common | plain)


def test_they_are_kept_as_plain_ones() -> None:
    settings = Settings(
        seed=np.int64(3),  # type: ignore[arg-type]
        budget=np.int32(200),  # type: ignore[arg-type]
        jobs=np.int8(1),  # type: ignore[arg-type]
        confidence=Fraction(9, 10),  # type: ignore[arg-type]
        detect=np.float32(1.5),  # type: ignore[arg-type]
        shard_timeout=np.float16(9),  # type: ignore[arg-type]
    )
    for kind, names in ((int, "seed budget jobs"), (float, "confidence detect shard_timeout")):
        assert {type(getattr(settings, name)) for name in names.split()} == {kind}
    claims: tuple[Claim, ...] = (
        DP(epsilon=1),
        Stability(gamma=1),
        PredictionStability(gamma=np.int64(2)),  # type: ignore[arg-type]
    )
    assert [type(claim.promised) for claim in claims] == [float] * 3
    assert DP(epsilon=1).as_json() == DP(epsilon=1.0).as_json()
    assert str(DP(epsilon=1).as_json()["epsilon"]) == "1.0"


HUGE = 10**400


@pytest.mark.parametrize(
    "make",
    [
        lambda: DP(epsilon=HUGE),
        lambda: DP(epsilon=Fraction(1, HUGE)),  # type: ignore[arg-type]
        lambda: DP(epsilon=1.0, delta=1 - Fraction(1, HUGE)),  # type: ignore[arg-type]
        lambda: DP(epsilon=1j),  # type: ignore[arg-type]
        lambda: PredictionStability(gamma=HUGE),
        lambda: Settings(confidence=1 - Fraction(1, HUGE)),  # type: ignore[arg-type]
        lambda: Settings(detect=HUGE),
        lambda: Settings(detect=math.nan),
        lambda: Settings(confidence=0.49),
        lambda: Settings(confidence=1e-9),
        lambda: Settings(confidence="0.9"),  # type: ignore[arg-type]
        lambda: Settings(seed=1.0),  # type: ignore[arg-type]
        lambda: Settings(shard_timeout=None),  # type: ignore[arg-type]
        lambda: replace_one([[0.0]], [0], seed=0.5),  # type: ignore[arg-type]
    ],
)
def test_what_no_float_can_hold_is_refused_in_one_line(make: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^[a-z_]+ = .*: must be [^\n]*$"):
        make()


def test_no_run_has_a_bound_at_an_error_probability_that_a_test_is_not_proven_at() -> None:
    how: dict[str, Any] = {"budget": 200, "confidence": 0.5, "stop_early": False}
    claim = Stability(gamma=0.4)
    result = audit(response(0.5), claim=claim, pairs=PAIRS, queries=[[0.0]], **how)
    assert evidence_of(result).lower.alpha <= MOST_ALPHA
    assert (
        evidence_of(result).upper.alpha == MOST_ALPHA / 2
    )  # the other half is the single queries'


def test_the_limits_of_numbers_are_plain() -> None:
    mechanism = FunctionMechanism(
        function=response(1.0),
        claims=(DP(epsilon=1.0),),
        numbers=(0, np.float32(1)),  # type: ignore[arg-type]
    )
    assert repr(target_of(mechanism).numbers) == "(0.0, 1.0)"


@pytest.mark.parametrize("labels", [3, (), ("a", "b")])
def test_wrong_labels_of_a_function(labels: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"^labels = .*: must be at least two integers, all different$"
    ):
        audit(response(0.5), claim=DP(epsilon=1.0), pairs=PAIRS, queries=[[0.0]], labels=labels)
