"""The lock files, read."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([a-z0-9-]+)==([^ ]+)(?: ; ([^\\]+))? \\$", re.MULTILINE)


def locked(name: str) -> dict[str, str]:
    """Return the version of every package in a lock; of several the one for this Python."""
    found: dict[str, str] = {}
    for package, version, marker in PIN.findall((ROOT / name).read_text(encoding="utf-8")):
        if package not in found or Marker(marker).evaluate():
            found[package] = version
    return found
