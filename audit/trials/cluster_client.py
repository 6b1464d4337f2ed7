"""A client of a Dask scheduler: it connects within a time limit, and says nothing but one line."""

from __future__ import annotations

import asyncio
import logging
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from dpassay.errors import InvalidInput

EXTRA = "pip install 'dpassay[dask]'"
CONNECT = 10.0
"""Seconds for a scheduler to answer."""


def required() -> Any:
    """Return the library, or say that it is not installed."""
    try:
        import distributed
    except ImportError as error:
        raise InvalidInput(
            f"executor = 'dask': requires the extra 'dask' ({error}); {EXTRA}"
        ) from None
    return distributed


@contextmanager
def client_of(scheduler: Any) -> Iterator[Any]:
    """Open a client, to an address or our own cluster, that unpickles only Dask's own objects."""
    distributed = required()
    with _quiet():
        try:
            if isinstance(scheduler, str):
                _check(scheduler)
            with warnings.catch_warnings():
                # of other versions; those that matter are told of in one line
                warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
                client = distributed.Client(
                    scheduler,
                    timeout=CONNECT,
                    set_as_default=False,
                    deserializers=["dask", "msgpack"],
                )
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise InvalidInput(
                f"scheduler = '{scheduler}': no Dask scheduler answers there ({said})"
            ) from None
        with client:
            yield client


def _check(address: str) -> None:
    """Ask whoever is at an address what it is.

    A client would wait for ever for one that takes a connection and says nothing, and leave a
    traceback where there can be no connection.
    """
    found: Future[dict[str, Any]] = Future()

    def ask() -> None:
        try:
            found.set_result(asyncio.run(asyncio.wait_for(_identity(address), CONNECT)))
        except BaseException as error:  # noqa: BLE001  (told in the thread that waits)
            found.set_exception(error)

    # of its own: in a notebook this thread has a loop already, and Ctrl-C shall not wait
    threading.Thread(target=ask, daemon=True).start()
    try:
        kind = found.result().get("type")
    except TimeoutError as error:
        raise OSError(str(error) or f"nothing was said within {CONNECT:g} s") from None
    if kind != "Scheduler":
        raise ValueError(f"it is a {kind}")


async def _identity(address: str) -> dict[str, Any]:
    distributed = required()
    secure = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, timeout=CONNECT, connection_args=secure) as asked:
        told: dict[str, Any] = await asked.identity()
        return told


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
