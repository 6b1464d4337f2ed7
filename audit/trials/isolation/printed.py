"""What processes have printed: the first different lines, each with its number."""

from __future__ import annotations

import os
from collections import Counter

from dpassay.errors import printable

CHUNK = 1 << 20
SHOWN = 10
"""So many different lines of what a host has printed are told at most."""
LONGEST_LINE = 300
READS = 4
"""So many chunks are read at a time, lest a flood of them stop the clock."""
FLOOD = 64 << 20
"""Bytes after which nobody looks at lines any more."""


class Said:
    """What hosts have printed: the first different lines, each with its number."""

    def __init__(self) -> None:
        self._lines: dict[bytes, int] = {}
        self._more = 0
        self._rest = b""
        self._heard = 0

    def read(self, file: int) -> None:
        """Take in some of what a file holds; of a flood the lines are only counted."""
        for _ in range(READS):
            try:
                found = os.read(file, CHUNK)
            except OSError:
                return
            if not found:
                return
            self._heard += len(found)
            if self._heard < FLOOD:
                self.hear(found)
            else:
                self._more += found.count(b"\n")

    def hear(self, text: bytes) -> None:
        """Take in some of it."""
        *lines, self._rest = (self._rest + text).split(b"\n")
        self._rest = self._rest[-CHUNK:]
        for line, number in Counter(lines).items():
            self._count(line, number)

    def _count(self, line: bytes, number: int = 1) -> None:
        line = line[:LONGEST_LINE].rstrip()
        if line in self._lines or (line and len(self._lines) < SHOWN):
            self._lines[line] = self._lines.get(line, 0) + number
        elif line:
            self._more += number

    def take(self, other: Said) -> None:
        """Add what another host has printed, and leave it nothing."""
        for line, number in other._lines.items():
            self._count(line, number)
        self._count(other._rest)
        self._more += other._more
        other._lines, other._more, other._rest = {}, 0, b""

    def lines(self) -> list[str]:
        """Return what is told of it."""
        told = []
        for raw, number in self._lines.items():
            line = printable(raw.decode(errors="replace"))
            told.append(line if number == 1 else f"{line} ({number:,} times)")
        return [*told, f"... and {self._more:,} more lines"] if self._more else told
