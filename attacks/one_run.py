"""One-run audit (Steinke, Nasr and Jagielski 2023). STUB: to be written."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.attacks.observed import Array, Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What the guesses certify."""

    epsilon: float
    r: int
    v: int
    m: int
    alpha: float
    delta: float = 0.0


def one_run(guesses: Array, heads: Flags, *, share: float, alpha: float, delta: float = 0.0) -> OneRun:
    """Audit."""
    raise NotImplementedError
