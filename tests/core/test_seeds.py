"""Streams belong to keys, not to order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpassay.seeds import stream

GOLDEN = [372565, 885933, 114380]
KEYS: list[tuple[str | float, ...]] = [
    (0,),
    (1,),
    (0, "a"),
    (0, "b"),
    ("0",),
    ("0", "a"),
    (0, "a", 0),
    (0, "a", 1),
    ("a", 0),
    (0.5,),
    ("a,b",),
    ("a", "b"),
]


def test_equal_keys_give_equal_bytes_in_any_order() -> None:
    first = [stream(*key).bytes(16) for key in KEYS]
    second = [stream(*key).bytes(16) for key in reversed(KEYS)]
    assert first == second[::-1]


def test_different_keys_give_different_streams() -> None:
    for one, other in itertools.combinations(KEYS, 2):
        assert stream(*one).bytes(16) != stream(*other).bytes(16)


def test_a_stream_does_not_change_between_versions() -> None:
    """PCG64 seeded with the SHA-256 of the JSON of the key.

    A record must be made again years later.
    """
    assert stream(0, "screen", 3).integers(10**6, size=3).tolist() == GOLDEN


@pytest.mark.parametrize("key", [("x", "y"), (1, 2)])
def test_neighbouring_streams_are_uncorrelated(key: tuple[str | float, ...]) -> None:
    one, other = stream(*key, 0).random(10_000), stream(*key, 1).random(10_000)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.04
