"""Certified loss of single records. STUB: to be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpassay.attacks.observed import Flags, Observed
from dpassay.bounds import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How membership of one record is told, fixed on reference models."""

    record: int
    threshold: float
    above: bool
    expected: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """Bound for one record."""

    rule: Rule
    lower: Bound


def exposed(reference: Observed, membership: Flags, number: int) -> tuple[Rule, ...]:
    """Choose."""
    raise NotImplementedError


def certify(rules: Sequence[Rule], target: Observed, membership: Flags, *, delta: float, alpha: float) -> tuple[Certified, ...]:
    """Certify."""
    raise NotImplementedError
