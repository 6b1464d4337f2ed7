"""A Dask cluster for the tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dpassay.trials.cluster import Cluster
from dpassay.trials.cluster_local import own_workers


@pytest.fixture(scope="session")
def workers() -> Iterator[Any]:
    """Two workers on this machine, for all tests of the session; started by the first."""
    with own_workers(2) as started:
        yield started


@pytest.fixture
def cluster(workers: Any) -> Iterator[Cluster]:
    """A connection with them."""
    with Cluster(workers.scheduler_address) as opened:
        yield opened
