"""What the name of a target was perhaps meant to be: a file, a path with dots, a typing error.

Files are read, not imported: no code of the user's runs for a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import ModuleType

from dpassay.errors import near

MOST_FILES, MOST_BYTES = 200, 500_000
"""Files that are looked through for a name, and how large they may be."""
FOLDERS = ("*", "*/*")
"""How deep a module is looked for below the working directory."""
SKIPPED = ("venv", "node_modules", "site-packages", "build")
DATA = (".csv", ".tsv", ".xlsx", ".parquet")


def guess(look: Callable[..., str]) -> Callable[..., str]:
    """Make a function return nothing where it cannot look: a guess is never an error itself."""

    @wraps(look)
    def looked(*given: str) -> str:
        try:
            return look(*given)
        except (OSError, ValueError):  # a name too long for a file, a NUL in it
            return ""

    return looked


@guess
def meant(target: str) -> str:
    """Say what was perhaps meant by a target that is no name and no `module:object`.

    Returns
    -------
    str
        A clause that follows a semicolon, empty where nobody can tell.
    """
    if Path(target).suffix.lower() in DATA:
        return f"data are given by --data {target} --label COLUMN"
    name, separator, _ = target.partition("=")
    if separator and name.isidentifier():
        return f"a parameter is given by -p {target}, a claim by --claim {target}"
    path = Path(target if target.endswith(".py") else f"{target.replace('.', '/')}.py")
    if path.is_file():
        return _one_of(path)
    module, _, name = target.rpartition(".")
    path = Path(f"{module.replace('.', '/')}.py")
    if module and path.is_file():
        return _one_of(path, name)
    holders = [
        path for path in sorted(Path().glob("*.py"))[:MOST_FILES] if target in functions(path)
    ]
    return f"did you mean '{holders[0].stem}:{target}'?" if len(holders) == 1 else ""


@guess
def meant_module(module: str, name: str) -> str:
    """Say what was perhaps meant by `module:name` where there is no such module.

    Parameters
    ----------
    module, name : str
        As they were said: the module may be a path.
    """
    path = Path(module)
    if path.suffix == ".py" or "/" in module:
        path = path if path.suffix == ".py" else Path(f"{module}.py")
        if not path.is_file():
            return _elsewhere(path.stem, name) or f"there is no file '{path}' here"
        return f"did you mean '{dotted(path)}:{_object(path, name)}'?"
    if found := _elsewhere(module, name):
        return found
    here = [each.stem for each in Path().glob("*.py")]
    if close := near(module, here, likeness=0.75):
        return f"did you mean '{close}:{_object(Path(f'{close}.py'), name)}'?"
    return f"no '{module}.py' in the current folder, and no such package is installed"


def meant_object(name: str, known: list[str]) -> str:
    """Say which object of a module was meant, or which ones it has."""
    bare = name.partition("(")[0].strip()
    if "," in name:
        return "write several targets with blanks between them"
    if bare in known:
        return f"did you mean '{bare}'?"
    close = near(name, known)
    has = ", ".join(known[:8]) or "no function and no class"
    return f"did you mean '{close}'?" if close else f"it has {has}"


def definitions(module: ModuleType) -> list[str]:
    """Return the names of the functions and classes that the file of a module defines."""
    file = getattr(module, "__file__", None)
    found = _definitions(Path(file)) if isinstance(file, str) else ()
    return [each.name for each in found if not each.name.startswith("_")]


def functions(path: Path) -> list[str]:
    """Return the names of the functions of a file, those of four arguments first."""
    found = [each for each in _definitions(path) if isinstance(each, ast.FunctionDef)]
    found.sort(key=lambda each: len(each.args.posonlyargs) + len(each.args.args) != 4)
    return [each.name for each in found if not each.name.startswith("_")]


def dotted(path: Path) -> str:
    """Return a path as the name of a module, from the working directory if it lies below that."""
    here = Path.cwd()
    full = path.resolve()
    within = full.relative_to(here) if full.is_relative_to(here) else Path(path.name)
    return ".".join(within.with_suffix("").parts)


def _one_of(path: Path, name: str = "") -> str:
    """Say how a function of a file is given."""
    known = functions(path)
    module = dotted(path)
    chosen = name if name in known else near(name, known) if name else known[0] if known else ""
    fits = bool(name) or len(known) == 1 or _only_fit(path)
    if chosen and fits:
        return f"did you mean '{module}:{chosen}'?"
    return f"say which function, like '{module}:{chosen or 'function'}'"


def _only_fit(path: Path) -> bool:
    """Whether one function of a file alone has four arguments."""
    counts = [
        len(each.args.posonlyargs) + len(each.args.args)
        for each in _definitions(path)
        if isinstance(each, ast.FunctionDef)
    ]
    return counts.count(4) == 1


def _object(path: Path, name: str) -> str:
    """Return the object of a file that was meant, the name as it was said where there is none."""
    known = [each.name for each in _definitions(path)]
    bare = name.partition("(")[0]
    return bare if bare in known else near(bare, known) or bare


def _definitions(path: Path) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Yield the functions and classes of a file; nothing of one that cannot be read."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError):
        return
    yield from (each for each in body if isinstance(each, (ast.FunctionDef, ast.ClassDef)))


def _elsewhere(module: str, name: str) -> str:
    """Say in which folder below this one a module lies; empty where it lies in none, or several."""
    if not module.isidentifier():
        return ""
    found = [
        path
        for folder in FOLDERS
        for path in Path().glob(f"{folder}/{module}.py")
        if not any(part.startswith(".") or part in SKIPPED for part in path.parts)
    ]
    if len(found) != 1:
        return ""
    return f"did you mean '{dotted(found[0])}:{_object(found[0], name)}'?"
