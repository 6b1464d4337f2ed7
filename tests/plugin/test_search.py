"""`assay` and `assayed` with a description of the data instead of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Answers
from dpassay.testing import Assayed, assayed

pytestmark = pytest.mark.usefixtures("few_pairs")


def loud(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=0.3, size=size)


def shared(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """One noise for all answers of a run, so that their differences carry none."""
    near = np.abs(queries[:, None, 0] - data.X[None, :, 0]) < 0.5
    return near @ data.y + rng.laplace(scale=2.0, size=(size, 1))


def made(folder: Path, function: Any, **more: Any) -> Assayed:
    few: dict[str, Any] = {"claim": DP(epsilon=1.0), "budget": 400, "executor": "inline"}
    return assayed(function, path=folder / "w.json", rerun="python -m pytest x.py", **few | more)


def test_a_searched_function_fails_with_the_event_and_the_pair(tmp_path: Path) -> None:
    found = made(tmp_path, loud, data=Answers(1))
    assert found.facts()["searched"] is True
    with pytest.raises(AssertionError) as told:
        found.assert_not_refuted()
    text = str(told.value)
    assert "DP(1) of" in text
    assert "is refuted" in text
    assert "witness     S: the true answer " in text
    assert "A search found the pair" in text
    assert "dpassay replay" in text
    assert (tmp_path / "w.json").is_file()


@pytest.mark.slow
def test_together_is_taken_too(tmp_path: Path) -> None:
    X = np.arange(8.0)[:, None] / 8
    data = X, (np.arange(8) % 2)
    assert made(tmp_path, shared, data=data).verdict != "refuted"
    assert made(tmp_path, shared, data=data, together=True).verdict == "refuted"
