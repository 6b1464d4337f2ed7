"""Twin of the prediction interface (Definition 1.1). The conversation played out answer by answer,
in pure Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

Answers = tuple[int, ...]
One = Callable[[float], float]
"""Probability of the answer 1 at a point."""
Adversary = Callable[[float, int | None], float]
"""The next point, from the point before and the answer there; the answer is None at the start."""


def repeat(point: float, answer: int | None) -> float:
    """Stay."""
    return point


def sweep(point: float, answer: int | None) -> float:
    """One further on, whatever the answer."""
    return point if answer is None else point + 1


def adaptive(point: float, answer: int | None) -> float:
    """One lower after a 1, one higher after a 0."""
    if answer is None:
        return point
    return point - 1 if answer == 1 else point + 1


def conversations(one: One, first: float, m: int, adversary: Adversary) -> dict[Answers, Fraction]:
    """Probability of every sequence of m answers."""

    def go_on(point: float, answers: Answers, probability: Fraction) -> dict[Answers, Fraction]:
        if len(answers) == m:
            return {answers: probability}
        point = adversary(point, answers[-1] if answers else None)
        p = Fraction(one(point))
        no = go_on(point, (*answers, 0), probability * (1 - p))
        return no | go_on(point, (*answers, 1), probability * p)

    return go_on(first, (), Fraction(1))


def number(answers: Answers) -> int:
    """The transcript as the audit writes it down: answer i counts 2^i."""
    return sum(2**i for i, answer in enumerate(answers) if answer == 1)


def loss(one: dict[Answers, Fraction], other: dict[Answers, Fraction]) -> float:
    """Largest ln(P / Q) of a transcript."""
    return max(math.log(one[answers] / other[answers]) for answers in one)


def excess(one: dict[Answers, Fraction], other: dict[Answers, Fraction], epsilon: float) -> float:
    """Largest P[E] - e^epsilon Q[E] over all sets E of transcripts: the least delta."""
    factor = Fraction(math.exp(epsilon))
    return float(sum(max(Fraction(0), one[answers] - factor * other[answers]) for answers in one))
