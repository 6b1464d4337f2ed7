"""What a foreign program may take."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from dpassay.errors import as_real, is_count, require


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What a program and all that it starts may take; they are ended when they take more.

    `start` is the seconds for its first reply: an interpreter may have much to load. `memory` is
    the GiB of data of each process, kept to on Linux by RLIMIT_DATA: address space that is only
    reserved, as Node and Java do, does not count. `processes` at a time are counted ten times a
    second on Linux; RLIMIT_NPROC stops what outruns the count, unless the user is root. `cpu` is
    the seconds of processor time, >= 1, of each process, `file` the GiB of each file that it
    writes, `reply` the MiB of one reply.
    """

    start: float = 30.0
    memory: float = 4.0
    processes: int = 64
    cpu: float = 86_400.0
    file: float = 1.0
    reply: float = 64.0

    def __post_init__(self) -> None:
        require(is_count(self.processes), "processes", self.processes, "an integer >= 1")
        for name in ("start", "memory", "file", "reply"):
            value = getattr(self, name)
            require(0 < as_real(value) < math.inf, name, value, "a finite number > 0")
        require(1 <= as_real(self.cpu) < math.inf, "cpu", self.cpu, "a finite number >= 1")

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
