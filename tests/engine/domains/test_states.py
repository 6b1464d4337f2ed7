"""Keys of states: equal for equal states only, and none for what may hold more than can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.engine.dataset_laws import state_key


@dataclass(frozen=True)
class Walk:
    xs: Any
    v: int


@dataclass(frozen=True)
class Other:
    xs: Any
    v: int


@dataclass
class Thawed:
    v: int


STATES: list[Any] = [
    None, True, 1, 1.0, np.int64(1), np.float64(1.0), -0.0, 0.0, "1", b"1", (1, 2), (1, (2,)),
    np.array([1, 2]), np.array([[1, 2]]), np.array([1.0, 2.0]), Walk(np.array([1, 2]), 3),
    Walk(np.array([1, 2]), 4), Other(np.array([1, 2]), 3),
    Labelled(np.zeros((2, 1)), np.array([0, 1])), Labelled(np.zeros((2, 1)), np.array([1, 1])),
]  # fmt: skip


def test_different_states_have_different_keys() -> None:
    keys = [state_key(each) for each in STATES]
    assert None not in keys
    assert len(set(keys)) == len(keys)


def test_equal_states_have_one_key() -> None:
    assert state_key(Walk(np.array([1, 2]), 3)) == state_key(Walk(np.array([1, 2]), 3))
    assert state_key((1, np.arange(3))) == state_key((1, np.arange(3)))


def extended() -> Walk:
    walk = Walk(np.array([1]), 1)
    object.__setattr__(walk, "memory", [])
    return walk


@pytest.mark.parametrize(
    "state", [object(), [1], {"a": 1}, Thawed(1), np.array([object()]), (1, [2]), extended(), Walk]
)
def test_what_may_hold_more_has_no_key(state: Any) -> None:
    assert state_key(state) is None
