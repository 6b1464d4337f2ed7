"""Values in texts: TOML, for the command line, variables and nested parameters.

`5`, `0.1`, `true`, `"a text"`, `[0.1, 1]` and `{name="soft-majority", r=5}` are values. Where a
value stands alone, as after `-p`, the quotes around a text may be left out. Older spellings can
still be read: `0.1,1` for a list, `epsilon=1,delta=0.1` for a table, `soft-majority,r=5` for a
table with a name.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from dpassay.errors import InvalidInput

BEGINS = ("[", "{", '"', "'")
"""What a list, a table and a quoted text begin with; any other text is taken as it stands."""
EXAMPLE = 'write [0.1, 1] or {name="soft-majority", r=5}'
AWKWARD = frozenset(",={[\"'\n")
"""What the short spelling of a table cannot hold in a value."""


def value_of(text: str, argument: str) -> Any:
    """Return the value of a text; one that begins like no list, table or quoted text stays."""
    text = text.strip()
    if not text.startswith(BEGINS):
        return text
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{argument} = '{text}': is not a value of TOML ({error}); {EXAMPLE}"
        ) from None
    if set(found) != {"value"}:
        raise InvalidInput(f"{argument} = '{text}': must be one value; {EXAMPLE}")
    return found["value"]


def scalar_of(text: str) -> Any:
    """Return the number or truth value that a text spells, or else the text."""
    try:
        value = tomllib.loads(f"value = {text}").get("value")
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (bool, int, float)) else text


def spelled(value: Any) -> Any:
    """Return a number or a truth value as the text after `-p`; texts, lists and tables stay.

    A parameter takes its type from the mechanism, so 1, 1.0 and the text 1 are the same to it.
    """
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, (int, float)) else value


def is_value(value: Any) -> bool:
    """Return whether a parameter may have a value: JSON without null, infinities and NaN."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_value(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(is_value, value))
    return isinstance(value, (bool, int, str))


def listed(given: Any) -> list[Any]:
    """Return the items of a TOML list, of texts separated by commas, or of a list."""
    found = value_of(given, "list") if isinstance(given, str) else given
    if isinstance(found, str):
        return found.split(",")
    return list(found) if isinstance(found, (list, tuple)) else [found]


def table_of(text: str, argument: str, allowed: str) -> dict[str, Any]:
    """Read a table: `{epsilon=1, delta=0.1}`, or `epsilon=1,delta=0.1`."""
    found = value_of(text, argument)
    if isinstance(found, dict):
        return found
    if not isinstance(found, str):
        raise InvalidInput(f"{argument} = '{text}': must be {allowed}")
    return dict(assignment(part, argument) for part in found.split(","))


def assignment(text: str, argument: str) -> tuple[str, str]:
    """Read `name=value`; the value stays a text."""
    name, separator, value = (part.strip() for part in text.partition("="))
    if not (name and separator and value):
        raise InvalidInput(f"{argument} {text}: must have the form name=value")
    return name, value


def named_table(given: str | Mapping[str, Any], argument: str) -> tuple[str, dict[str, Any]]:
    """Read a name and its parameters: `{name="soft-majority", r=5}`, or `soft-majority,r=5`."""
    found = value_of(given, argument) if isinstance(given, str) else dict(given)
    if isinstance(found, str):
        name, *settings = (part.strip() for part in found.split(","))
        parts = [tuple(map(str.strip, each.partition("="))) for each in settings]
        for setting, part in zip(settings, parts, strict=True):
            if not all(part):
                raise InvalidInput(
                    f"{argument} = '{given}': '{setting}' must have the form name=value"
                )
        return name, {key: value for key, _, value in parts}
    if not isinstance(found, dict) or not isinstance(found.get("name"), str) or not is_value(found):
        shown = given if isinstance(given, str) else written(dict(given))
        raise InvalidInput(
            f"{argument} = '{shown}': must be a name, or a table like {{name=\"soft-majority\", "
            "r=5}"
        )
    return found["name"], {key: value for key, value in found.items() if key != "name"}


def named_text(given: str | Mapping[str, Any], argument: str) -> str:
    """Return the text that stands for a name with parameters in records and keys of streams.

    It is `name,parameter=value,...` where every value is a short text, as in all records so
    far, else a table of TOML. A text that is no table stays as it is.
    """
    if isinstance(given, str) and not given.strip().startswith(BEGINS):
        return given
    name, parameters = named_table(given, argument)
    texts = {key: spelled(value) for key, value in parameters.items()}
    if all(
        isinstance(each, str) and each == each.strip() != "" and not set(each) & AWKWARD
        for each in texts.values()
    ):
        return ",".join([name, *(f"{key}={value}" for key, value in texts.items())])
    return written({"name": name} | parameters)


def written(value: Any) -> str:
    """Return a value as TOML, as commands and records have it: `{name="soft-majority", r="5"}`."""
    if isinstance(value, dict):
        plain = re.compile(r"[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*")
        names = (key if plain.fullmatch(key) else written(key) for key in value)
        pairs = zip(names, map(written, value.values()), strict=True)
        return "{" + ", ".join(map("=".join, pairs)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(spelled(value))
