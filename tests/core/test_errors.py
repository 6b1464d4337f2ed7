"""The wording of errors: argument, value, what is allowed."""

from __future__ import annotations

import pytest

from dpassay.errors import DpassayError, InvalidInput, TargetError, require


def test_nothing_happens_where_the_condition_holds() -> None:
    require(True, "r", 1, "an integer")


def test_argument_value_and_range() -> None:
    with pytest.raises(InvalidInput) as refusal:
        require(False, "r", 0, "an integer >= 1")
    assert str(refusal.value) == "r = 0: must be an integer >= 1"


def test_a_long_value_is_cut_at_80_characters() -> None:
    with pytest.raises(InvalidInput) as refusal:
        require(False, "y", "z" * 500, "short")
    shown = str(refusal.value).removeprefix("y = ").removesuffix(": must be short")
    assert len(shown) == 80
    assert shown.endswith("...")


def test_kinds_of_error() -> None:
    assert issubclass(InvalidInput, DpassayError)
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(TargetError, DpassayError)
    assert not issubclass(TargetError, InvalidInput)
