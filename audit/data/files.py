"""From what a user names to the data set: a file, or the set that comes along."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpassay.csv_files import check_features, nameless, read_frame, record_lines, shown
from dpassay.data.datasets import Labelled
from dpassay.data.table import Table, table_of
from dpassay.errors import InvalidInput, near

if TYPE_CHECKING:
    import pandas as pd

BUILT_IN = "breast-cancer"
"""Name of the data set that comes along, with scikit-learn."""
_SHAPE = "concavity", "concave points", "symmetry", "fractal dimension"
_MEASURED = "radius", "texture", "perimeter", "area", "smoothness", "compactness", *_SHAPE
# the names of its columns; the file has none
_COLUMNS = [form.format(what) for form in ("mean {}", "{} error", "worst {}") for what in _MEASURED]


def load(
    source: str,
    target: str | None = None,
    slice_by: str | None = None,
    *,
    missing: bool = False,
    numbers: bool | None = False,
) -> Table:
    """Load scikit-learn's breast cancer set (`breast-cancer`), or a CSV or Parquet file.

    `target` is the column that holds the label; needed for a file. The label is a real number where
    `numbers`, or, with None, where some of its values are not whole. Records are told apart by the
    column `slice_by`, whose values may be missing; unless `missing`, it is no feature then. With
    `missing`, a missing number of a feature becomes 0, with a column that says so, a missing text a
    category of its own. Text columns are one-hot encoded; their categories are taken as public
    knowledge, and so are the label names.

    Raise InvalidInput if the file or the column is missing, a value is missing or infinite, or
    nothing is left to learn from.
    """
    if source == BUILT_IN:
        return _built_in()
    import pandas as pd

    path = existing_file(source)
    sliced = slice_by if slice_by not in (None, target) else False
    frame = read_frame(path, missing=missing or sliced)
    target = _label_column(target, [str(name) for name in frame.columns], path)
    features = frame.drop(columns=[target])
    if not missing:
        features = features.dropna(axis=1)  # the column that is sliced by may have gaps
    if features.shape[1] == 0:
        raise InvalidInput(
            f"--data = '{path}': has no column but '{target}'; must have at least one feature"
        )
    dates = features.select_dtypes(include=["datetime", "datetimetz"]).columns
    features = filled(features.astype(dict.fromkeys(dates, "str")))  # as a CSV file has them
    check_features(path, features)
    lines, label = record_lines(path, len(frame)), frame[target]
    if label.isna().any():
        line = int(lines[int(np.argmax(label.isna()))]) if lines is not None else 0
        raise InvalidInput(f"--data = '{path}': line {line}: column '{target}' is missing")
    real = numbers
    if real is None:
        real = label.dtype.kind == "f" and bool((label % 1 != 0).any())
    elif real and label.dtype.kind not in "iuf":
        raise InvalidInput(f"--label = '{target}': must be a column of numbers with --task numbers")
    labels, codes = np.unique(label if real else label.astype(str), return_inverse=True)
    return table_of(
        Labelled(pd.get_dummies(features, dtype=float).to_numpy(dtype=float), codes),
        _columns(features),
        lines,
        labels.astype(float) if real else None,
        kind="file",
        name=str(path),
        target=target,
        labels=["a number"] if real else [str(name) for name in labels],
    )


def label_of(source: str, target: str | None) -> str:
    """Return the column of a file that holds the label; raise as `load` does."""
    path = existing_file(source)
    return _label_column(target, list(map(str, read_frame(path, missing=True).columns)), path)


def _built_in() -> Table:
    """Read the file where scikit-learn keeps it: to import that would take most of a second."""
    package = find_spec("sklearn")  # it is required
    assert package is not None
    path = Path(str(package.origin)).parent / "datasets" / "data" / "breast_cancer.csv"
    # the first line holds the numbers of records and columns, and the labels
    values = np.loadtxt(path, delimiter=",", skiprows=1, encoding="utf-8")
    data = Labelled(values[:, :-1], values[:, -1].astype(int))
    columns = {name: (i,) for i, name in enumerate(_COLUMNS)}
    return table_of(data, columns, kind="builtin", name=BUILT_IN, labels=["malignant", "benign"])


def existing_file(source: str) -> Path:
    """Return the path of a file; else say what a name is, and which file was perhaps meant."""
    path = Path(source)
    try:
        if path.is_file():
            return path
        beside = {each.stem: each for each in path.parent.glob("*.csv")}
        kind = "is a folder; " if source and path.is_dir() else ""
        kind = "is an address, download it first; " if "://" in source else kind
        wrong = f"{kind}must be an existing CSV or Parquet file, or '{BUILT_IN}'"
        if close := near(path.stem, beside, likeness=0.75):
            wrong = f"no such file; did you mean '{path.with_name(beside[close].name)}'?"
    except OSError as error:  # a name too long for a file
        wrong = f"cannot be read ({error.strerror})"
    raise InvalidInput(f"--data = '{source}': {wrong}")


def _label_column(target: str | None, names: list[str], path: Path) -> str:
    if target is None:
        raise InvalidInput(
            "--label is missing: must name the column of --data that holds the label, one of "
            f"{shown(names)}"
        )
    if target in names:
        return target
    bare = "; is the header line missing?" if nameless(names) else ""
    close = near(target, names)
    which = f"did you mean '{close}'?" if close else f"it has {shown(names)}{bare}"
    raise InvalidInput(f"--label = '{target}': no such column in '{path}'; {which}")


def filled(features: pd.DataFrame) -> pd.DataFrame:
    """Return features whose missing numbers are 0, with a column that says so, or a category."""
    gone = [name for name in features.columns if features[name].isna().any()]
    found = features.copy() if gone else features
    for name in gone:
        if features[name].dtype.kind in "iufb":
            found[f"{name} is missing"] = features[name].isna().astype(float)
            found[name] = features[name].fillna(0)
        else:
            found[name] = features[name].astype(object).fillna("(missing)")
    return found


def _columns(features: pd.DataFrame) -> dict[str, tuple[int, ...]]:
    """Return where `pd.get_dummies` puts each column: those that it leaves as they are first."""
    import pandas as pd

    texts = list(features.select_dtypes(include=["object", "string", "category"]).columns)
    widths = {name: 1 for name in features.columns if name not in texts}
    widths |= {name: pd.get_dummies(features[[name]]).shape[1] for name in texts}
    ends = np.cumsum(list(widths.values())).tolist()
    return {
        str(name): tuple(range(end - width, end))
        for (name, width), end in zip(widths.items(), ends, strict=True)
    }
