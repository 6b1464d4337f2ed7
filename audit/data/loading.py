"""From what a user names to the data set."""

from __future__ import annotations

from dpassay.data.built_in import BUILT_IN, built_in
from dpassay.data.files import table_of_file
from dpassay.data.table import Table


def load(
    source: str,
    target: str | None = None,
    slice_by: str | None = None,
    *,
    missing: bool = False,
    numbers: bool | None = False,
) -> Table:
    """Load scikit-learn's breast cancer set (`breast-cancer`), or a CSV file with a header line.

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
        return built_in()
    return table_of_file(source, target, slice_by, missing=missing, real=numbers)
