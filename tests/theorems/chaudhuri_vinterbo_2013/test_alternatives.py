"""Theorem 5 and Lemma 4: laws by enumeration."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from dpassay.theorems.chaudhuri_vinterbo_2013.alternatives import (
    alpha_split,
    alpha_split_log_p,
    by_content,
    errors,
    one_added,
)


@pytest.mark.parametrize(("s", "positive", "m", "k"), [(-4, 0, 4, 2), (1, 2, 3, 3), (0, 1, 2, 4)])
def test_alpha_split_over_all_signs(s: int, positive: int, m: int, k: int) -> None:
    alpha, label_1 = 1.3, 0.0
    edge = s * alpha / (2 * k)
    up = 1 - math.exp(-edge) / 2 if edge >= 0 else math.exp(edge) / 2
    for signs in itertools.product((True, False), repeat=k):
        chance = math.prod(up if sign else 1 - up for sign in signs)
        wrong = [m - positive if sign else positive for sign in signs]
        weights = [math.exp(-alpha * each / 2) for each in wrong]
        label_1 += (
            chance * sum(w for w, sign in zip(weights, signs, strict=True) if sign) / sum(weights)
        )
    found = np.exp(alpha_split_log_p(s, positive, m, k, alpha))
    assert found == pytest.approx([1 - label_1, label_1])


def test_a_choice_by_hand() -> None:
    """One record, errors (0, 1) become (1, 0): e^(alpha/2) to 1 turns round, which loses less."""
    odds = math.exp(0.5)
    assert errors(2, 1, 1.0).lower == pytest.approx(math.log(odds), abs=1e-9)


def test_parts_by_densities_on_a_grid() -> None:
    """Two counts of one record with noise of scale 1/alpha, at outputs far out."""
    alpha, z = 0.7, np.array([-5.0, 0.5, 5.0])
    x, y = np.meshgrid(z, z)

    densities = {
        counts: -alpha * (np.abs(x - counts[0]) + np.abs(y - counts[1]))
        for counts in ((1, 0), (0, 1), (1, 1))
    }
    replaced = np.abs(densities[1, 0] - densities[0, 1]).max()
    added = np.abs(densities[1, 0] - densities[1, 1]).max()
    assert by_content(1, 2, alpha).upper == pytest.approx(replaced)
    assert one_added(1, 2, alpha).upper == pytest.approx(added)


def _loss_in_fifty_digits(n: int, m: int, k: int, alpha: float) -> mpmath.mpf:
    """Compute the loss that `alpha_split` bounds, with nothing to cancel."""
    with mpmath.workdps(50):
        a = mpmath.mpf(alpha)

        def below(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

        def laws(s: int, positive: int) -> list[mpmath.mpf]:
            edge = s * a / (2 * k)
            up, down = mpmath.exp(-a / 2 * (m - positive)), mpmath.exp(-a / 2 * positive)
            found = [mpmath.mpf(0)] * 2
            for j in range(k + 1):
                signs = mpmath.binomial(k, j) * below(edge) ** j * below(-edge) ** (k - j)
                chosen = [(k - j) * down, j * up]
                found = [p + signs * q / sum(chosen) for p, q in zip(found, chosen, strict=True)]
            return found

        return max(
            abs(mpmath.log(one / other))
            for in_v in range(m)
            for outside in range(n - m + 1)
            for one, other in zip(
                laws(2 * (in_v + outside) - n, in_v),
                laws(2 * (in_v + 1 + outside) - n, in_v + 1),
                strict=True,
            )
        )


@pytest.mark.parametrize("alpha", [3.0, 1e-3, 1e-6, 1e-7, 1e-10])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 2), (4, 2, 3), (10, 6, 2)])
def test_alpha_split_is_tight_however_small_alpha_is(n: int, m: int, k: int, alpha: float) -> None:
    found, true = alpha_split(n, m, k, alpha), _loss_in_fifty_digits(n, m, k, alpha)
    assert found.lower <= true <= found.upper
    assert found.upper - found.lower <= 1e-12
