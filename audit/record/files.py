"""How documents are written: canonical JSON, computed numbers with 12 digits, files that are whole or not there."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpassay.errors import InvalidInput

FINITE, LARGEST = sys.float_info.max, 2**63 - 1
SURROGATES = re.compile("[\ud800-\udfff]")
TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FINITE,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
"""The types of JSON Schema; a number is finite, and an integer has 64 bits."""


def fault(value: object, schema: Mapping[str, Any], place: str = "it") -> str:
    """Say where a value read from JSON breaks a schema; empty where it does not.

    Knows what the schemas of this package are made of, one way of each; fields that a schema does not know are let pass, a later
    version may have added them.
    """
    if "anyOf" in schema:
        told = [fault(value, each, place) for each in schema["anyOf"]]
        return "" if "" in told else told[0]
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        shown = value if isinstance(value, str | int | float) else type(value).__name__
        return "" if value in allowed else f"{place} is {shown!r:.80}, no such value is known"
    if "type" in schema and not TYPES[schema["type"]](value):
        return f"{place} is no {schema['type']}"
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{place} has no field '{missing[0]}' where one must be"
        parts = ((value[name], part, name) for name, part in schema.get("properties", {}).items() if name in value)
        return next(filter(None, (fault(*part) for part in parts)), "")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            return f"{place} has {len(value)} items"
        rest = itertools.repeat(schema.get("items", {}))
        parts_of = zip(value, itertools.chain(schema.get("prefixItems", ()), rest), strict=False)
        return next(filter(None, (fault(each, part, f"an item of {place}") for each, part in parts_of)), "")
    if isinstance(value, int | float) and not (
        schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        and schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
    ):
        return f"{place} = {value} is out of range"
    return ""


def read_json(text: str) -> Any:
    """Read a JSON document; what Python's reader lets pass and JSON has not, infinities and NaN, is refused.

    Raises
    ------
    ValueError
        If it is no JSON, also if it is nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is no number that JSON has")
    return value


def schema_at(path: Path) -> str:
    """Return what a JSON file says its schema is; empty where it says nothing, or is no such file."""
    try:
        document = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(document.get("schema", "")) if isinstance(document, dict) else ""


def dumps(document: Mapping[str, Any]) -> str:
    """Write a document as canonical JSON: sorted keys, two spaces, one newline at the end, no NaN, surrogates escaped."""
    text = json.dumps(document, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def witness_file(result_id: str) -> str:
    """Return the path of a result's witness below the folder of its run; different ids never share one."""
    return f"witnesses/{quote(result_id, safe='', errors='surrogatepass')}.json"


def write_text(path: Path, text: str, argument: str = "") -> None:
    """Write a text file so that no reader ever sees half of it; an older one is replaced. One that ends in .gz is compressed.

    Parameters
    ----------
    path : Path
    text : str
    argument : str
        The argument that named the file, for the message; by default the folder's, which is --out.

    Raises
    ------
    InvalidInput
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(gzip.compress(text.encode(), 6, mtime=0) if path.suffix == ".gz" else text.encode())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        named = f"{argument} = '{path}'" if argument else f"--out = '{path.parent}'"
        raise InvalidInput(f"{named}: cannot be written ({error.strerror})") from None


def writable(directory: Path) -> None:
    """Make sure that files can be written into a directory, which is made if need be, before any work is done for them.

    Raises
    ------
    InvalidInput
        If they cannot.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise InvalidInput(f"--out = '{directory}': cannot be written ({error.strerror})") from None
