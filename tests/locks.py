"""The lock files, read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([a-z0-9-]+)==([^ ]+)(?: ;[^\\]+)? \\$", re.MULTILINE)


def locked(name: str) -> dict[str, str]:
    """Return the version of every package in a lock."""
    return dict(PIN.findall((ROOT / name).read_text(encoding="utf-8")))
