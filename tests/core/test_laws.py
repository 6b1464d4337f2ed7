"""Finite laws: what is refused, and that the stated error covers the true one.

Against 60-digit decimals.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, bernoulli_law, mixture_law

LOGITS = st.lists(st.floats(-700, 700), min_size=1, max_size=4)


def log_sigma(logit: float) -> Decimal:
    """-ln(1 + e^-t) to 60 digits and more."""
    with localcontext() as context:
        context.prec = 330  # 1 + e^700 must not swallow the 1
        return -(1 + (-Decimal(logit)).exp()).ln()


@given(LOGITS)
def test_bernoulli_law_is_within_its_error(logits: list[float]) -> None:
    law = bernoulli_law(logits)
    for row, logit in zip(law.log_p.tolist(), logits, strict=True):
        assert abs(Decimal(row[1]) - log_sigma(logit)) <= Decimal(law.error)
        assert abs(Decimal(row[0]) - log_sigma(-logit)) <= Decimal(law.error)
    assert law.error < 1e-12


@given(st.lists(st.lists(st.floats(-40, 40), min_size=2, max_size=2), min_size=1, max_size=30))
def test_mixture_law_is_within_its_error(logits: list[list[float]]) -> None:
    law = mixture_law([bernoulli_law(each) for each in logits])
    for query in range(2):
        for label, sign in ((0, -1), (1, 1)):
            with localcontext() as context:
                context.prec = 60
                terms = [1 / (1 + (-Decimal(sign * each[query])).exp()) for each in logits]
                truth = (sum(terms, Decimal(0)) / len(terms)).ln()
            assert abs(Decimal(float(law.log_p[query, label])) - truth) <= Decimal(law.error)
    assert law.error < 1e-11


def test_p_is_the_exponential() -> None:
    np.testing.assert_allclose(
        FiniteLaw(log_p=np.log([[0.25, 0.75]]), error=0.0).p, [[0.25, 0.75]], rtol=1e-15
    )


@pytest.mark.parametrize("p", [[[1.0]], [0.5, 0.5], [[[0.5, 0.5]]]])
def test_shape(p: list[object]) -> None:
    with pytest.raises(
        InvalidInput, match=r"log_p = \(.*\): must be of shape \(queries, labels >= 2\)"
    ):
        FiniteLaw(log_p=np.log(np.array(p, dtype=float)), error=0.0)


@pytest.mark.parametrize("row", [[0.5, 0.6], [0.5, 0.4999], [0.0, 0.0]])
def test_rows_must_sum_to_one(row: list[float]) -> None:
    with (
        np.errstate(divide="ignore"),
        pytest.raises(InvalidInput, match="rows of probabilities that sum to 1"),
    ):
        FiniteLaw(log_p=np.log([row]), error=0.0)


@pytest.mark.parametrize("row", [[np.nan, 0.0], [0.1, -2.0], [0.5, np.inf]])
def test_log_probabilities(row: list[float]) -> None:
    with pytest.raises(InvalidInput, match="log-probabilities"):
        FiniteLaw(log_p=np.array([row]), error=0.0)


@pytest.mark.parametrize("error", [-1e-30, np.inf, np.nan])
def test_error_must_be_a_finite_number(error: float) -> None:
    with pytest.raises(InvalidInput, match=r"error = .*: must be a finite number >= 0"):
        FiniteLaw(log_p=np.log([[0.5, 0.5]]), error=error)


def test_a_law_cannot_be_changed_and_keeps_its_own_copy() -> None:
    rows = np.log([[0.5, 0.5]])
    law = FiniteLaw(log_p=rows, error=0.0)
    rows[:] = -1
    assert law.log_p[0, 0] == np.log(0.5)
    with pytest.raises(ValueError, match="read-only"):
        law.log_p[0, 0] = 0.0
