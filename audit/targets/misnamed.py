"""What the name of a target was perhaps meant to be; a guess is told, never acted on."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

from dpassay.errors import near


def meant_module(module: str, name: str) -> str:
    """Return what was perhaps meant by `module:name`, where a module may be written as a path."""
    if module.endswith(".py") or "/" in module:
        if os.path.isfile(module) and not os.path.isabs(module):  # noqa: PTH113, PTH117  (any text)
            return f"did you mean '{'.'.join(Path(module).with_suffix('').parts)}:{name}'?"
        return "must be module:object"
    close = near(module, [each.stem for each in Path().glob("*.py")], likeness=0.75)
    if close:
        return f"did you mean '{close}:{name}'?"
    return f"no '{module}.py' in the current folder, and no such package is installed"


def meant_object(name: str, known: list[str]) -> str:
    """Say which object of a module was meant, or which ones it has."""
    close = near(name, known)
    has = ", ".join(known[:8]) or "no function and no class"
    return f"did you mean '{close}'?" if close else f"it has {has}"


def definitions(module: ModuleType) -> list[str]:
    """Return the names of the functions and classes that a module defines."""
    return [
        name
        for name, each in vars(module).items()
        if getattr(each, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
