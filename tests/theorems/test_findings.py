"""Every number in the tables of docs/findings.md on rows of theorems is computed again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms import example61_exponential
from dpassay.theorems.chaudhuri_vinterbo_2013 import (
    alternatives,
    choosing,
    example_6_1,
    experiments,
    joint_release,
    theorem_4,
)
from dpassay.theorems.dagan_feldman_2020 import (
    covers,
    exponential_mechanism,
    lower_bounds,
    nets,
    relabelled_sizes,
    relabelled_subsets,
    stable_learner,
    subsampling,
    uniform_convergence,
)
from dpassay.theorems.dwork_feldman_2018 import (
    averaging,
    descent,
    moments,
    nearly_half,
    noise,
    private_learning,
    sizes,
    soft_majority,
    thresholds,
)
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Measured
from tests.docs.findings_pages import FINDINGS

NUMBER = r" \| (-?[\d.]+(?:e[+-]?\d+)?|[TV])"
Cells = Sequence[float]


def rows_of(first: str, columns: int) -> list[tuple[str, ...]]:
    """Return the cells behind a first one, of all rows that have so many."""
    pattern = rf"^\| {re.escape(first)}{NUMBER * columns} \|$"
    return re.findall(pattern, FINDINGS, re.MULTILINE)


def number(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def is_shown(cell: str, value: float) -> bool:
    """Whether a number on the page is a computed one, rounded to the digits that it has."""
    mantissa, _, exponent = cell.partition("e")
    last = int(exponent or 0) - len(mantissa.partition(".")[2])
    return abs(float(cell) - value) <= 0.50001 * 10.0**last


def middle(found: Measured) -> float:
    return (found.lower + found.upper) / 2


def both(found: Measured) -> Cells:
    return found.claimed, middle(found)


def ends(found: Measured) -> Cells:
    """Claimed and true, where that is known as it is."""
    assert found.lower == found.upper
    return found.claimed, found.lower


def at_least(found: Measured) -> Cells:
    return found.claimed, found.lower


def at_most(found: Measured) -> Cells:
    return found.claimed, found.upper


def claims(found: Measured, beta: float) -> Cells:
    """The true one, where the claimed one was given, and is less."""
    assert found.claimed == beta < found.lower
    return (found.lower,)


def voted(of: Callable[..., Measured], *more: float) -> Callable[..., Cells]:
    def row(alpha: float, epsilon: float, r: int, beta: float) -> Cells:
        assert averaging.blocks(alpha, epsilon) == r
        return (of(alpha, epsilon, beta, *more).lower,)

    return row


def noisy_square(sigma: float, ratio: float) -> Cells:
    printed, proof = (of(sigma, ratio, 1.0) for of in (noise.smooth_printed, noise.smooth_proof))
    return printed.claimed, proof.claimed, noise.smooth_extra(sigma, ratio, 1.0)


def climbs(n: int) -> Cells:
    plus, minus = (descent.excess(n, 0.0, sign, after=False) for sign in (1, -1))
    return plus.claimed, plus.lower, minus.lower


def unseen(n: int, N: int, beta: float) -> Cells:
    exact = Fraction(str(beta))
    return claims(moments.tail(n, N, 16, [exact.numerator, exact.denominator]), beta)


def atom(alpha: float, epsilon: float, beta: float) -> Cells:
    assert beta == pytest.approx(alpha**3 / 1000)
    return claims(soft_majority.coins(alpha, epsilon, beta), beta)


def large(which: str) -> Callable[..., Cells]:
    def row(C: float, epsilon: float) -> Cells:
        assert C * sizes.FORMULAS[which](2, 1 / 8, 1 / 4, epsilon) <= 1
        return at_most(sizes.large(C, 2, 1 / 8, 1 / 4, epsilon, which))

    return row


def below(traversed: Any) -> Callable[..., Cells]:
    return lambda epsilon, alpha: both(
        thresholds.tied([1], [0], alpha, epsilon, 1, "sum", traversed)
    )


def learned(d: int, alpha: float) -> Cells:
    case = d, alpha, 0.05
    one, other = stable_learner.dimension(*case), stable_learner.restated(*case)
    needed = stable_learner.needed(alpha, 0.05, d)
    return needed, one.claimed, other.claimed, other.claimed / one.claimed


def best_learner(d: int, gamma: float, alpha: float) -> Cells:
    found = lower_bounds.theorem(d, gamma, alpha)
    return found.claimed, found.lower, found.upper


def parameter_excess(C: float, alpha: float) -> Cells:
    found = exponential_mechanism.parameter(C, alpha)
    return (*both(found), found.lower / alpha)


def no_example(C: int, k: int, epsilon: float) -> Cells:
    found = relabelled_sizes.large(C, k, epsilon, 0.25)
    size = C * (1 + abs(math.log(epsilon / 4))) ** k * 4 / epsilon
    return size, found.claimed, found.lower


def twelve(n: int, size: int, epsilon: float) -> Cells:
    return both(subsampling.kept(n, size, [[1, 1], [2, 3], [3, 7]], epsilon))


def more_than_half(n: int, n_prime: int) -> Cells:
    left = relabelled_subsets.remaining(n, n_prime)
    factor = relabelled_subsets.amplification(n, n_prime)
    return left.lower, left.claimed, factor.lower, factor.claimed


def geometric(alpha1: float, alpha2: float, moved: str) -> Cells:
    return both(joint_release.same_strings(alpha1, alpha2, moved, 60))


def ratios(beta: float, alpha2: float, gamma: float) -> Cells:
    case = {"beta": beta, "alpha2": alpha2, "gamma": gamma}
    return alpha2, *(middle(of(**case)) for of in (choosing.printed_ratio, choosing.ratio))


def losers(k: int, delta0: float) -> Cells:
    return middle(choosing.utility(k, delta0)), middle(choosing.exponential_utility(k, delta0))


def shared(n: int, m: int, k: int, alpha: float) -> Cells:
    found = alternatives.alpha_split(n, m, k, alpha)
    return middle(found), found.claimed


def counts(n: int, k: int, alpha: float) -> Cells:
    of = alternatives.by_content, alternatives.one_added, alternatives.by_place
    return alpha, *(middle(each(n, k, alpha)) for each in of)


def constant_delta(n: int, alpha: float) -> Cells:
    return n**0.5, example_6_1.small_delta(n, 0.01, alpha).upper


TABLES: list[tuple[str, int, int, int, Callable[..., Cells]]] = [
    ("constants", 4, 5, 2, lambda e, alpha: ends(private_learning.constants(alpha, e))),
    ("group privacy", 5, 3, 3, lambda *case: at_least(private_learning.functions(*case))),
    ("binomial", 4, 6, 2, lambda *case: both(private_learning.tail(*case))),
    ("all functions", 5, 4, 3, lambda *case: at_most(nearly_half.enough(*case))),
    ("net", 4, 3, 2, lambda C, share: ends(nets.corner(C, share, share))),
    ("deviation", 4, 3, 2, lambda C, beta: ends(uniform_convergence.single(C, 0.25, beta))),
    ("noisy square", 5, 3, 2, noisy_square),
    ("one point", 5, 2, 4, voted(averaging.one_point)),
    ("two points", 5, 2, 4, voted(averaging.two_points, 1e-4)),
    ("rounded absolute loss", 4, 3, 1, climbs),
    ("labelled 1, below", 4, 2, 2, below("below")),
    ("labelled 1, up to", 4, 1, 2, below("up-to")),
    ("in particular", 4, 2, 2, lambda *case: both(thresholds.step(*case))),
    ("none seen", 4, 4, 3, unseen),
    ("two values", 5, 2, 4, lambda *case: claims(moments.rare(*case), case[-1])),
    ("one atom", 4, 2, 3, atom),
    ("Corollary 2.1", 4, 1, 2, large("2.1")),
    ("Corollary 4.2", 4, 2, 2, large("4.2")),
    ("Corollary 2.3", 4, 1, 2, large("2.3")),
    ("regression", 4, 1, 3, lambda C, e, is_: (sizes.regression_large(C, is_, e).lower,)),
    ("one point", 3, 1, 1, lambda C: both(sizes.one_point(C))),
    ("coin", 3, 1, 1, lambda C: both(sizes.coin(C, 1, 0.5, 1.0))),
    ("size", 6, 4, 2, learned),
    ("best learner", 6, 4, 3, best_learner),
    ("lower coin", 4, 2, 2, lambda C, alpha: both(lower_bounds.coin(C, 1, alpha, 0.5))),
    ("lower single", 4, 2, 2, lambda C, alpha: both(lower_bounds.single(C, alpha, 0.5))),
    ("lower constants", 4, 2, 2, lambda C, alpha: both(lower_bounds.constants(C, 0.5, alpha))),
    ("lower bits", 4, 3, 2, lambda *case: at_least(lower_bounds.bits(*case))),
    ("cover corner", 4, 3, 2, lambda *case: both(covers.corner(*case))),
    ("crowded net", 4, 3, 2, lambda *case: both(covers.net(*case))),
    ("parameter excess", 5, 4, 2, parameter_excess),
    ("no example", 6, 3, 3, no_example),
    ("size", 5, 3, 3, lambda *case: both(relabelled_sizes.remark(*case))),
    ("eta condition", 4, 2, 3, lambda *case: (relabelled_sizes.step(*case).lower,)),
    ("twelve", 5, 1, 3, twelve),
    ("more than half", 6, 3, 2, more_than_half),
    ("two geometric mechanisms", 5, 4, 3, geometric),
    ("logarithms", 6, 4, 3, ratios),
    ("all losers equal", 4, 4, 2, losers),
    ("Theorem 4", 4, 3, 2, lambda C, k: both(choosing.linear_growth(C, k, 0.1, 0.1))),
    ("a label", 6, 4, 4, shared),
    ("noisy counts", 7, 2, 3, counts),
    ("algorithm A", 4, 3, 2, constant_delta),
    ("one record", 4, 3, 2, lambda algorithm, R: both(theorem_4.norm(algorithm, 16.0, 1, R))),
]
"""First cell, further cells, rows, cells that are a case, and what computes the rest from them."""


@pytest.mark.parametrize(("first", "columns", "many", "given", "compute"), TABLES)
def test_the_page_says_what_is_computed(
    first: str, columns: int, many: int, given: int, compute: Callable[..., Cells]
) -> None:
    rows = rows_of(first, columns)
    assert len(rows) == many
    for row in rows:
        found = compute(*map(number, row[:given]))
        assert len(found) == columns - given
        for cell, value in zip(row[given:], found, strict=True):
            assert is_shown(cell, value), (row, found)


def test_shares() -> None:
    section = FINDINGS.split("## The data of section 5\n")[1]
    pattern = r"^\| (?:Magic|Adult[^|]*) \| (\d+) \| (\d+) \| \S+ \| (\S+) \|$"
    lines = re.findall(pattern, section, re.MULTILINE)
    cases = [*experiments.magic_cases(Effort()), *experiments.adult_cases(Effort())]
    kept = {tuple(v for v in case.values() if isinstance(v, int)) for case in cases}
    assert {(int(one), int(other)) for one, other, _ in lines} == kept
    assert all(is_shown(s, int(one) / (int(one) + int(other))) for one, other, s in lines)


def test_alpha_split_by_hand() -> None:
    before = np.exp(alternatives.alpha_split_log_p(-4, 0, 4, 2, 1.0))[1]
    after = np.exp(alternatives.alpha_split_log_p(-2, 1, 4, 2, 1.0))[1]
    assert f"{before:.4f} {after:.4f}" == "0.0696 0.2056"


def test_a_single_parameter_by_hand() -> None:
    assert f"{middle(joint_release.single(1.0, 0.5, 0.01)):.4f}" == "0.9799"


def test_a_loser_at_the_gap_by_hand() -> None:
    assert middle(choosing.growth(2, 0.1)) == pytest.approx(np.log(5), abs=1e-6)


def test_a_constant_delta_by_hand() -> None:
    assert f"{example_6_1.most_outside((1000**0.5 - 1) / 4):.4f}" == "0.0093"
    assert f"{example61_exponential.quantile(0.01):.4f}" == "7.5648"
