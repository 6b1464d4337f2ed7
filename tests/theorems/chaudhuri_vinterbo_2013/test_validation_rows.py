"""Theorem 1: what the climb finds, and bad strings by enumeration."""

from __future__ import annotations

import itertools
import math

import pytest

from dpassay.theorems.chaudhuri_vinterbo_2013.validation import bad, climb_cases, climbed
from dpassay.theorems.effort import Effort


def test_two_scores_by_hand() -> None:
    """0 against 1 becomes -1 against 2: chances e^(-1/2)/2 and e^(-3/2)/2."""
    assert climbed(1.0, [0.0, 1.0]).lower == pytest.approx(1.0)


def test_the_climb_comes_near_the_claim() -> None:
    best: dict[float, float] = {}
    for case in climb_cases(Effort()):
        found = climbed(**case).upper / case["alpha2"]
        best[case["alpha2"]] = max(best.get(case["alpha2"], 0.0), found)
    assert min(best.values()) > 0.999


def test_bad_strings_by_enumeration() -> None:
    k, delta = 3, 0.6
    share = delta / k
    some = sum(
        math.prod(share if each else 1 - share for each in which)
        for which in itertools.product((False, True), repeat=k)
        if any(which)
    )
    assert bad(k, delta).lower == pytest.approx(some)
