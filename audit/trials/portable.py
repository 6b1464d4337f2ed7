"""Portable: a user's objects as bytes that another machine can read without the user's files.

Functions and classes of the user's own modules are written by value (cloudpickle), those of this
package and of installed libraries by name: they must be installed where the bytes are read. Only a
process that runs the user's code anyway ever reads them.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from dpassay.errors import LIBRARIES, TargetError

SHARED = ("dpassay", "numpy", "pandas", "scipy", "sklearn")
REMEDY = "make what it refers to importable or picklable, or use --executor local"


def portable(thing: Any) -> bytes:
    """Write an object with the user's modules it needs, or raise TargetError if impossible."""
    import cloudpickle

    try:
        with _by_value():
            written: bytes = cloudpickle.dumps(thing, protocol=5)
    except Exception as error:  # noqa: BLE001  (what is not ours may do anything)
        said = " ".join(str(error).split())
        raise TargetError(
            f"it cannot be sent to the workers of a cluster ({type(error).__name__}); {REMEDY}",
            said,
        ) from None
    return written


def loaded() -> tuple[str, ...]:
    """Return our and numerical modules loaded here, for a worker to load once for its processes."""
    return tuple(name for name in sys.modules if name.partition(".")[0] in SHARED)


def read(written: bytes, worker: str) -> Any:
    """Read an object, where its code may run; raise `TargetError` for a module it lacks."""
    try:
        return pickle.loads(written)  # noqa: S301  (by the client of this run)
    except ImportError as error:
        raise TargetError(
            f"worker {worker} cannot import '{error.name}'; install it on every worker, or use "
            "--executor local",
            str(error),
        ) from None


@contextmanager
def _by_value() -> Iterator[None]:
    """Have everything of the user's own modules written by value."""
    import cloudpickle

    known = cloudpickle.list_registry_pickle_by_value()
    own = [
        module
        for name, module in list(sys.modules.items())
        if name not in known and _is_users(name, module)
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def _is_users(name: str, module: ModuleType | None) -> bool:
    """Return whether a module is a file of the user's: not ours, and of no installed library."""
    file = getattr(module, "__file__", None)
    return (
        isinstance(file, str)
        and getattr(module, "__name__", None) == name
        and name != "__main__"  # by value anyway
        and name.partition(".")[0] != "dpassay"
        and not file.startswith(LIBRARIES)
    )
