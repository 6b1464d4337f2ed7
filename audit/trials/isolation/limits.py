"""Limits: what a user's code may take, and what it means that it took more."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dpassay.errors import LIBRARIES
from dpassay.workers.namespaces import namespaces, protects
from dpassay.workers.supervisor import LINUX


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a user's code may take."""

    seconds: float = 60.0  # for one thing that is asked: its import, a prepare, a portion of trials
    memory: float = 4.0  # GiB besides what its process begins with; kept to on Linux
    processes: int = 256  # at a time, counted ten times a second on Linux
    reply: float = 1.0  # GiB of one answer
    network: bool = True  # reaches other processes by it, where there are namespaces


PROTECTED: list[str] = []
"""Paths that user code may not write to, besides the libraries and dpassay itself."""
UNLIMITED = Limits(seconds=math.inf, memory=math.inf)
"""For what may take as long, and as much, as it does."""


class Lost(Exception):
    """A host has died or does not answer as it should; the text says what happened."""


class Overtime(Lost):
    """A host has taken too long."""


class Unsent(Exception):
    """Something cannot be given to a host, as it cannot be pickled; the text names it."""


def protected() -> tuple[str, ...]:
    """Return the paths that user code finds read-only where there are namespaces.

    A folder that holds the working directory or the one for temporary files stays writable.
    """
    return _protected(tuple(PROTECTED), Path.cwd().resolve())


@lru_cache(maxsize=1)
def _protected(more: tuple[str, ...], here: Path) -> tuple[str, ...]:
    source = Path(sys.modules["dpassay"].__file__ or "").parent
    links = (source / "__init__.py", *source.glob("*/__init__.py"))  # of an editable install
    named = (
        *LIBRARIES,
        sys.prefix,
        sys.base_prefix,
        str(source),
        *(str(each.resolve().parent) for each in links),
        *more,
    )
    needed = [here, Path(tempfile.gettempdir()).resolve()]
    paths = {
        path
        for path in (Path(each).resolve() for each in named)
        if path.exists() and not any(path in (each, *each.parents) for each in needed)
    }
    return tuple(sorted(str(path) for path in paths if paths.isdisjoint(path.parents)))


def protections() -> list[str]:
    """Return what protects this process from user code on this machine, in words for a report."""
    if not hasattr(os, "fork"):
        return []
    kind = namespaces()
    words = ["own process and session", "time and reply limits"]
    words += ["memory and process limits"] if LINUX else []
    words += [] if kind is None else ["PID namespace"]
    if not (kind and protects(kind, protected())):
        return words
    copied = "what is written into the working directory vanishes with its copy, where there is one"
    return [*words, "read-only files", copied]
