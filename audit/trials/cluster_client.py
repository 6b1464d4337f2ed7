"""The client of a Dask cluster: imported when it is needed, and silent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpassay.errors import InvalidInput

EXTRA = "pip install 'dpassay[dask]'"
CONNECT = 10.0
"""Seconds for a scheduler to answer."""


def check_installed() -> None:
    """Raise `InvalidInput` if Dask is not installed."""
    _distributed()


@contextmanager
def connected(scheduler: Any, name: str | None) -> Iterator[Any]:
    """Be connected to a scheduler, which answers with bytes alone.

    Parameters
    ----------
    scheduler : str or distributed.SpecCluster
        Its address, or a cluster of our own.
    name : str or None
        What the user calls it.

    Raises
    ------
    InvalidInput
        If none answers.
    """
    distributed = _distributed()
    with _quiet():
        try:
            client = distributed.Client(
                scheduler,
                timeout=CONNECT,
                set_as_default=False,
                deserializers=["dask", "msgpack"],
            )
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise InvalidInput(
                f"scheduler = '{name}': no Dask scheduler answers there ({said})"
            ) from None
        with client:
            yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise InvalidInput(
            f"executor = 'dask': requires the extra 'dask' ({error}); {EXTRA}"
        ) from None
    return distributed


@contextmanager
def _quiet() -> Iterator[None]:
    """Say nothing of what Dask logs: what matters is told in one line."""
    logger = logging.getLogger("distributed")
    levels = [(handler, handler.level) for handler in logger.handlers]
    for handler, _ in levels:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in levels:
            handler.setLevel(level)
