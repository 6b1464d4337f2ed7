"""The table of hostile auditees. Each one leaks grossly, and does something else besides.

These modules are copied beside the configuration of a run and imported by its hosts, and by the
tests, which read the table. To import them does nothing: what attacks when it is imported is a text
in `hostile_imports`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CAUGHT = "caught"
"""Its own verdict is `refuted` or `error`, whatever it does."""
REFUSED = "refused"
"""It cannot be audited at all, which ends the command with 2 or 3 before anything runs."""
FREE = "free"
"""Its own verdict may be anything: it behaves well while it is audited, or forges what only its own
process knows. Nothing prevents that; it must still harm nobody else."""
GUARDED = "guarded"
"""Where hosts have namespaces of their own: as `CAUGHT`, and nothing else is touched. Where they
have none it may end the run or touch what its user may; then only: no exit 0, nothing left."""
COMMANDS = ("run", "attack", "audit", "dask")
LIFE = 30.0
"""Seconds after which whatever an auditee leaves behind ends by itself."""
MARK = "HOSTILE_OUTER"
"""Names the PID namespace in which the tests are: nothing that hits every process runs there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One hostile auditee: where it is, and what must hold.

    `limits` is how many time limits it may use up. `slow` says that it slows every answer within
    its limit, so that only the launcher bounds the whole run. `claim` says whether the
    configuration states its claim, `reaches` what nothing keeps out of its reach.
    """

    name: str
    module: str
    group: str
    holds: str
    limits: int = 0
    slow: bool = False
    commands: tuple[str, ...] = COMMANDS
    claim: bool = True
    reaches: str = ""

    @property
    def target(self) -> str:
        return f"{self.module}:{self.name}"


CASES: dict[str, Case] = {}
_DONE: set[str] = set()


def near(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """Answer the label of the nearest record: a loss of 3.9 against a claim of 1."""
    distance = np.linalg.norm(queries[:, None] - data.X, axis=2)
    label = data.y[distance.argmin(axis=1)]
    return np.where(rng.random((size, len(queries))) < 0.02, 1 - label, label)


def fair(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, (size, len(queries)))


def hostile(
    group: str, holds: str = CAUGHT, *, always: bool = False, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a trick into the table. It is called before the first answer of a process.

    With `always` before each. What it returns, if it returns anything, is the answer.
    """

    def register(trick: Callable[..., Any]) -> Callable[..., Any]:
        name = trick.__name__

        def sample(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
            if not always and name in _DONE:
                return near(data, queries, size, rng)
            _DONE.add(name)
            answer: Any = None
            with suppress(OSError):  # where it is held off, it leaks
                answer = trick(data, queries, size, rng) if trick.__code__.co_argcount else trick()
            return near(data, queries, size, rng) if answer is None else answer

        sample.__name__ = sample.__qualname__ = name
        sample.__module__ = trick.__module__
        enter(name, trick.__module__, group, holds, **more)
        return sample

    return register


def enter(name: str, module: str, group: str, holds: str = CAUGHT, **more: Any) -> None:
    assert name not in CASES, name
    CASES[name] = Case(name=name, module=module, group=group, holds=holds, **more)


def doing(
    thing: Callable[[], Any], name: str, *given: str, module: str, **more: Any
) -> Callable[..., Any]:
    """Enter a trick that is one call."""

    def trick() -> None:
        thing()

    trick.__name__, trick.__module__ = name, module
    return hostile(*given, **more)(trick)


def alone_in_namespace() -> bool:
    """Whether this process is in another PID namespace than the tests, so that it can hit all."""
    try:
        here = os.readlink("/proc/self/ns/pid")
    except OSError:
        return False
    return os.environ.get(MARK, here) != here


def reached(what: str) -> None:
    """Leave word that something was touched that should be out of reach."""
    (MARKS / f"reached-{what}").touch()


def linger(seconds: float = LIFE) -> None:
    """Sleep for a while, whatever signals come that can be caught, and end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.1)
    os._exit(0)


MARKS = Path(os.environ.get("HOSTILE_MARKS", "/nowhere"))
"""A folder beside the working directory, of which a host may have a copy only."""
PARENT = os.getppid()
"""The supervisor; where the module was imported by the judge, the judge."""
