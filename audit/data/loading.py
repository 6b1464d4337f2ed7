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
        return built_in()
    return table_of_file(source, target, slice_by, missing=missing, real=numbers)
