"""From `module:object` to the object; what cannot be imported is told with what was meant."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from dpassay.errors import InvalidInput, near
from dpassay.workers.namespaces import lineage

DECIDING: set[int] = set()
"""Of processes that decide about a user's code, which import nothing of it: their `lineage`."""


def is_own(address: str) -> bool:
    """Return whether a name of the catalogue, or `module:object`, comes with this package."""
    module, separator, _ = address.partition(":")
    return not separator or module.partition(".")[0] == "dpassay"


def load_object(address: str, argument: str) -> Any:
    """Import `module:object`, a user's with the working directory on the path."""
    module_name, separator, name = address.partition(":")
    if not (separator and module_name and name):
        raise InvalidInput(f"{argument} = '{address}': must have the form module:object")
    if not is_own(address):
        if lineage() in DECIDING:
            raise RuntimeError(f"{argument} = '{address}' would be imported where it is judged")
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
    said = f"{argument} = '{address}'"
    if module_name.endswith(".ipynb"):
        raise InvalidInput(f"{said}: is a notebook; save the function in a file like my_api.py")
    if module_name.endswith(".py") or "/" in module_name:
        raise InvalidInput(
            _joined(f"{said}: is a file, not a module", meant_module(module_name, name))
        )
    module = _imported(module_name, name, said)
    try:
        return getattr(module, name)
    except AttributeError:
        hint = _hidden(module_name, module) or meant_object(name, definitions(module))
        raise InvalidInput(f"{said}: module '{module_name}' has no '{name}'; {hint}") from None


def _imported(module: str, name: str, said: str) -> ModuleType:
    """Import a module, for an object of this name."""
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:  # what is not ours may do anything
        told = f"{said}: cannot import '{module}'"
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            raise InvalidInput(_joined(told, meant_module(module, name))) from error
        told = f"{told} ({type(error).__name__}: {error})"
        raise InvalidInput(_joined(told, _remedy(error, module, name))) from error


def _remedy(error: BaseException, module: str, name: str) -> str:
    """Say what helps against an error that a module raises when it is imported."""
    if isinstance(error, ModuleNotFoundError):
        return "install it where dpassay is installed"
    if isinstance(error, ImportError) and "relative import" in str(error):
        return f"run dpassay in the folder above, with '{Path.cwd().name}.{module}:{name}'"
    if isinstance(error, SystemExit):
        return "put what it runs under if __name__ == '__main__':"
    return ""


def _hidden(name: str, module: ModuleType) -> str:
    """Say that another module was imported than the file of that name here."""
    here, file = Path(f"{name}.py"), getattr(module, "__file__", None)
    if not here.is_file() or (file is not None and Path(file).resolve() == here.resolve()):
        return ""
    return f"it is not the '{here}' of this folder, which must have another name"


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


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
