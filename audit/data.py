"""Labelled data: their source, their checks, and the split into training, pool and queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.csv_files import check_features, nameless, read_csv, record_lines, shown
from dpassay.errors import InvalidInput, near, require
from dpassay.rows.rows import Rows
from dpassay.seeds import stream

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Labelled:
    """A dataset S of labelled records; frozen, its arrays are read-only.

    Parameters
    ----------
    X : array (n, d)
        Features; finite.
    y : array (n,)
        Labels; integers >= 0.

    Raises
    ------
    InvalidInput
        If the shapes do not fit, a feature is NaN or infinite (its row and column are named), or a
        label is no integer.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", points(self.X, "X"))
        labels = np.array(self.y)
        require(
            labels.shape == (len(self.X),),
            "y",
            f"shape {labels.shape}",
            f"of shape ({len(self.X)},), one label a row of X",
        )
        numeric = labels.dtype.kind in "biuf"
        whole = numeric and bool(
            np.all((labels >= 0) & (labels < 2**53) & (np.trunc(labels) == labels))
        )
        require(whole, "y", labels, "integers >= 0")
        codes = labels.astype(np.int64)
        codes.flags.writeable = False
        object.__setattr__(self, "y", codes)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> Labelled:
        """Return the records with these indices, in this order."""
        return Labelled(self.X[rows], self.y[rows])

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What it is made of."""
        return self.X, self.y

    @property
    def digest(self) -> str:
        """SHA-256 of shape and contents, in hexadecimal.

        What a random stream and a witness know the dataset by.
        """
        return digest(*self.arrays)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Values:
    """A dataset of numbers: one for each record, or true answers of queries; frozen, read-only.

    Parameters
    ----------
    values : array (n,)
        Finite; at least one.

    Raises
    ------
    InvalidInput
        If it is no one-dimensional array of finite numbers with at least one of them.
    """

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", numbers(self.values, "values"))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What it is made of."""
        return (self.values,)

    @property
    def digest(self) -> str:
        """SHA-256 of shape and contents, in hexadecimal; see `Labelled.digest`."""
        return digest(*self.arrays)


Dataset = Labelled | Values | Rows
"""What a mechanism may be audited on."""


def digest(*arrays: NDArray[Any]) -> str:
    """SHA-256 of the shapes and little-endian bytes of the arrays."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(f"{array.dtype.kind}{array.shape}".encode())
        state.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return state.hexdigest()


def numbers(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check a list of numbers, shape (n,), and return it as read-only float64.

    Raises
    ------
    InvalidInput
        If it is no one-dimensional array of finite numbers with at least one of them.
    """
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{argument} = {type(values).__name__}: must be a list of numbers, of shape (n,)"
        ) from None
    allowed = "of shape (n,) with n >= 1"
    require(array.ndim == 1 and array.size > 0, argument, f"shape {array.shape}", allowed)
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise InvalidInput(f"{argument}[{place}] = {array[place]}: must be a finite number")
    array.flags.writeable = False
    return array


