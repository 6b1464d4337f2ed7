"""Coins of a user's own, in a process that was forked: seeded anew there, or set back."""

from __future__ import annotations

import gc
import pickle
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import TargetError
from dpassay.seeds import stream
from dpassay.targets.guard import AuditTarget

RUNS = 50
"""Runs of each dataset that show whether answers depend on it."""


def seed_anew() -> None:
    """Seed every random generator of Python, NumPy and torch in this process by the system's.

    A fork copies them as they are, global ones and those that a user's module or object keeps: two
    processes would toss the same coins, and their trials would not be independent.
    """
    gc.unfreeze()  # frozen objects would not be listed
    for each in gc.get_objects():
        kind = type(each)
        if issubclass(kind, np.random.BitGenerator) and kind.__module__.startswith("numpy."):
            each.state = kind().state
        elif issubclass(kind, random.Random):
            each.seed()
    for each in gc.get_objects():
        if type(each) is np.random.RandomState:  # it keeps every second normal number
            each.set_state(each.get_state(legacy=False) | {"has_gauss": 0})
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def alike(target: AuditTarget, datasets: Sequence[Any], queries: NDArray[np.float64]) -> int:
    """Return how many datasets give the same answers by the same coins, if all that give any do.

    Else 0; also where the mechanism tosses coins that cannot be set back.
    """
    toss_again, answers = _coins(), []
    for data in datasets:
        toss_again()
        try:
            state, rng = target.prepare(data), stream("alike")
            answers.append(pickle.dumps(target.sample(state, queries, RUNS, rng, "a dataset")))
        except TargetError:  # it does not take this one
            continue
        except Exception:  # noqa: BLE001  (a user's object that is no mere data)
            return 0
    return len(answers) if len(answers) > 1 and len(set(answers)) == 1 else 0


def _coins() -> Callable[[], None]:
    """Return what sets every random generator of this process back to where it is now."""
    gc.unfreeze()
    back: list[Callable[[], None]] = []
    for each in gc.get_objects():
        kind = type(each)
        if issubclass(kind, np.random.BitGenerator) and kind.__module__.startswith("numpy."):
            back.append(partial(setattr, each, "state", each.state))
        elif issubclass(kind, random.Random) and not issubclass(kind, random.SystemRandom):
            back.append(partial(each.setstate, each.getstate()))
        elif kind is np.random.RandomState:
            back.append(partial(each.set_state, each.get_state(legacy=False)))

    def set_back() -> None:
        for each in back:
            each()

    return set_back
