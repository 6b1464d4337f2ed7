"""Theorem 5 and Lemma 4: laws by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpassay.theorems.chaudhuri_vinterbo_2013.alternatives import (
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
