"""What a host is told of several times in one question is sent once, and forgotten once."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.trials.isolation.host import Host
from dpassay.trials.isolation.limits import Limits


def desk(operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]) -> Any:
    """Say how many objects are kept."""
    del operation, arguments
    return len(objects)


# a finalizer that fails says it here, and no test sees it else
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_object_named_twice_is_kept_once_and_forgotten() -> None:
    host = Host(desk, Limits(seconds=60.0, memory=4.0))
    try:
        held = host.call("count")["answer"]
        data = Labelled(np.zeros((2, 1)), np.array([0, 1]))
        assert host.call("count", data, known=(data, data)) == {"answer": held + 1}
        del data
        gc.collect()
        assert host.call("count") == {"answer": held}
    finally:
        host.close()
