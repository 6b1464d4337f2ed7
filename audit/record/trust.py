"""What a witness names that does not come with dpassay: it runs, or is read, where that is trusted.

A file from somebody else could name anything, so what is allowed without trust is a closed list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.config.values import BEGINS, value_of
from dpassay.errors import InvalidInput
from dpassay.targets.catalogue import CATALOGUE, ENTRIES, PARTS

OURS = frozenset(ENTRIES) | {entry.address for entry in (*CATALOGUE.values(), *PARTS)}
"""Names and addresses of what the catalogue has, its parts included."""
NUMBER = r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"
PLAIN = re.compile(rf"[\w .;+-]*|{NUMBER}([ :;]+{NUMBER})*", re.ASCII)
"""Bare words, which only a built-in mechanism gives a meaning, and numbers. An object that is
imported has a colon between names, a file or an address a slash."""


def foreign(witness: Mapping[str, Any]) -> list[str]:
    """Return what a replay of a witness runs that does not come with dpassay.

    Its target, and parameters that could name code: at any depth, in every spelling of a base.
    """
    target, ours = witness["target"], witness["target"] in OURS
    if target is None:  # nobody can make it again
        return []
    return [
        *(() if ours else [shown(target)]),
        *(
            f"{shown(name, '')} = {shown(value)}"
            for name, value in witness["parameters"].items()
            if (isinstance(value, str) and not ours) or not _plain(value)
        ),
    ]


def file_of(witness: Mapping[str, Any]) -> str:
    """Return the path of the file that a replay of a witness reads; empty where it reads none."""
    from dpassay.data import BUILT_IN

    data = witness["data"]
    name = str(data["source"]["name"]) if data["kind"] == "source" else BUILT_IN
    return "" if name == BUILT_IN else name


def trust_of(witness: Mapping[str, Any]) -> str:
    """Return what the command that replays a witness ends in: `--trust` where it runs such code."""
    return " --trust" if foreign(witness) else ""


def shown(value: object, quote: str = "'") -> str:
    """Quote what a stranger wrote, cut short and without control characters."""
    text = "".join(each if each.isprintable() else "?" for each in str(value)[:80])
    return f"{quote}{text}{quote}"


def _plain(value: object) -> bool:
    """Return whether a parameter names no code outside the catalogue."""
    try:
        return all(text in OURS or PLAIN.fullmatch(text) for text in _words(value))
    except (InvalidInput, RecursionError):  # no value of TOML, or one that nobody wrote by hand
        return False


def _words(value: object) -> Iterator[str]:
    """Yield the texts in a parameter as its mechanism will read them."""
    if isinstance(value, str) and value.strip().startswith(BEGINS):
        yield from _words(value_of(value, ""))
    elif isinstance(value, str):
        yield from map(str.strip, re.split("[,=]", value))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _words(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _words(each)
