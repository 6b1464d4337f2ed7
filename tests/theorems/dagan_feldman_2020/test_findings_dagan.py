"""The tables of docs/findings.md on the rows of Dagan and Feldman (2020) are computed again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

from dpassay.theorems.dagan_feldman_2020 import (
    covers,
    exponential_mechanism,
    lower_bounds,
    relabelled_sizes,
    relabelled_subsets,
    stable_learner,
    subsampling,
)
from dpassay.theorems.row import Measured
from tests.theorems.test_rows import FINDINGS

CELL = r" \| ([\d.e+-]+)"


def table(start: str, columns: int) -> list[tuple[str, ...]]:
    """Return the rows of a table that begin so."""
    return re.findall(rf"^\| {start}{CELL * columns} \|$", FINDINGS, re.MULTILINE)


def g(value: float) -> str:
    return f"{value:.6g}"


def both(measured: Measured) -> list[str]:
    """Claimed and true, for whole numbers and computed ones."""
    return [g(measured.claimed), g((measured.lower + measured.upper) / 2)]


def size_row(d: str, alpha: str) -> list[str]:
    case = (int(d), float(alpha), 0.05)
    one, other = stable_learner.dimension(*case), stable_learner.restated(*case)
    needed = stable_learner.needed(case[1], case[2], case[0])
    return [*map(g, (needed, one.claimed, other.claimed)), f"{other.claimed / one.claimed:.3f}"]


def stable_row(d: str, gamma: str, alpha: str) -> list[str]:
    found = lower_bounds.theorem(int(d), float(gamma), float(alpha))
    return [g(found.claimed), g(found.lower), g(found.upper)]


def bits_row(alpha: str, beta: str) -> list[str]:
    found = lower_bounds.bits(float(alpha), float(beta))
    return [g(found.claimed), g(found.lower)]


def excess_row(C: str, alpha: str) -> list[str]:
    found = exponential_mechanism.parameter(float(C), float(alpha))
    return [*both(found), f"{found.lower / float(alpha):.2f}"]


def large_row(C: str, k: str, epsilon: str) -> list[str]:
    c, power, e = int(C), int(k), float(epsilon)
    found = relabelled_sizes.large(c, power, e, 0.25)
    size = c * (1 + abs(math.log(e / 4))) ** power * 4 / e
    return [g(size), g(found.claimed), g(found.lower)]


def twelve_row(n: str, size: str, epsilon: str) -> list[str]:
    return both(subsampling.kept(int(n), int(size), [[1, 1], [2, 3], [3, 7]], float(epsilon)))


def subset_row(n: str, n_prime: str) -> list[str]:
    remaining = relabelled_subsets.remaining(int(n), int(n_prime))
    factor = relabelled_subsets.amplification(int(n), int(n_prime))
    numbers = (remaining.lower, remaining.claimed, factor.lower, factor.claimed)
    return [*map(g, numbers)]


ROWS: dict[str, tuple[list[tuple[str, ...]], int, Callable[..., list[str]]]] = {
    "size": (table("size", 6), 2, size_row),
    "stable": (table("best learner", 6), 3, stable_row),
    "coin": (
        table("lower coin", 4),
        2,
        lambda c, alpha: both(lower_bounds.coin(float(c), 1, float(alpha), 0.5)),
    ),
    "single": (
        table("lower single", 4),
        2,
        lambda c, alpha: both(lower_bounds.single(float(c), float(alpha), 0.5)),
    ),
    "constants": (
        table("lower constants", 4),
        2,
        lambda c, alpha: both(lower_bounds.constants(float(c), 0.5, float(alpha))),
    ),
    "bits": (table("lower bits", 4), 2, bits_row),
    "corner": (
        table("cover corner", 4),
        2,
        lambda C, alpha: both(covers.corner(int(C), float(alpha))),
    ),
    "net": (table("crowded net", 4), 2, lambda C, inverse: both(covers.net(int(C), int(inverse)))),
    "excess": (table("parameter excess", 5), 2, excess_row),
    "error": (table("no example", 6), 3, large_row),
    "bound": (
        table("size", 5),
        3,
        lambda C, k, alpha: both(relabelled_sizes.remark(int(C), int(k), float(alpha))),
    ),
    "condition": (
        table("eta condition", 4),
        3,
        lambda n, alpha, e: [f"{relabelled_sizes.step(int(n), float(alpha), float(e)).lower:.4f}"],
    ),
    "twelve": (table("twelve", 5), 3, twelve_row),
    "subset": (table("more than half", 6), 2, subset_row),
}
COUNTS = {
    "size": 4,
    "stable": 4,
    "coin": 2,
    "single": 2,
    "constants": 2,
    "bits": 3,
    "corner": 3,
    "net": 3,
    "excess": 4,
    "error": 3,
    "bound": 3,
    "condition": 2,
    "subset": 3,
    "twelve": 1,
}


@pytest.mark.parametrize("name", ROWS)
def test_the_page_says_what_is_computed(name: str) -> None:
    rows, given, compute = ROWS[name]
    assert len(rows) == COUNTS[name]
    for row in rows:
        assert compute(*row[:given]) == list(row[given:]), row


def test_by_hand() -> None:
    m = 24 * math.exp(-26 * 0.2083 / 2)
    assert f"{m:.3f} {26 / 48 * m / (1 + m):.3f}" == "1.600 0.333"
    assert f"{(1 + math.log(2)) * 4:.2f}" == "6.77"
    assert (math.ceil(6 * math.log(40)), round(1600 * (1 + math.log(20)))) == (23, 6393)
    assert f"{0.1 / (0.5 * math.log(2)):.4f}" == "0.2885"


def test_twelve_records_by_hand() -> None:
    e = math.exp(-0.999)
    above, below = 9 + 20 * e + 51 * e**2 + 140 * e**3, 13 * e + 37 * e**2 + 170 * e**3
    assert f"{e:.4f} {above:.2f} {below:.2f} {above / below:.3f}" == "0.3682 30.27 18.29 1.655"
    assert f"{math.log(above / below):.3f} {math.exp(2 * 0.999 / 4):.3f}" == "0.504 1.648"
