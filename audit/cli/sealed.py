"""What is fixed before any code of the user's runs: a change of it meanwhile is an error.

The judge reads each of these files before that and uses what it read. It reads the data of an
estimator later, and looks for a change first.
"""

from __future__ import annotations

import hashlib
import os
import re
import site
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import dpassay
from dpassay.config.load import FILE, PROJECT, Config
from dpassay.errors import DpassayError
from dpassay.record.files import writable
from dpassay.record.kinds import ATTACKS
from dpassay.record.trust import shown
from dpassay.targets.source import files_of
from dpassay.trials.isolation.limits import PROTECTED
from dpassay.trials.ledger import SEALED, source_digest

ROOT = Path(dpassay.__file__).parent
LATER = {
    "run": (
        *("reports.run.page.html", "reports.run.markdown", "reports.run.pipeline"),
        *("reports.run.terminal", "record.cells"),
    ),
    "attack": (
        *("reports.attack.pages", "reports.attack.figures", "reports.run.page.catalogue"),
        "mechanisms.shared.learners",
    ),
}
"""Modules of dpassay that pages need: imported before anybody could have written into them."""
LIBRARIES = {
    "pandas": ("pandas",),
    "scipy": ("scipy.stats",),
    "sklearn": (
        *("sklearn.ensemble", "sklearn.linear_model", "sklearn.pipeline", "sklearn.preprocessing"),
        *("sklearn.decomposition", "sklearn.feature_selection", "sklearn.impute"),
    ),
    "statsmodels": ("statsmodels.api",),
}
"""Modules that dpassay depends on and that take seconds to import. If the source of a user's module
names one, the judge imports it once, and not each process that imports the user's module."""
IMPORTS = re.compile(
    r"(?m)^\s*(?:from|import)\s+(pandas|scipy(?=\.stats| import .*\bstats)|sklearn|statsmodels)\b"
)
OF_CI = ("BASH_ENV", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
"""Variables that name files by which one step of a job acts on the next."""
NAMED = re.compile(r"[\w.]+(?=:)")
"""The module of a `module:object`, wherever a command line or configuration names it."""
READ = re.compile(r"file=([^\s,'\"}]+)")
"""A file that a search reads."""


@contextmanager
def sealed(config: Config, words: Sequence[str]) -> Iterator[Callable[[], dict[str, Any]]]:
    """Hold what a command depends on, and give what says what of it has changed in the end.

    That tells it on stderr, and returns what the facts of the record become; nothing if all is as
    it was.
    """
    for name in () if "--dry-run" in words else LATER.get(words[0].partition(" ")[0], ()):
        import_module(f"dpassay.{name}")
    said = repr((*words, config.mechanisms, config.search))
    modules = set(NAMED.findall(said))
    files = {
        *(Path(name).absolute() for name in (FILE, PROJECT, config.baseline, ATTACKS.baseline)),
        *(Path(name).absolute() for name in READ.findall(said)),
        *([] if config.data is None else [Path(config.data).absolute()]),
        *(path for module in modules for path in files_of(module)),
        *ROOT.rglob("*.py"),
    }
    held = {path: _state(path) for path in files}
    for path in {path for module in modules for path in files_of(module)}:
        with suppress(Exception):  # the host tells of what cannot be imported
            for library in IMPORTS.findall(path.read_text(encoding="utf-8", errors="ignore")):
                for name in LIBRARIES[library]:
                    import_module(name)

    def changed() -> dict[str, Any]:
        names = [path for path in sorted(held) if _state(path, held[path])[1] != held[path][1]]
        if not names:
            return {}
        here, more = Path.cwd(), f" and {len(names) - 3} more" if len(names) > 3 else ""
        told = [path.relative_to(here) if path.is_relative_to(here) else path for path in names[:3]]
        why = (
            f"{', '.join(map(shown, told))}{more} changed during the run, perhaps by the code "
            "under audit, so only refutations count; if it was you, in an editor, run again"
        )
        sys.stderr.write(f"dpassay: error: {why}\n")
        return {"complete": False, "changed": why}

    # besides dpassay and the libraries: what is read, what is written, and what is imported later
    written = (config.out, config.cache)
    folders = (*filter(None, (*sys.path, *written)), site.getuserbase())
    folders += tuple(os.environ[name] for name in OF_CI if os.environ.get(name))
    folder = None if config.out is None or "--dry-run" in words else Path(config.out)
    if folder is not None:
        writable(folder)  # what is not there cannot be protected
    PROTECTED[:] = map(str, (*folders, *files))
    SEALED.update({module: source_digest(module) for module in modules})
    try:
        yield changed
    except DpassayError:
        if folder is not None:
            with suppress(OSError):
                folder.rmdir()  # only if we made it: a folder with anything in it stays
        raise
    finally:
        PROTECTED.clear()
        SEALED.clear()


def _state(path: Path, before: tuple[object, str] | None = None) -> tuple[object, str]:
    """Return what a file looks like from outside, and its digest; read only if that is new."""
    try:
        seen = path.stat()
        outside = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        if before is not None and outside == before[0]:
            return before
        if not path.is_file():
            return outside, "no file"
        with path.open("rb") as file:
            return outside, hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # a name too long, or with a null byte
        return None, type(error).__name__
