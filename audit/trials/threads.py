"""One thread for what computes with many: the processes that sample share the machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Hold the libraries that are loaded to one thread, from the call to the end of the context.

    Those that have one already are not told: after a fork that starts the threads of OpenBLAS.
    """
    every = _libraries(len(sys.modules))
    wide = [each.filepath for each in every.lib_controllers if each.num_threads != 1]
    limited: AbstractContextManager[Any] = every.select(filepath=wide).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001
    """Look for them once for as many modules as are imported: it takes milliseconds."""
    return ThreadpoolController()
