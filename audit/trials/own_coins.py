"""Coins of a user's own, in a process that was forked: what it copied is seeded anew."""

from __future__ import annotations

import gc
import random
import sys

import numpy as np


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
