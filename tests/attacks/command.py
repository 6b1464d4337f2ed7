"""`dpassay attack` in this process, and the record that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from dpassay.cli.main import main
from dpassay.record.schemas import fault, read_schema


def attack(words: str) -> int:
    """Return its exit code; words are parted by blanks."""
    return main(["attack", *words.split()])


def record_of(folder: Path) -> Any:
    """Read the record in a folder, which must be valid."""
    record = json.loads((folder / "attack.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(read_schema("attack")).validate(record)
    assert fault(record, "attack") == ""
    return record