def points(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check an array of points, shape (n, d), and return it as read-only float64.

    Raises
    ------
    InvalidInput
        If it is no two-dimensional array of finite numbers with at least one row and one column.
    """
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{argument} = {type(values).__name__}: must be an array of numbers of shape (n, d)"
        ) from None
    require(
        array.ndim == 2 and array.size > 0,
        argument,
        f"shape {array.shape}",
        "of shape (n, d) with n, d >= 1",
    )
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InvalidInput(
            f"{argument}[{row}, {column}] = {array[row, column]}: must be a finite number"
        )
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A whole labelled data set with the facts a witness needs to find it again.

    Parameters
    ----------
    data : Labelled
        All records, labels coded 0, 1, ... in sorted order of their names.
    source : dict
        JSON description: kind, name, target, label names, number of records and columns, SHA-256.
    columns : mapping of tuples of int
        By the name of a column of the file, the columns of `data.X` that hold it: of a text, one
        for each category.
    lines : array (n,), optional
        Lines of the file in which the records begin, the first line being 1; None where there is
        no file.
    numbers : array (K,), optional
        Where the label is a real number, what its codes stand for; None where it is a class.
    """

    data: Labelled
    source: dict[str, Any]
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    numbers: NDArray[np.float64] | None = None


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


def load(
    source: str,
    target: str | None = None,
    slice_by: str | None = None,
    *,
    missing: bool = False,
    numbers: bool | None = False,
) -> Table:
    """Load scikit-learn's breast cancer set (`breast-cancer`), or a CSV file with a header line.

    Parameters
    ----------
    source : str
        `breast-cancer`, or the path of a CSV file.
    target : str, optional
        The column that holds the label; needed for a file.
    slice_by : str, optional
        A column that records are told apart by. Its values may be missing; unless `missing`, it is
        no feature then.
    missing : bool
        Whether features may be missing: a missing number becomes 0, with a column that says so, a
        missing text a category of its own.
    numbers : bool or None
        Whether the label is a real number; None: where some of its values are not whole.

    Returns
    -------
    Table
        Text columns are one-hot encoded; their categories are taken as public knowledge, and so are
        the label names.

    Raises
    ------
    InvalidInput
        If the file or the column is missing, a value is missing or infinite, or nothing is left to
        learn from.
    """
    if source == BUILT_IN:
        return _built_in()
    return _load_csv(source, target, slice_by, missing=missing, real=numbers)


def _built_in() -> Table:
    """Read the file where scikit-learn keeps it: to import that would take most of a second."""
    package = find_spec("sklearn")  # it is required
    assert package is not None
    path = Path(str(package.origin)).parent / "datasets" / "data" / "breast_cancer.csv"
    with path.open(encoding="utf-8") as lines:
        next(lines)  # the numbers of records and columns, and the labels
        numbers = np.array([line.split(",") for line in lines], dtype=float)
    return _table(
        Labelled(numbers[:, :-1], numbers[:, -1].astype(int)),
        {name: (i,) for i, name in enumerate(_COLUMNS)},
        kind="builtin",
        name=BUILT_IN,
        labels=["malignant", "benign"],
    )


def _load_csv(
    source: str, target: str | None, slice_by: str | None, *, missing: bool, real: bool | None
) -> Table:
    import pandas as pd

    path = Path(source)
    try:
        wrong = "" if path.is_file() else _no_file(source)
    except OSError as error:  # a name too long for a file
        wrong = f"cannot be read ({error.strerror})"
    if wrong:
        raise InvalidInput(f"--data = '{source}': {wrong}")
    sliced = slice_by if slice_by not in (None, target) else False
    frame = read_csv(path, missing=missing or sliced)
    names = [str(name) for name in frame.columns]
    if target is None:
        raise InvalidInput(
            "--label is missing: must name the column of --data that holds the label, one of "
            f"{shown(names)}"
        )
    if target not in names:
        raise InvalidInput(
            f"--label = '{target}': no such column in '{path}'; {_which(target, names)}"
        )
    features = frame.drop(columns=[target])
    if not missing:
        features = features.dropna(axis=1)  # the column that is sliced by may have gaps
    if features.shape[1] == 0:
        raise InvalidInput(
            f"--data = '{path}': has no column but '{target}'; must have at least one feature"
        )
    features = filled(features)
    check_features(path, features)
    label = frame[target]
    if label.isna().any():
        lines = record_lines(path, len(frame))
        line = int(lines[int(np.argmax(label.isna()))]) if lines is not None else 0
        raise InvalidInput(f"--data = '{path}': line {line}: column '{target}' is missing")
    if real is None:
        real = label.dtype.kind == "f" and bool((label % 1 != 0).any())
    if real and label.dtype.kind not in "iuf":
        raise InvalidInput(f"--label = '{target}': must be a column of numbers with --task numbers")
    labels, codes = np.unique(label if real else label.astype(str), return_inverse=True)
    X = pd.get_dummies(features, dtype=float).to_numpy(dtype=float)
    return _table(
        Labelled(X, codes),
        _columns(features),
        record_lines(path, len(frame)),
        labels.astype(float) if real else None,
        kind="file",
        name=str(path),
        target=target,
        labels=["a number"] if real else [str(name) for name in labels],
    )


def filled(features: pd.DataFrame) -> pd.DataFrame:
    """Return features without missing values, the code of a record being its own alone.

    A missing number becomes 0, with a column that says so, a missing text a category of its own.
    """
    gone = [name for name in features.columns if features[name].isna().any()]
    found = features.copy() if gone else features
    for name in gone:
        if features[name].dtype.kind in "iufb":
            found[f"{name} is missing"] = features[name].isna().astype(float)
            found[name] = features[name].fillna(0)
        else:
            found[name] = features[name].astype(object).fillna("(missing)")
    return found


def _no_file(source: str) -> str:
    """Say what a name is that is no file, and which file was perhaps meant."""
    path = Path(source)
    beside = {each.stem: each for each in path.parent.glob("*.csv")}
    if close := near(path.stem, beside, likeness=0.75):
        return f"no such file; did you mean '{path.with_name(beside[close].name)}'?"
    kind = "is a folder; " if source and path.is_dir() else ""
    kind = "is an address, download it first; " if "://" in source else kind
    return f"{kind}must be an existing CSV file, or '{BUILT_IN}'"


def _which(target: str, names: list[str]) -> str:
    """Say which column was meant, or which ones there are."""
    if close := near(target, names):
        return f"did you mean '{close}'?"
    bare = "; is the header line missing?" if nameless(names) else ""
    return f"it has {shown(names)}{bare}"


def _columns(features: pd.DataFrame) -> dict[str, tuple[int, ...]]:
    """Where `pd.get_dummies` puts each column.

    Those that it leaves as they are first, then the others, each in its order.
    """
    import pandas as pd

    texts = list(features.select_dtypes(include=["object", "string", "category"]).columns)
    widths = {name: 1 for name in features.columns if name not in texts}
    widths |= {name: pd.get_dummies(features[[name]]).shape[1] for name in texts}
    ends = np.cumsum(list(widths.values())).tolist()
    return {
        str(name): tuple(range(end - width, end))
        for (name, width), end in zip(widths.items(), ends, strict=True)
    }


def _table(
    data: Labelled,
    columns: Mapping[str, tuple[int, ...]],
    lines: NDArray[np.int64] | None = None,
    numbers: NDArray[np.float64] | None = None,
    **facts: Any,
) -> Table:
    return Table(
        data=data,
        columns=columns,
        lines=lines,
        numbers=numbers,
        source=facts | {"records": len(data), "columns": data.X.shape[1], "sha256": data.digest},
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Lines of a file in which the records of a split begin, the first line being 1.

    Parameters
    ----------
    train, pool : array (n,), array (m,)
        In the order of the records.
    """

    train: NDArray[np.int64]
    pool: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """A table cut into training records, a pool of replacements and held-out query points.

    The three do not overlap.

    Parameters
    ----------
    train, pool : Labelled
        The base dataset S, and the records that may replace one of its own.
    queries : array (q, d)
        Points at which predictions are asked: held-out ones, and those of the first training
        records where that was wanted.
    source : dict
        The table's source with the sizes and the seed that make this split again.
    lines : Lines, optional
        Where the records stand in the file; None where they come from none.
    """

    train: Labelled
    pool: Labelled
    queries: NDArray[np.float64]
    source: dict[str, Any]
    lines: Lines | None = None


def split(table: Table, *, train: int, queries: int, seed: int, train_queries: int = 0) -> Split:
    """Cut a table at random, by a permutation that depends on the seed alone.

    Parameters
    ----------
    table : Table
        At least 3 records.
    train, queries : int
        At most so many training records and query points, >= 1; of a small table at most 70 % and
        10 % are used. Up to `train` of the remaining records make the pool.
    seed : int
        Root seed of the run.
    train_queries : int
        At most so many training records, the first ones, whose points are asked at besides, >= 0.

    Returns
    -------
    Split
    """
    n = len(table.data)
    require(train >= 1, "--train", train, "an integer >= 1")
    require(queries >= 1, "--queries", queries, "an integer >= 1")
    require(train_queries >= 0, "--train-queries", train_queries, "an integer >= 0")
    if n < 3:
        raise InvalidInput(
            f"--data = '{table.source['name']}': has {n} record{'' if n == 1 else 's'}; must have "
            "at least 3 records: one to train on, one to replace it, one to query"
        )
    queries = min(queries, max(1, n // 10))
    train = min(train, max(1, 7 * n // 10), n - queries - 1)
    order = stream(seed, "split", table.source["sha256"]).permutation(n)
    asked, trained, pool = (
        order[:queries],
        order[queries : queries + train],
        order[queries + train :][:train],
    )
    sizes = {"seed": seed, "train": train, "pool": len(pool), "queries": queries}
    train_queries = min(train_queries, train)
    if train_queries:
        sizes["train_queries"] = train_queries
    held_out = table.data.X[np.concatenate([asked, trained[:train_queries]])]
    held_out.flags.writeable = False
    lines = table.lines
    return Split(
        train=table.data.take(trained),
        pool=table.data.take(pool),
        queries=held_out,
        source=table.source | {"split": sizes},
        lines=None if lines is None else Lines(train=lines[trained], pool=lines[pool]),
    )
