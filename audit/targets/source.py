"""Where a target is defined: file and line, read from the source. Nothing is imported for it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dpassay.csv_files import is_file
from dpassay.targets.catalogue import ENTRIES

MOST_HOPS = 8
"""So many modules may pass a name on (`from other import name`) before the search is given up."""


class Definition(NamedTuple):
    """Where an object is bound."""

    path: Path  # with links followed
    line: int  # of `def` or `class`, not of a decorator, or of the assignment
    module: str


def defined_at(target: str) -> Definition | None:
    """Return where the object of a target is bound; None where no source can be read that does."""
    address = ENTRIES[target].address if target in ENTRIES else target
    module, _, name = address.partition(":")
    for _ in range(MOST_HOPS):
        path = _file_of(module)
        bound = None if path is None else _binding(path, name)
        if path is None or bound is None:
            return None
        if not isinstance(bound, tuple):
            return Definition(path.resolve(), bound, module)
        module, name = _absolute(bound[0], module, path), bound[1]
    return None


def files_of(module: str) -> list[Path]:
    """Return the files of a module and of the packages that it is in; those that can be found."""
    parts = module.split(".")
    found = (_file_of(".".join(parts[:k])) for k in range(1, len(parts) + 1))
    return [path.absolute() for path in found if path is not None]


def _file_of(module: str) -> Path | None:
    """Return the file of a module: of the imported one, else the first on the path."""
    known = getattr(sys.modules.get(module), "__file__", None)
    if known is not None:
        return Path(known)
    stem = module.replace(".", "/")
    for folder in (str(Path.cwd()), *sys.path):
        for path in (Path(folder, stem, "__init__.py"), Path(folder, f"{stem}.py")):
            if is_file(path):
                return path
    return None


def _binding(path: Path, name: str) -> int | tuple[str, str] | None:
    """Return the line that binds a name last, or the module and the name that it is taken from."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    found: int | tuple[str, str] | None = None
    for node in _statements(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = node.lineno if node.name == name else found
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    found = "." * node.level + (node.module or ""), alias.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == name for each in targets):
                found = node.lineno
    return found


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a module in their order, also those below `if`, `try` and `with`."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            yield from _statements(node)


def _absolute(module: str, here: str, path: Path) -> str:
    """Write a relative module name out: `.other`, said in `package.here`, is `package.other`."""
    name = module.lstrip(".")
    level = len(module) - len(name)
    if not level:
        return name
    parts = here.split(".")
    above = parts[: len(parts) - level + (path.name == "__init__.py")]
    return ".".join((*above, name)).strip(".")


def commit(folder: Path | None = None) -> str | None:
    """Return the commit that a folder is at, by default the working directory; None without one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607
            cwd=folder, capture_output=True, text=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() if found.returncode == 0 else None
