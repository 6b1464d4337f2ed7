"""The same answers tell as much in every form: tuples, dicts, rows, frames, objects."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from dpassay import DP, Scalars, audit
from dpassay.search.outputs import fit_encoder
from dpassay.targets.answer_set import as_draws

pytestmark = pytest.mark.usefixtures("few_pairs")

NAMES = [f"x{k}" for k in range(10)]
FORMS: dict[str, Callable[[list[float]], Any]] = {
    "tuple": lambda row: row[0] if len(row) == 1 else tuple(row),
    "dict": lambda row: dict(zip(NAMES, row, strict=False)),
    "rows": lambda row: list(zip(NAMES, row, strict=False)),
    "records": lambda row: [{"name": name, "n": x} for name, x in zip(NAMES, row, strict=False)],
    "frame": lambda row: pd.DataFrame([row], columns=NAMES[: len(row)]),
    "column of a frame": lambda row: pd.DataFrame({"n": row}),
    "object": lambda row: SimpleNamespace(**dict(zip(NAMES, row, strict=False))),
    "model": lambda row: SimpleNamespace(coef_=np.array(row), classes_=["a", "b"]),
}
Array = NDArray[np.float64]


def in_form(form: str, numbers: Array) -> list[Any]:
    return list(map(FORMS[form], numbers.tolist()))


@pytest.mark.parametrize("width", [1, 3, 10])
@pytest.mark.parametrize("form", FORMS)
def test_as_much_is_looked_at_as_of_an_array(form: str, width: int) -> None:
    """Features are the same up to what places are called and how they are counted."""
    numbers = np.round(np.random.default_rng(0).normal(size=(300, width)), 2)
    numbers[:, width // 2] = np.rint(numbers[:, width // 2])
    array = numbers[:, 0] if width == 1 else numbers
    draws = as_draws(in_form(form, numbers), len(numbers), 0, "here")
    encoder, usual = fit_encoder([draws, draws]), fit_encoder([array, array])
    kinds = [look.kind for look in usual.looks if look.kind != "whole"]
    assert [look.kind for look in encoder.looks if look.kind != "whole"] == kinds
    seen, wanted = encoder.features(draws), usual.features(array)
    for kind in set(kinds) - {"top", "form", "first", "change"}:
        where = [j for j, look in enumerate(encoder.looks) if look.kind == kind]
        there = [j for j, look in enumerate(usual.looks) if look.kind == kind]
        np.testing.assert_allclose(seen[:, where], wanted[:, there], atol=1e-12)


def noise_of_half_the_scale(data: Array, size: int, rng: np.random.Generator, right: bool) -> Any:
    scale = 2.0 if right else 0.5
    return np.column_stack(
        [each.sum() + rng.laplace(scale=scale, size=size) for each in (data, data > 0.5)]
    )


def raw_flag_beside_a_number(data: Array, size: int, rng: np.random.Generator, right: bool) -> Any:
    flag = 0.0 if right else float((data > 0.5).any())
    return np.column_stack([np.full(size, flag), data.sum() + rng.laplace(size=size)])


def as_many_parts_as_records(data: Array, size: int, rng: np.random.Generator, right: bool) -> Any:
    parts = 2 if right else 2 + int((data > 0.5).sum())
    return data.sum() + rng.laplace(scale=parts, size=(size, parts))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "form"),
    [
        (noise_of_half_the_scale, "frame"),
        (raw_flag_beside_a_number, "object"),
        (as_many_parts_as_records, "rows"),
    ],
)
def test_a_fault_is_refuted_in_every_form_and_its_twin_in_none(
    fault: Callable[..., Any], form: str
) -> None:
    def release(data: Any, size: int, rng: np.random.Generator, right: bool) -> list[Any]:
        return in_form(form, fault(np.asarray(data), size, rng, right))

    def broken(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        return release(data, size, rng, right=False)

    def twin(data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        return release(data, size, rng, right=True)

    space = Scalars(0, 1, size=2, fixed=True)
    verdicts = [
        audit(f, claim=DP(epsilon=1.0), data=space, budget=200, executor="inline").verdict
        for f in (broken, twin)
    ]
    assert verdicts[0] == "refuted"
    assert verdicts[1] in {"not refuted", "inconclusive"}
