"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from dpassay.changes.change import Change
from dpassay.changes.facts import change_key, fits, narrowest
from dpassay.changes.lines import changed_lines, in_file
from dpassay.changes.numbers import ReplaceValue, Shift
from dpassay.changes.reading import change_from_json
from dpassay.changes.records import FlipLabel, Replace, from_pool
from dpassay.changes.several import AnyOf, Compared, Several, one_by_one

__all__ = [
    "AnyOf",
    "Change",
    "Compared",
    "FlipLabel",
    "Replace",
    "ReplaceValue",
    "Several",
    "Shift",
    "change_from_json",
    "change_key",
    "changed_lines",
    "fits",
    "from_pool",
    "in_file",
    "narrowest",
    "one_by_one",
]
