"""In which lines of a configuration file the mechanisms are."""

from __future__ import annotations

import re
from pathlib import Path

OURS = r"(?:tool\s*\.\s*dpassay\s*\.\s*)?mechanisms"
HEADER = re.compile(rf"\s*\[\[\s*{OURS}\s*\]\]")
CLAIM = re.compile(rf"""\s*(?:["']?claim["']?\s*[.=]|\[\s*{OURS}\s*\.\s*claim\s*\])""")
OTHER = re.compile(rf"\s*\[(?!\s*{OURS}\s*\.)")


def claim_lines(path: Path) -> list[int]:
    """Return the line of each mechanism's claim, or of its header, counted from 1.

    TOML's own reader tells no lines, so the text is searched: what stands in a text of several
    lines could be taken for a header, and a caller has to check that there are as many as there
    are mechanisms. A file that cannot be read has none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []
    found: list[int] = []
    looking = False
    for number, line in enumerate(lines, 1):
        if HEADER.match(line):
            found.append(number)
            looking = True
        elif looking and CLAIM.match(line):
            found[-1], looking = number, False
        elif OTHER.match(line):
            looking = False
    return found
