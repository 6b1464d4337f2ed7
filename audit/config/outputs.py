"""What one run returns, as the command line, a variable or a file says it.

`label`, or the values that occur: `yes,no`, `[0, 1, 2]`, `["a, b", "c"]`. See
`dpassay.search.declared`, which says what the words mean.
"""

from __future__ import annotations

import tomllib
from typing import Any

from dpassay.config.values import BEGINS, value_of, written
from dpassay.errors import InvalidInput

ALLOWED = "label, number, vector, sequence or text, or two or more values like yes,no"


def output_text(given: Any) -> str:
    """Return the text that stands for a declaration: a kind, or a list of TOML."""
    from dpassay.search.declared import VALUES, output_of

    found = output_of(output_said(given))
    assert found is not None  # a text or a list says something
    return written(output_said(given)) if found.kind == VALUES else found.kind


def output_meant(given: Any) -> str:
    """Say what is wrong with a declaration; empty where nothing is."""
    if not isinstance(given, (str, list)):
        return "write it in quotes, or as a list like [0, 1]"
    try:
        output_text(given)
    except InvalidInput as error:
        return _hint(given, str(error))
    return ""


def output_said(given: Any) -> Any:
    """Return what `dpassay.audit` takes: a word, or the list of values that a text spells."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if text.startswith(BEGINS):
        return value_of(text, "output")
    return [_value(item.strip()) for item in text.split(",")] if "," in text else text


def _value(item: str) -> Any:
    """Return the number or truth value that an item spells, else the item."""
    try:
        value = tomllib.loads(f"value = {item}").get("value")
    except (ValueError, RecursionError):
        return item
    return value if isinstance(value, (bool, int, float)) else item


def _hint(given: Any, said: str) -> str:
    """Say what was perhaps meant; another tool's `--output` is a folder."""
    if "TOML" in said:
        return 'write ["a", "b"]'
    told = said.partition("; ")[2]
    folder = isinstance(given, str) and (given.isidentifier() or "/" in given)
    return told or (f"a folder is --out {given}" if folder else "this is neither")
