"""How documents are written.

Canonical JSON, computed numbers with 12 digits, files that are whole or not there.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from dpassay.errors import OBEYED, InvalidInput

PAGES = (".html", ".json", ".md", ".xml", ".csv", ".gz", ".sqlite")
"""What files end with, and folders do not."""
INDENT = "  "
LAID_OUT = 4
"""So many levels of a document are laid out, an entry on each line: in a record down to the fields
of a result, so that a cell is one line."""


def read_json(text: str) -> Any:
    """Read a JSON document.

    What Python's reader lets pass and JSON has not, infinities and NaN, is refused; so is a
    name that an object has twice, of which readers take one or the other, and a document that
    is nested too deeply.
    """
    try:
        return json.loads(
            text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a name twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is no number that JSON has")
    return value


def read_document(path: Path, argument: str, schema: str) -> dict[str, Any]:
    """Read a JSON file that says that it is of a schema."""
    try:
        document = read_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{argument} = '{path}': cannot be read ({error.strerror})") from None
    except ValueError:
        raise InvalidInput(f"{argument} = '{path}': is not valid JSON") from None
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise InvalidInput(f"{argument} = '{path}': must be a file of schema {schema}")
    return document


def schema_at(path: Path) -> str:
    """Return what a JSON file says its schema is; empty if it says nothing or is no such file."""
    try:
        return str(read_json(path.read_text(encoding="utf-8")).get("schema", ""))
    except (AttributeError, OSError, ValueError):
        return ""


def dumps(document: Mapping[str, Any]) -> str:
    """Write a document as canonical JSON.

    Sorted keys, one newline at the end, no NaN, what a terminal obeys escaped. Two spaces for each
    of the first levels; a list of numbers, and what lies deeper, takes one line.
    """
    text = "".join((*_laid_out(document, 0), "\n"))
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _laid_out(value: object, level: int) -> Iterator[str]:
    """Write a value, from the column on at which its first line stands."""
    if (
        not isinstance(value, dict | list | tuple)
        or level >= LAID_OUT
        or (
            not isinstance(value, dict)
            and all(isinstance(each, int | float) or each is None for each in value)
        )
        or not value
    ):
        yield json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False)
        return
    inner = "\n" + INDENT * (level + 1)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    entries = sorted(value.items()) if isinstance(value, dict) else ((None, each) for each in value)
    for place, (key, entry) in enumerate(entries):
        yield f"{',' if place else ''}{inner}"
        if key is not None:
            yield f"{json.dumps(key, ensure_ascii=False)}: "
        yield from _laid_out(entry, level + 1)
    yield f"\n{INDENT * level}{closing}"


def witness_file(result_id: str) -> str:
    """Return the path of a result's witness below its run's folder, for each id another."""
    return f"witnesses/{quote(result_id, safe='', errors='surrogatepass')}.json"


def clearest_id(result_id: str) -> str:
    """Return the name by which `witness_file` knows the clearest witness of a result."""
    return f"{result_id}.clearest"


def write_text(path: Path, text: str, argument: str = "") -> None:
    """Write a text file so that no reader ever sees half of it; an older one is replaced.

    What a terminal or a page obeys is replaced, as by `printable`. A file that ends in .gz is
    compressed.
    """
    content = OBEYED.sub("\ufffd", text).encode()
    with whole_file(path, argument) as file:
        file.write(gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)


@contextmanager
def whole_file(path: Path, argument: str = "") -> Iterator[BinaryIO]:
    """Open a file to be written so that it is there as a whole or not at all; see `write_text`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        named = f"{argument} = '{path}'" if argument else f"--out = '{path.parent}'"
        why = getattr(error, "strerror", error)
        raise InvalidInput(f"{named}: cannot be written ({why})") from None


def exists(path: Path) -> bool:
    """Return whether there is something at a path, as far as it can be looked at."""
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, or with a null byte
        return False


def writable(directory: Path) -> None:
    """Make sure that a directory, made if need be, can be written into before any work is done."""
    if directory.suffix in PAGES and not exists(directory):
        raise InvalidInput(
            f"--out = '{directory}': must be a folder; did you mean '{directory.with_suffix('')}'?"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        folders = [
            each.name for each in directory.iterdir() if each.suffix in PAGES and each.is_dir()
        ]
    except (OSError, ValueError) as error:
        why = f"cannot be written ({getattr(error, 'strerror', error)})"
        why = "is a file; must be a folder" if exists(directory) and directory.is_file() else why
        raise InvalidInput(f"--out = '{directory}': {why}") from None
    if folders:
        raise InvalidInput(f"--out = '{directory}': its {folders[0]} is a folder; must be a file")
