"""A Dask cluster for the tests that need one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import pytest

from dpassay.trials.cluster import Cluster, required


@contextmanager
def own_workers(number: int) -> Iterator[Any]:
    """Start a scheduler here and workers of one thread in processes of their own."""
    distributed = required()  # imported first: else its defaults would go with the setting
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as started,
    ):
        yield started


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
