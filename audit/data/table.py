"""A whole labelled data set, with the facts that find it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data.datasets import Labelled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A whole labelled data set with the facts a witness needs to find it again.

    Labels of `data` are coded 0, 1, ... in sorted order of their names. `source` is a JSON
    description: kind, name, target, label names, number of records and columns, SHA-256. `columns`
    are those of `data.X` that hold a column of the file: of a text, one for each category. `lines`
    are those in which the records begin, the first line being 1; None where there is no file.
    `numbers` are what the codes stand for where the label is a real number; None where it is a
    class.
    """

    data: Labelled
    source: dict[str, Any]
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    numbers: NDArray[np.float64] | None = None


def table_of(
    data: Labelled,
    columns: Mapping[str, tuple[int, ...]],
    lines: NDArray[np.int64] | None = None,
    numbers: NDArray[np.float64] | None = None,
    **facts: Any,
) -> Table:
    """Return a data set with its size and digest among its facts."""
    return Table(
        data=data,
        columns=columns,
        lines=lines,
        numbers=numbers,
        source=facts | {"records": len(data), "columns": data.X.shape[1], "sha256": data.digest},
    )
