"""Messages of counts: as few bytes as hold them, and read back as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.trials.wire import HEAD, Garbled, pack, unpack


@pytest.mark.parametrize(("most", "width"), [(255, 1), (256, 2), (2**16, 4), (2**32, 8)])
def test_counts_take_as_few_bytes_as_hold_them(most: int, width: int) -> None:
    counts = np.arange(1000, dtype=np.int64).reshape(10, 100) % 7
    counts[3, 4] = most
    message = pack(5, {"calls": counts})
    number, told = unpack(message)
    assert number == 5
    assert told["calls"].dtype == np.int64
    assert np.array_equal(told["calls"], counts)
    assert not told["calls"].flags.writeable
    assert width * 1000 < len(message) < width * 1000 + 300


@pytest.mark.parametrize(
    "value",
    [
        np.full(100, -1),
        np.full(100, 0.5),
        np.arange(5),
        np.arange(100, dtype=np.int32),
        np.zeros((0, 3), dtype=np.int64),
    ],
    ids=str,
)
def test_other_arrays_are_sent_as_they_are(value: NDArray[Any]) -> None:
    found = unpack(pack(0, value))[1]
    assert found.dtype == value.dtype
    assert found.shape == value.shape
    assert np.array_equal(found, value)


def test_an_array_of_objects_is_garbled() -> None:
    message = pack(0, np.arange(100))
    text = message[HEAD.size :].replace(b"<i8", b"|O8")
    with pytest.raises(Garbled):
        unpack(message[: HEAD.size] + text)
