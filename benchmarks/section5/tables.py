"""Adult and MAGIC as section 5 of Chaudhuri and Vinterbo (2013) may have had them.

Every record is kept; `?` is a category of its own. So coded, Adult has 98 linearly independent
predictors, the paper's number. 52 of them are chosen as the paper says, see
`benchmarks.section5.stepwise`.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.section5.stepwise import backward
from dpassay.data import Labelled

Array = NDArray[np.float64]
CHOSEN: Final = 52
"""Predictors of Adult that the paper uses."""
COLUMNS: Final = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)
MAGIC_COLUMNS: Final = (
    "fLength",
    "fWidth",
    "fSize",
    "fConc",
    "fConc1",
    "fAsym",
    "fM3Long",
    "fM3Trans",
    "fAlpha",
    "fDist",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A data set to experiment on.

    Parameters
    ----------
    name : str
    data : Labelled
        Features as they are in the file, and dummies; labels 0 and 1.
    predictors : tuple of str
        Names of the columns.
    facts : dict
        What is told of it: records, the share labelled 1, how predictors were chosen.
    """

    name: str
    data: Labelled
    predictors: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)


def load(folder: Path) -> tuple[Table, ...]:
    """Both data sets, from the files of the UCI repository, compressed with gzip."""
    return adult(folder), magic(folder)


def adult(folder: Path) -> Table:
    """All records of both files, 52 predictors."""
    frame = pd.concat(
        [_read(folder / "adult.data.gz"), _read(folder / "adult.test.gz", skipped=1)],
        ignore_index=True,
    )
    y = frame[14].str.startswith(">50K").to_numpy().astype(np.int64)
    coded = dummies(frame.drop(columns=14).set_axis(list(COLUMNS), axis=1))
    chosen, independent, stop = backward(coded.to_numpy(), y, CHOSEN)
    kept = coded.iloc[:, chosen]
    facts = {"independent predictors": independent, "AIC stops at": stop}
    return _table("Adult", kept.to_numpy(), y, tuple(kept.columns), facts)


def magic(folder: Path) -> Table:
    """Ten real predictors; label 1 for a primary gamma."""
    frame = _read(folder / "magic04.data.gz")
    y = (frame[10] == "g").to_numpy().astype(np.int64)
    return _table("Magic", frame.drop(columns=10).to_numpy(dtype=float), y, MAGIC_COLUMNS, {})


def dummies(frame: pd.DataFrame) -> pd.DataFrame:
    """Texts as a column for every category but the first, as R's treatment contrasts, in order."""
    coded = [
        frame[[name]].astype(float)
        if frame[name].dtype.kind in "if"
        else pd.get_dummies(frame[name], prefix=name, prefix_sep="=", dtype=float).iloc[:, 1:]
        for name in frame.columns
    ]
    return pd.concat(coded, axis=1)


def _table(
    name: str, X: Array, y: NDArray[np.int64], predictors: tuple[str, ...], facts: dict[str, Any]
) -> Table:
    told = {"records": len(y), "label 1": round(float(y.mean()), 4), **facts}
    return Table(name=name, data=Labelled(X, y), predictors=predictors, facts=told)


def _read(path: Path, skipped: int = 0) -> pd.DataFrame:
    text = io.StringIO(gzip.decompress(path.read_bytes()).decode())
    return pd.read_csv(text, header=None, skipinitialspace=True, skiprows=skipped)
