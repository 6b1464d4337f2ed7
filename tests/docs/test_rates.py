"""Pages of errors are made from their JSON files; slopes and promised errors are what they say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks import excess_error, rates
from benchmarks.rate_statements import LARGEST, NOISE, RATES
from benchmarks.rates import Found, before_flip, errors, measured, page

DOCS = Path(__file__).parents[2] / "docs"


@cache
def found() -> Found:
    stored: Found = json.loads((DOCS / "rates.json").read_text(encoding="utf-8"))
    return stored


def test_the_page_says_what_was_found() -> None:
    assert page(found()) == (DOCS / "rates.md").read_text(encoding="utf-8")


def test_the_page_of_excess_errors_says_what_was_found() -> None:
    excess = json.loads((DOCS / "excess_error.json").read_text(encoding="utf-8"))
    assert excess_error.page(excess) == (DOCS / "excess_error.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RATES)
def test_so_many_records_are_enough_for_alpha(name: str) -> None:
    """alpha is where the statement's number of records is n, and below the largest."""
    rate = RATES[name]
    for axis in rate.order:
        for n, epsilon in rate.places(axis):
            alpha = rate.alpha(n, epsilon)
            assert 0 < alpha < LARGEST
            assert rate.size(alpha, epsilon) == pytest.approx(n, rel=1e-9)


@pytest.mark.parametrize("name", RATES)
def test_promised_slopes_tend_to_the_order(name: str) -> None:
    """Logarithms flatten a slope by 2 / ln n at most, where n is large."""
    rate, few, many = RATES[name], 10**16, 10**18
    ratio = rate.alpha(many, 0.5) / rate.alpha(few, 0.5)
    assert np.log(ratio) / np.log(many / few) == pytest.approx(rate.order["n"], abs=2 / np.log(few))


def test_theorem_2_s_sizes_are_those_that_lemma_8_allows() -> None:
    """n' <= epsilon n and 1 / (eta n) <= epsilon; eta <= alpha / ln tau_n; and a net."""
    rate = RATES["relabelled"]
    for n, epsilon in (place for axis in rate.order for place in rate.places(axis)):
        learner, alpha = rate.learner(n, epsilon), rate.alpha(n, epsilon)
        assert (1 - alpha) ** learner.n_prime <= alpha / 2
        assert learner.n_prime <= epsilon * n
        assert learner.rate <= epsilon
        assert learner.eta <= alpha / np.log(n + 1)


def test_errors_before_the_flip() -> None:
    """Of answers that are right with probability 0.9, flipped with probability alpha."""
    rate = RATES["relabelled"]
    alphas = [rate.alpha(*place) for place in rate.places("n")]
    each = [[(1 - 2 * NOISE) * (a + (1 - 2 * a) * 0.1)] for a in alphas]
    np.testing.assert_allclose(before_flip("n", each), (1 - 2 * NOISE) * 0.1)


def test_a_learner_is_measured_anew_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = found() | {"stable-learner": found()["stable-learner"] | {"n": [[0.5]] * 6}}
    (tmp_path / "rates.json").write_text(json.dumps(damaged), encoding="utf-8")
    monkeypatch.setattr(rates, "DOCS", tmp_path)
    monkeypatch.setattr(rates, "draw", lambda found: None)
    monkeypatch.setattr(rates, "errors", lambda name, axis: found()[name][axis])
    monkeypatch.setattr("sys.argv", ["rates", "--only", "stable-learner"])
    rates.main()
    for name in ("rates.json", "rates.md"):
        assert (tmp_path / name).read_bytes() == (DOCS / name).read_bytes()


def test_a_power_has_its_slope() -> None:
    along = np.array(RATES["label-flip"].along("n"))
    each = [[2 * n**-0.7, 4 * n**-0.7] for n in along]
    middle, low, high = measured("label-flip", "n", each)
    assert middle == pytest.approx(-0.7)
    assert low < middle < high


def test_the_first_errors_come_out_again() -> None:
    """Of the learners that take no time; rounded to seven digits."""
    for name in ("projected-walk", "projected-walk, ε = α/2"):
        assert errors(name, "n") == found()[name]["n"]


def test_theorem_2_4_holds_on_average() -> None:
    """Err <= e^epsilon (Opt + alpha), the printed constants; Opt = 0."""
    rate = RATES["projected-walk"]
    for axis in rate.order:
        for (n, epsilon), each in zip(
            rate.places(axis), found()["projected-walk"][axis], strict=True
        ):
            assert np.mean(each) <= np.exp(epsilon) * rate.alpha(n, epsilon)
