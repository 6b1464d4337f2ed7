"""Data: datasets and their checks, data sets from files, and the split of one."""

from dpassay.data.datasets import Dataset, Labelled, Values, digest, numbers, points
from dpassay.data.files import BUILT_IN, existing_file, filled, label_of, load
from dpassay.data.table import Lines, Split, Table, split

__all__ = [
    "BUILT_IN",
    "Dataset",
    "Labelled",
    "Lines",
    "Split",
    "Table",
    "Values",
    "digest",
    "existing_file",
    "filled",
    "label_of",
    "load",
    "numbers",
    "points",
    "split",
]
