"""Before anything is run: checks whether things can go together, and a process of its own."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from dpassay.claims import Claim
from dpassay.data import Dataset
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput, TargetError
from dpassay.relations import within
from dpassay.search.proposals.proposal import Space
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.isolation.target import Isolated, is_foreign, isolated

CAN_FORK = "fork" in multiprocessing.get_all_start_methods()
LONG = 86_400.0
"""Seconds for a shard of a program or service: each of its replies has a limit of its own."""
PATCHED = (np, np.random, np.linalg)
"""Modules that are put back as they were."""


def check(
    targets: Sequence[AuditTarget], data: PairGroup | Space | None, settings: Settings
) -> None:
    """Raise `InvalidInput` if mechanism, data and settings can never match; nothing is drawn."""
    for target in targets:
        space = target.space or (data if isinstance(data, Space) else None)
        if space is not None:
            _check_search(target, space, settings)
        else:
            _check_pairs(target, data if isinstance(data, PairGroup) else None, settings)


def _check_pairs(target: AuditTarget, data: PairGroup | None, settings: Settings) -> None:
    """Raise `InvalidInput` if a mechanism cannot go with the pairs that it is to be asked about."""
    if settings.mode in ("exact", "exhaustive") and not target.has_law:
        raise InvalidInput(
            f"mode '{settings.mode}': {target.name} has no exact law (no method "
            "distribution); use monte-carlo"
        )
    domain = settings.domain if settings.mode == "exhaustive" else None
    for claim in target.claims:
        _check_claim(target, claim, settings)
        if domain is not None:
            with suppress(TargetError):  # the mechanism's fault, which ends its result only
                domain.check(target, claim)
        elif data is not None and not within(data.pairs.relation, claim.relation):
            raise InvalidInput(
                f"pairs: are neighbours under '{data.pairs.relation}'; must be under "
                f"'{claim.relation}', of which the claim {claim} of {target.name} speaks"
            )
    if domain is not None:
        _check_data(target, domain.dataset((0,) * domain.n)[0], settings)
    elif data is not None and not target.alone:
        _check_data(target, data.pairs.base, settings)
    elif data is None and not target.has_worst_cases:
        raise InvalidInput(
            f"{target.name}: no pairs to audit; it names no worst cases of its own, so give it data"
        )


def _check_data(target: AuditTarget, data: Any, settings: Settings) -> None:
    """Raise `InvalidInput` if the mechanism says, where it is called, that it cannot take them."""
    with apart(target, None, settings) as there:
        there.check(data)


def _check_search(target: AuditTarget, space: Space, settings: Settings) -> None:
    """Raise `InvalidInput` if pairs of a space cannot be held against the claims."""
    if settings.mode in ("exact", "exhaustive"):
        raise InvalidInput(
            f"mode '{settings.mode}': pairs are searched for ({target.name}); use auto, which "
            "computes where there is an exact law, or monte-carlo"
        )
    for claim in target.claims:
        if not claim.of_events:
            raise InvalidInput(
                f"{target.name}: {claim}: a search goes with claims of kind DP, GDP and Stability"
            )
        if not within(space.relation, claim.relation):
            raise InvalidInput(
                f"search: proposes neighbours under '{space.relation}'; must be under "
                f"'{claim.relation}', of which the claim {claim} of {target.name} speaks"
            )
        _check_claim(target, claim, settings)
    own = getattr(space, "rows", None)
    if own is not None:
        _check_data(target, own, settings)


def _check_claim(target: AuditTarget, claim: Claim, settings: Settings) -> None:
    sampled = settings.mode == "monte-carlo" or not target.has_law
    if sampled and claim.computed:
        raise InvalidInput(
            f"{target.name}: {claim} is held against computed errors only; use mode exact or "
            "exhaustive"
        )
    if sampled and claim.means and not all(map(math.isfinite, target.numbers or ())):
        raise InvalidInput(
            f"{target.name}: answers without limits have no certified mean; say numbers=(least, "
            "greatest)"
        )
    if sampled and claim.means and math.isinf(target.most(claim)):
        raise InvalidInput(
            f"numbers = {target.numbers}: range too wide: upper - lower overflows ({target.name})"
        )
    drawn = settings.mode in ("auto", "monte-carlo")
    if settings.detect is not None and drawn and claim.promised < target.most(claim):
        target.check_detect(claim, settings.detect)


@contextmanager
def apart(target: AuditTarget, data: PairGroup | None, settings: Settings) -> Iterator[AuditTarget]:
    """Yield a mechanism as it is to be called, kept from the others of its run.

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
