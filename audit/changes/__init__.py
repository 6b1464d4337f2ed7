"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from dpassay.changes.descriptions import (
    change_from_json,
    change_key,
    changed_lines,
    fits,
    in_file,
    narrowest,
)
from dpassay.changes.kinds import (
    AnyOf,
    Change,
    Compared,
    FlipLabel,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    from_pool,
    one_by_one,
)

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
