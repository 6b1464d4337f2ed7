"""In which lines of a configuration file the mechanisms are."""

from __future__ import annotations

import re
from pathlib import Path

OURS = r"(?:tool\s*\.\s*dpassay\s*\.\s*)?mechanisms"
HEADER = re.compile(rf"\s*\[\[\s*{OURS}\s*\]\]")
CLAIM = re.compile(rf"""\s*(?:["']?claim["']?\s*[.=]|\[\s*{OURS}\s*\.\s*claim\s*\])""")
OTHER = re.compile(rf"\s*\[(?!\s*{OURS}\s*\.)")


def claim_lines(path: Path) -> list[int]:
    """Return, for each table `[[mechanisms]]` of a file, the line of its claim, counted from 1.

    Without a claim it is the line of the header. TOML's own reader tells no lines, so the text
    is searched: what stands in a text of several lines could be taken for a header, and a
    caller has to check that there are as many as there are mechanisms. A file that cannot be
    read has none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    found: list[int] = []
    inside = claimed = False
    for number, line in enumerate(lines, 1):
        if HEADER.match(line):
            found.append(number)
            inside, claimed = True, False
        elif inside and not claimed and CLAIM.match(line):
            found[-1], claimed = number, True
        elif OTHER.match(line):
            inside = False
    return found
