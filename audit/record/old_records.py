"""Records of dpassay before 0.2, which knew searches by the words that describe them.

The keys that those words stand for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNKNOWN = "?"
"""Stands in a key for what the words of an old record do not tell."""
_KNOWN = (
    (r"each of (\d+) records replaced by one drawn from a pool of (\d+)", "data:one:{}:{}"),
    (r"the label of each of (\d+) records flipped", "data:flip:{}:0"),
    (
        r"each of (\d+) records replaced by one drawn from a pool of (\d+), and its label flipped",
        "data:one+flip:{}:{}",
    ),
    (
        r"each of (\d+) records replaced by every one of a pool of (\d+), and its label flipped",
        "data:all:{}:{}",
    ),
    (r"own worst case: .*", "own:?"),
    (r"learned direction: .*", "learned"),
    (
        r"all datasets of (\d+) records over the points (\S+(?: x \S+)*) with labels 0 and 1",
        "domain:{}:{}",
    ),
)
_SEVERAL = re.compile(r"(.*); (\d+) of these changes at a time")


def search_keys(searched: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the key of each search of a result, from `searched` of a record of any age."""
    keys = searched.get("keys")
    return tuple(map(_key, searched["how"]) if keys is None else keys)


def _key(how: str) -> str:
    several = _SEVERAL.fullmatch(how)
    if several and not how.startswith("own worst case"):
        return f"{_key(several[1])}:{several[2]}"
    for pattern, key in _KNOWN:
        found = re.fullmatch(pattern, how, re.DOTALL)
        if found:
            return key.format(
                *(group.replace("1..", "").replace(" x ", "x") for group in found.groups())
            )
    return f"data:{UNKNOWN}"


def comparable_searches(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the searches of two results are known by, as far as both tell.

    Two old records are compared by their words; where only one has keys and the other's is unknown,
    the kind alone is.
    """
    if "keys" not in one and "keys" not in other:
        return tuple(one["how"]), tuple(other["how"])
    keys, known = search_keys(one), search_keys(other)
    vague = {key.partition(":")[0] for key in (*keys, *known) if UNKNOWN in key}

    def cut(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(kind if (kind := key.partition(":")[0]) in vague else key for key in keys)

    return cut(keys), cut(known)
