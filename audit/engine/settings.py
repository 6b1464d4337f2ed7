"""Settings: how a run finds out."""

from __future__ import annotations

import math
import multiprocessing
from dataclasses import dataclass
from typing import Literal

from dpassay.claims import Claim
from dpassay.config.options import EXECUTORS, MODES, MOST_BUDGET, MOST_JOBS, is_address
from dpassay.config.profiles import BUDGET, CONFIDENCE, MEMORY, SHARD_TIMEOUT
from dpassay.engine.domains.domain import Domain
from dpassay.errors import InvalidInput, as_real, is_count, require
from dpassay.trials.executors import Kind
from dpassay.trials.isolation.limits import Limits

ModeWanted = Literal["auto", "exact", "exhaustive", "monte-carlo"]
DETECT = 1.5
"""A sampled audit must be able to see so many times the claim, unless it is asked for something
else."""
AT_0 = 0.5
"""Or so much where nothing may leak: no multiple of 0 is a leak."""

MOST_MEMORY = 2.0**20
"""GiB; nobody has more."""

SHARE = 0.01
"""Or, of a proportion that is claimed to be next to nothing, so much more than the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run finds out.

    `mode` is 'exact', 'exhaustive', 'monte-carlo' or 'auto': exact where the mechanism has a law
    for the data, else Monte Carlo. `seed` is the root of all random streams. `domain` is what
    exhaustive mode enumerates.

    All sampled bounds of the run hold together with probability `confidence`. It is at least 0.5,
    so that no bound has an error probability above `dpassay.stats.lower_bounds.MOST_ALPHA`.

    `budget` is the certification trials per side and finalist, from 100 to ten thousand million.
    `detect` is the leak, in the units of the claim and above it, that a Monte Carlo audit must be
    able to see: by default 1.5 times the claim, or half-way to the largest leak there can be (1 for
    `Stability`), if that is less.

    A search, and an audit of your own code, end with the first proof, often after some hundred
    runs, for which an eighth of alpha is set aside. With `stop_early` False they go on to the worst
    pair, and all trials bound that. With True, audits of this package's own mechanisms end with the
    first proof too. `search_seconds` ends a search for pairs, and what it has found is certified;
    that then depends on the machine.

    No number depends on `jobs`, the processes that run trials. By default (`executor` is None) your
    own code runs in processes of its own, so that whatever it does ends no run but its own, and
    mechanisms of this package run in this process, their trials in others where `jobs` is above 1.
    'local': all trials in others. 'inline': everything in this process, to debug; what hangs there
    hangs, what ends the process ends it, and nothing keeps it from the verdict (on the command line
    your own code keeps its process). 'dask': trials and the laws of exhaustive mode on a Dask
    cluster, see docs/scale.md; `scheduler` is its address, as tcp://HOST:PORT, by default `jobs`
    workers on this machine.

    Your code may take `shard_timeout` seconds over one step (its import, one `prepare`, a portion
    of trials) before its process is killed; on Linux also `memory` GiB besides what it begins with.
    """

    mode: ModeWanted = "auto"
    seed: int = 0
    confidence: float = CONFIDENCE
    budget: int = BUDGET
    detect: float | None = None
    stop_early: bool | None = None
    search_seconds: float | None = None
    domain: Domain | None = None
    jobs: int = 1
    executor: Kind | None = None
    scheduler: str | None = None
    shard_timeout: float = SHARD_TIMEOUT
    memory: float = MEMORY

    def __post_init__(self) -> None:
        names = ("confidence", "detect", "search_seconds", "shard_timeout", "memory")
        numbers = {name: as_real(getattr(self, name)) for name in names}
        optional = ("detect", "search_seconds")
        left_open = {name: None for name in optional if getattr(self, name) is None}

        def within(name: str, most: float = math.inf) -> bool:
            """Return whether a number is above 0 and below another, or is left open."""
            return name in left_open or 0 < numbers[name] < most

        address = self.scheduler is None or is_address(self.scheduler)
        rules = {
            "mode": (self.mode in MODES, f"one of {', '.join(MODES)}"),
            "seed": (is_count(self.seed, 0), "an integer >= 0"),
            "confidence": (0.5 <= numbers["confidence"] < 1, "a number in [0.5, 1)"),
            "budget": (
                is_count(self.budget, 100) and self.budget <= MOST_BUDGET,
                f"an integer from 100 to {MOST_BUDGET:,}; more trials would never end",
            ),
            "detect": (within("detect"), "a number > 0"),
            "search_seconds": (within("search_seconds"), "a finite number > 0"),
            "stop_early": (self.stop_early in (None, True, False), "True or False"),
            "jobs": (
                is_count(self.jobs, 1) and self.jobs <= MOST_JOBS,
                f"an integer from 1 to {MOST_JOBS:,}",
            ),
            "executor": (self.executor in (None, *EXECUTORS), f"one of {', '.join(EXECUTORS)}"),
            "scheduler": (address, "an address like tcp://HOST:PORT"),
            "shard_timeout": (within("shard_timeout"), "a finite number > 0"),
            "memory": (within("memory", MOST_MEMORY), f"a number > 0 and below {MOST_MEMORY:g}"),
        }
        for name, (holds, words) in rules.items():
            require(holds, name, getattr(self, name), words)
        if self.scheduler is not None and self.executor != "dask":
            raise InvalidInput(f"scheduler = '{self.scheduler}': requires executor 'dask'")
        if self.scheduler is not None and self.jobs > 1:
            told = "has no effect with a scheduler, whose workers do the work"
            raise InvalidInput(f"jobs = {self.jobs}: {told}")
        if self.executor == "inline" and self.jobs > 1:
            told = "must be 1 with executor 'inline'; 'local' takes more"
            raise InvalidInput(f"jobs = {self.jobs}: {told}")
        if self.kind != "inline" and "fork" not in multiprocessing.get_all_start_methods():
            raise InvalidInput(
                f"executor = '{self.kind}': must be 'inline' on this system, which cannot fork "
                "processes"
            )
        if (self.mode == "exhaustive") != (self.domain is not None):
            raise InvalidInput(
                "mode 'exhaustive' and a domain to enumerate (--n and --domain) go together: one "
                "of them is missing"
            )
        whole = {name: int(getattr(self, name)) for name in ("seed", "budget", "jobs")}
        for name, value in (whole | numbers | left_open).items():
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> Kind:
        """Return where trials of mechanisms of this package run."""
        return self.executor or ("inline" if self.jobs == 1 else "local")

    @property
    def limits(self) -> Limits:
        """Return what a process with a user's code may take."""
        return Limits(seconds=self.shard_timeout, memory=self.memory)

    def wanted(self, claim: Claim, most: float) -> float:
        """The leak that a sampled audit of a claim must be able to see, at most `most`."""
        if self.detect is not None:
            return self.detect
        least = claim.promised + SHARE if claim.coupled else 0.0 if claim.promised else AT_0
        return min(max(DETECT * claim.promised, least), (claim.promised + most) / 2)
