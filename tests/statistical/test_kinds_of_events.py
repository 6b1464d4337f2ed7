"""Kinds of answers whose event is more than one threshold: broken ones are refuted, twins are not.
Each function spends `part` of epsilon on each of two steps: one is too much, half is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay import DP, Answers, audit
from dpassay.engine.result import Result

Array = NDArray[np.float64]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_pairs")]


def selected(data: Array, size: int, rng: np.random.Generator, part: float) -> Any:
    """Select a column by the exponential mechanism, and measure it."""
    weights = np.exp(part / 2 * (data - data.max()))
    column = rng.choice(len(data), size, p=weights / weights.sum())
    noisy = np.round(data[column] + rng.laplace(0, 1 / part, size), 2)
    return [("abc"[k], x) for k, x in zip(column.tolist(), noisy.tolist(), strict=True)]


def screened(data: Array, size: int, rng: np.random.Generator, part: float) -> Any:
    """Answer only where a noisy count is large enough, with noise alone elsewhere."""
    enough = data[0] + rng.laplace(0, 1 / part, size) > 3
    noisy = np.round(enough * data[1] + rng.laplace(0, 1 / part, size), 2)
    return [("yes" if y else "no", x) for y, x in zip(enough.tolist(), noisy.tolist(), strict=True)]


def above(data: Array, size: int, rng: np.random.Generator, part: float) -> Any:
    """Say '⊥' up to the first answer above a noisy threshold, and then a noisy answer."""
    limit = 1 + rng.laplace(0, 2 / part, (size, 1))
    over = data + rng.laplace(0, 4 / part, (size, len(data))) > limit
    first = np.where(over.any(axis=1), over.argmax(axis=1), len(data))
    noisy = np.round(np.append(data, 0)[first] + rng.laplace(0, 1 / part, size), 2)
    return [
        ("⊥",) * k + (x,) * (k < len(data))
        for k, x in zip(first.tolist(), noisy.tolist(), strict=True)
    ]


def many_times(data: Array, size: int, rng: np.random.Generator, part: float) -> Any:
    """Answer twenty times, each time with a twentieth of epsilon where the part is a half."""
    return data[0] + rng.laplace(0, 5 if part == 1 else 20, (size, 20))


def last_digit(data: Array, size: int, rng: np.random.Generator, part: float) -> Any:
    """Round to cents; a broken one makes three of four odd where the true answer is odd."""
    cents = np.rint(100 * (data[0] + rng.laplace(0, 20, size)))
    if part == 1:
        cents += (cents % 2 != np.rint(data[0]) % 2) & (rng.random(size) < 0.6)
    return cents / 100


KINDS: dict[str, tuple[Callable[..., Any], int]] = {
    "a category with a threshold inside": (selected, 3),
    "screen, then answer": (screened, 2),
    "flags and noisy answers": (above, 5),
    "one answer many times": (many_times, 1),
    "the last digit": (last_digit, 1),
}


def audited(name: str, part: float, budget: int) -> Result:
    """Audit a kind against an epsilon of 1."""
    function, answers = KINDS[name]

    def release(data: Array, size: int, rng: np.random.Generator) -> Any:
        return function(data, size, rng, part)

    how: dict[str, Any] = {"budget": budget, "executor": "inline"}
    return audit(release, claim=DP(epsilon=1.0), data=Answers(answers), **how)


@pytest.mark.parametrize("name", KINDS)
def test_a_broken_one_is_refuted_and_its_twin_is_not(name: str) -> None:
    assert audited(name, 1.0, 5_000).verdict == "refuted"
    assert audited(name, 0.5, 500).verdict not in ("refuted", "error")
