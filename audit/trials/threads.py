"""One thread for what computes with many: the processes that sample share the machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Hold the libraries that are loaded to one thread, from the call to the end of the context."""
    limited: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001
    """Look for them once for as many modules as are imported: it takes milliseconds."""
    return ThreadpoolController()
