"""Apart: keep a mechanism from the others of its run.

In a process of its own, or by undoing what it has done to this one.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NoReturn

import numpy as np

from dpassay.data import Dataset
from dpassay.engine.settings import Settings
from dpassay.errors import TargetError
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.target import Isolated, is_foreign, isolated

CAN_FORK = "fork" in multiprocessing.get_all_start_methods()
LONG = 86_400.0
"""Seconds for a shard of a program or service: each of its replies has a limit of its own."""
PATCHED = (np, np.random, np.linalg)
"""Modules that are put back as they were."""


@contextmanager
def apart(target: AuditTarget, data: PairGroup | None, settings: Settings) -> Iterator[AuditTarget]:
    """Give a mechanism as it is to be called.

    A user's own is called in another process, unless the settings say otherwise. Where it is called
    in this one, the data, warnings, NumPy, its handling of errors and the modules that have been
    imported are afterwards what they were.
    """
    with ExitStack() as stack:
        if not isinstance(target, Isolated) and is_foreign(target):
            if settings.executor == "inline" or not CAN_FORK:
                stack.enter_context(undone(data))
            else:
                limits = settings.limits
                if getattr(target.given, "foreign", False):
                    limits = replace(limits, seconds=max(limits.seconds, LONG))
                target = isolated(target, limits, [] if data is None else [data])
        if isinstance(target, Isolated):
            stack.callback(target.hosts.close)
        yield target


@contextmanager
def undone(data: PairGroup | None = None) -> Iterator[None]:
    """Undo what is done to this process, as far as possible; `os._exit` raises instead."""
    base = None if data is None or not isinstance(data.pairs.base, Dataset) else data.pairs.base
    held = () if base is None else tuple(array.copy() for array in base.arrays)
    leave, own, modules = os._exit, os.getpid(), dict(sys.modules)
    names = [(module, dict(vars(module))) for module in PATCHED]

    def stay(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        raise TargetError(f"it called os._exit({status}), which would have ended the run")

    os._exit = stay
    try:
        with np.errstate(), warnings.catch_warnings():
            yield
    finally:
        os._exit = leave
        for module, was in names:
            vars(module).update(was)
        for name, module in modules.items():
            sys.modules.setdefault(name, module)
        if data is not None and base is not None and base.digest != data.digest:
            for array, content in zip(base.arrays, held, strict=True):
                array.flags.writeable = True
                array[...] = content
                array.flags.writeable = False
