"""Parameters out of range are refused by name, with the value and what is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.resolve import accepts, resolve

PRIVATE = [name for name in CATALOGUE if "epsilon" in resolve(name).parameters]
VOTES = ["soft-majority", "soft-majority-overview"]
TEACHERS = ["pate", "pate-data-dependent", "pate-gaussian", "distance-to-instability"]
BLOCKS = [
    *VOTES,
    "averaged",
    "stable-laplace",
    "stable-gaussian",
    "noisy-average",
    "noisy-average-number",
    "bagged",
    *TEACHERS,
]
WALK, OVERVIEW = "projected-walk", "projected-walk-overview"
TRAINERS = ["objective-perturbation", "output-perturbation"]
NOISY = ["stable-laplace", "stable-gaussian", "noisy-average-number"]
BAD = [
    *[
        (name, "epsilon", value, "finite number > 0")
        for name in PRIVATE
        for value in (0, -1, math.inf, math.nan)
    ],
    *[(name, "r", value, "integer >= 1") for name in BLOCKS for value in (0, -3, 2.5)],
    *[(name, "partition", "random", "'fixed' or 'fresh'") for name in VOTES],
    *[(name, "learner", "oracle", "logistic") for name in BLOCKS],
    *[
        (name, "gamma", value, "finite number > 0")
        for name in BLOCKS
        if "gamma" in resolve(name).parameters
        for value in (0, -1)
    ],
    *[(name, "predictor", "nowhere", "module:object") for name in NOISY],
    ("stable-laplace", "scale", "b", "'meant' or 'printed'"),
    ("stable-gaussian", "calibration", "b", "'analytic' or 'classic'"),
    *[("stable-gaussian", "delta", value, "number in (0, 1)") for value in (0, 1, -1, math.nan)],
    *[(WALK, "T", value, "integer >= 1") for value in (0, -1, 1.5)],
    *[
        (OVERVIEW, "alpha", value, "number in [1e-06, 1/2)")
        for value in (0, -1, 0.5, 1e-10, math.nan)
    ],
    *[(name, "feature", -1, "integer >= 0") for name in (WALK, OVERVIEW)],
    *[
        (name, letter, value, "finite number > 0")
        for name in TRAINERS
        for letter in ("alpha", "lambda_")
        for value in (0, math.nan)
    ],
    *[(name, "h", 0, "number in (0, 1]") for name in TRAINERS],
    *[(name, "delta", value, "number in (0, 1)") for name in TRAINERS for value in (0, 1)],
    *[
        (name, "ties", "random", "'sum', 'index' or 'label'")
        for name in (WALK, "projected-walk-error", "projected-walk-risk")
    ],
    (OVERVIEW, "ties", "random", "'sum' or 'index'"),
    ("erm-laplace", "regulariser", "once", "'mean' or 'sum'"),
    *[
        ("psgd-laplace", "threshold", value, "a finite number, or None")
        for value in (math.inf, math.nan)
    ],
    ("psgd-laplace", "sign", "plus", "'-' or '+'"),
    (WALK, "traversed", "all", "'up-to' or 'below'"),
    *[("subsampled", "eta", value, "number in (0, 1)") for value in (0, 1, -1, math.nan)],
    *[
        ("label-flip", "alpha", value, "number in (0, 1), but not 1/2")
        for value in (0, 0.5, 1, -1, math.nan)
    ],
    ("label-flip", "calibration", "b", "'corollary' or 'overview'"),
    *[
        (name, "K", value, "integer >= 2")
        for name in (*TEACHERS, "private-knn")
        for value in (1, 0, 2.5)
    ],
    *[
        (name, "gamma", value, "finite number > 0")
        for name in ("pate", "private-knn")
        for value in (0, math.inf, math.nan)
    ],
    *[("private-knn", "k", value, "integer >= 1") for value in (0, 1.5)],
    *[("pate-data-dependent", "lead", value, "integer from 1 to r = 25") for value in (0, 26, 1.5)],
    *[
        (name, "delta", value, "number in (0, 1)")
        for name in TEACHERS[1:]
        for value in (0, 1, math.nan)
    ],
    *[("pate-gaussian", "sigma", value, "finite number > 0") for value in (0, -1, math.inf)],
    ("distance-to-instability", "distance", "gap", "'replacements' or 'margin'"),
]


@pytest.mark.parametrize(("name", "parameter", "value", "allowed"), BAD)
def test_refused_with_name_value_and_range(
    name: str, parameter: str, value: Any, allowed: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        resolve(name, {parameter: value})
    text = str(refusal.value)
    assert parameter in text
    assert str(value) in text
    assert allowed in text


@pytest.mark.parametrize("value", ["1", None])
@pytest.mark.parametrize("name", PRIVATE)
def test_an_epsilon_that_is_no_number_is_refused_by_name(name: str, value: Any) -> None:
    """Given to the class itself, where no text is converted."""
    mechanism_class: Any = type(resolve(name).mechanism)
    with pytest.raises(InvalidInput, match="epsilon"):
        mechanism_class(epsilon=value)


@pytest.mark.parametrize("name", BLOCKS)
def test_more_blocks_than_records(name: str) -> None:
    data = Labelled(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    mechanism: Any = resolve(name, {"r": 5}).mechanism
    for method in (mechanism.check, mechanism.prepare):
        with pytest.raises(InvalidInput, match="r = 5: must be at most the number of records, 4"):
            method(data)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_third_label(name: str) -> None:
    data = Labelled(np.zeros((40, 1)), np.arange(40) % 3)
    mechanism: Any = resolve(name, {"n": 40} if accepts(name, "n") else {}).mechanism
    with pytest.raises(InvalidInput, match=r"labels = \[0, 1, 2\]: must be 0 and 1"):
        mechanism.check(data)


@pytest.mark.parametrize("name", [WALK, OVERVIEW])
def test_a_feature_that_the_data_do_not_have(name: str) -> None:
    mechanism: Any = resolve(name, {"feature": 2}).mechanism
    with pytest.raises(InvalidInput, match="feature = 2: must be below the number of columns, 2"):
        mechanism.check(Labelled(np.zeros((3, 2)), np.array([0, 1, 0])))


@pytest.mark.parametrize("alpha", [0, 1, -0.1, math.nan])
def test_alpha_out_of_range(alpha: float) -> None:
    vote: Any = resolve("soft-majority").mechanism
    walk: Any = resolve(WALK).mechanism
    for function in (vote.blocks_for, walk.bound_for):
        with pytest.raises(InvalidInput, match=r"alpha = .*: must be a number in \(0, 1\)"):
            function(alpha)
