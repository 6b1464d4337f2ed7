"""Claims: what is refused, how they are written, and what the record gets."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.relations import records_replaced, replace_relation


@pytest.mark.parametrize(
    "epsilon", [-1, -1e-300, math.inf, -math.inf, math.nan, "1", None, True, [1.0]]
)
def test_epsilon_out_of_range(epsilon: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        DP(epsilon=epsilon)
    assert str(refusal.value) == f"epsilon = {epsilon!r}: must be 0 or a number in [1e-100, 700]"


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, "0", None, False])
def test_delta_out_of_range(delta: Any) -> None:
    with pytest.raises(InvalidInput) as refusal:
        DP(epsilon=1.0, delta=delta)
    assert str(refusal.value) == f"delta = {delta!r}: must be a number in [0, 1)"


@pytest.mark.parametrize(
    "relation", ["add", "replace-1", "replace-02", "replace-two", "replace-2 ", "", 2, None]
)
def test_another_neighbour_relation(relation: Any) -> None:
    with pytest.raises(
        InvalidInput,
        match=r"relation = .*: must be 'replace-one', 'rep.* .* >= 2, 'add-remove', .* 'answers-",
    ):
        DP(epsilon=1.0, relation=relation)


@pytest.mark.parametrize(
    ("relation", "k"),
    [("replace-one", 1), ("replace-2", 2), ("replace-10", 10), ("replace-123", 123)],
)
def test_relations(relation: str, k: int) -> None:
    assert DP(epsilon=1.0, relation=relation).relation == relation
    assert records_replaced(relation) == k
    assert replace_relation(k) == relation


@pytest.mark.parametrize("epsilon", [1e-100, 1, 1.0, 700.0])
@pytest.mark.parametrize("delta", [0, 0.0, 1e-300, math.nextafter(1, 0)])
def test_the_whole_range_is_taken(epsilon: float, delta: float) -> None:
    assert DP(epsilon=epsilon, delta=delta).epsilon == epsilon


@pytest.mark.parametrize(
    ("claim", "text"), [(DP(epsilon=0.5), "DP(0.5)"), (DP(epsilon=2, delta=1e-5), "DP(2, 1e-05)")]
)
def test_written_short(claim: DP, text: str) -> None:
    assert str(claim) == text


def test_json_has_every_field_and_nulls_for_other_kinds() -> None:
    facts = DP(epsilon=1.0, delta=0.1, expected="refuted").as_json()
    named = {field.name for field in dataclasses.fields(DP)} - {"expected", "curve"}
    assert set(facts) == named | {"kind", "gamma", "beta1", "beta2"}
    assert (facts["kind"], facts["epsilon"], facts["delta"]) == ("DP", 1.0, 0.1)
    assert facts["gamma"] is facts["beta1"] is facts["beta2"] is None


def test_a_claim_cannot_be_changed() -> None:
    claim = DP(epsilon=1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        claim.epsilon = 2.0  # type: ignore[misc]
