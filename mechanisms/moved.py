"""Where the modules of mechanisms lay when they were all in one folder.

Addresses that users have written keep working.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from dpassay.targets.moved import MOVED

PACKAGE = "dpassay.mechanisms"


class MovedFinder(MetaPathFinder, Loader):
    """Finds a module by its old name; what is imported of it are the objects of the new module."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return a spec for an old name, and None for any other."""
        package, _, name = fullname.rpartition(".")
        return ModuleSpec(fullname, self) if package == PACKAGE and name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the old name look everything up in the new module."""
        new = import_module(f"{PACKAGE}.{MOVED[module.__name__.rpartition('.')[2]]}")
        module.__doc__ = new.__doc__
        module.__getattr__ = partial(getattr, new)  # type: ignore[method-assign]
