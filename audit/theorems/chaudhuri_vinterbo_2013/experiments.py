"""Section 5: the numbers that are said of the data and of the work."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

PAPER = "chaudhuri-vinterbo-2013"
TITLE = "The data of section 5"
HALF_DIGIT = 0.005
"""How far a share can be from its two printed digits."""


def magic_cases(_: Effort) -> Iterator[Case]:
    """Classes of magic04.data of the UCI repository: g, h."""
    yield {"gammas": 12332, "hadrons": 6688}


def magic(gammas: int, hadrons: int) -> Measured:
    """Distance of the share of gammas from .35."""
    return _from_printed(Fraction(gammas, gammas + hadrons), Fraction(35, 100))


def cases_count(gammas: int, hadrons: int) -> Measured:
    """Distance of the number of cases from 19020."""
    return computed(0.0, abs(gammas + hadrons - 19020), 0.0)


def adult_cases(_: Effort) -> Iterator[Case]:
    """Records above and up to 50000 dollars in adult.data and adult.test, and without '?'."""
    for part, above, up_to in (
        ("training", 7841, 24720),
        ("test", 3846, 12435),
        ("both", 11687, 37155),
        ("training, none missing", 7508, 22654),
        ("both, none missing", 11208, 34014),
    ):
        yield {"part": part, "above": above, "up_to": up_to}


def adult(part: str, above: int, up_to: int) -> Measured:  # noqa: ARG001
    """Distance of the share above 50000 dollars from .22."""
    return _from_printed(Fraction(above, above + up_to), Fraction(22, 100))


def _from_printed(share: Fraction, printed: Fraction) -> Measured:
    return computed(HALF_DIGIT, float(abs(share - printed)), 4 * UNIT_ROUNDOFF)


def count_cases(_: Effort) -> Iterator[Case]:
    """Random and Control by one training each run, or by k of them."""
    yield {"k": 10, "random": 1, "folds": 100, "levels": 6}
    yield {"k": 10, "random": 10, "folds": 100, "levels": 6}


def count(k: int, random: int, folds: int, levels: int) -> Measured:
    """Classifiers of one data set: Stability has k + 1; alphaSplit, dataSplit and Control k."""
    return computed(24000, ((k + 1) + 3 * k + random) * folds * levels, 0.0)


ROWS = (
    Row(
        key=f"{PAPER}/section-5-data/magic-share",
        checks="35 of 100 cases of MAGIC are primary gammas",
        quantity="distance from the printed share",
        method="exact",
        domain="the 19,020 cases of the UCI repository",
        cases=magic_cases,
        measure=magic,
        verdict="refuted",
        derivation=TITLE,
    ),
    Row(
        key=f"{PAPER}/section-5-data/magic-size",
        checks="MAGIC has 19020 cases",
        quantity="distance from the printed number",
        method="exact",
        domain="the UCI repository",
        cases=magic_cases,
        measure=cases_count,
    ),
    Row(
        key=f"{PAPER}/section-5-data/adult-share",
        checks="22 of 100 cases of Adult have an income above 50000 dollars",
        quantity="distance from the printed share",
        method="exact",
        domain="training and test set of the UCI repository, both, and without missing values",
        cases=adult_cases,
        measure=adult,
        verdict="refuted",
        derivation=TITLE,
    ),
    Row(
        key=f"{PAPER}/section-5-count/trainings",
        checks="an experiment computes more than 24000 classifiers",
        quantity="number of classifiers",
        method="exact",
        domain="five methods, k = 10, 100 folds, six alpha; Random trains 1 or 10",
        cases=count_cases,
        measure=count,
        relation="at least",
    ),
)
