"""The highest AUC of several attacks if nothing leaks."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.experiment.coins import Coins
from dpassay.attacks.experiment.metrics import auc
from dpassay.attacks.experiment.no_leak import AT_ONCE, TOSSES, best_of, tossed_again


@pytest.mark.parametrize("scores", [[3.0, 1.0, 2.0, 5.0, 0.5, 0.7], [1.0, 1.0, 2.0, 1.0, 2.0, 2.0]])
def test_every_toss_is_as_likely_and_none_else_comes(scores: list[float]) -> None:
    row = np.array([scores])
    known: list[float] = []
    for heads in product((True, False), repeat=3):
        inside = Coins(heads=np.array([heads])).membership
        known.append(round(auc(row[inside], row[~inside]), 9))
    found = tossed_again(row)
    assert found.shape == (TOSSES,)
    counts = Counter(np.round(found, 9).tolist())
    assert counts.keys() == set(known)
    for value, number in counts.items():
        low, high = (binom.ppf(q, TOSSES, known.count(value) / 8) for q in (1e-6, 1 - 1e-6))
        assert low <= number <= high


def test_many_coins_are_tossed_in_parts() -> None:
    scores = np.random.default_rng(0).normal(size=(2 * AT_ONCE // 100 + 1, 200))
    found = tossed_again(scores)
    pairs = scores.size / 2
    assert abs(found.mean() - 0.5) < 6 * found.std() / np.sqrt(TOSSES)
    # n members, n others, all of them different: the variance of Mann and Whitney, nearly
    assert found.std() == pytest.approx(np.sqrt((2 * pairs + 1) / (12 * pairs**2)), rel=0.2)


def test_where_nothing_leaks_the_best_is_higher_once_in_twenty() -> None:
    rng, above, runs, attacks = np.random.default_rng(4), 0, 400, 12
    for _ in range(runs):
        scores = rng.normal(size=(attacks, 8, 20))
        scores[1:6] += scores[0]  # attacks agree with each other
        inside = Coins(heads=rng.random((8, 10)) < 0.5).membership
        bound = best_of([tossed_again(each) for each in scores])
        assert bound.attacks == attacks
        assert 0.5 < bound.middle < bound.high
        above += max(auc(each[inside], each[~inside]) for each in scores) > bound.high
    # 400 tosses estimate the 95 % point: its own level is 0.05 +- 0.011
    assert binom.cdf(above, runs, 0.05) > 1e-4
    assert binom.sf(above - 1, runs, 0.06) > 1e-4


def test_one_attack_has_less_chance_than_the_best_of_many() -> None:
    scores = np.random.default_rng(1).normal(size=(36, 8, 40))
    again = [tossed_again(each) for each in scores]
    assert best_of(again[:1]).high < best_of(again).high
