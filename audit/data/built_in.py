"""The data set that comes along with scikit-learn."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dpassay.data.datasets import Labelled
from dpassay.data.table import Table, table_of

BUILT_IN = "breast-cancer"
"""Name of the data set that comes along, with scikit-learn."""
_MEASURED = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
_COLUMNS = tuple(
    form.format(what) for form in ("mean {}", "{} error", "worst {}") for what in _MEASURED
)
"""Names of its columns; the file has none."""


def built_in() -> Table:
    """Read the file where scikit-learn keeps it: to import that would take most of a second."""
    package = find_spec("sklearn")  # it is required
    assert package is not None
    path = Path(str(package.origin)).parent / "datasets" / "data" / "breast_cancer.csv"
    with path.open(encoding="utf-8") as lines:
        next(lines)  # the numbers of records and columns, and the labels
        numbers = np.array([line.split(",") for line in lines], dtype=float)
    return table_of(
        Labelled(numbers[:, :-1], numbers[:, -1].astype(int)),
        {name: (i,) for i, name in enumerate(_COLUMNS)},
        kind="builtin",
        name=BUILT_IN,
        labels=["malignant", "benign"],
    )
