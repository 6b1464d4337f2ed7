"""Data: datasets and their checks, data sets from files, and the split of one."""

from dpassay.data.built_in import BUILT_IN
from dpassay.data.datasets import Dataset, Labelled, Values, digest, numbers, points
from dpassay.data.files import filled
from dpassay.data.loading import load
from dpassay.data.splits import Lines, Split, split
from dpassay.data.table import Table

__all__ = [
    "BUILT_IN",
    "Dataset",
    "Labelled",
    "Lines",
    "Split",
    "Table",
    "Values",
    "digest",
    "filled",
    "load",
    "numbers",
    "points",
    "split",
]
