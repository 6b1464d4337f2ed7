"""The pages of findings as one text, a section each, in the order of the index."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
FINDINGS = (DOCS / "findings.md").read_text(encoding="utf-8")
FINDINGS += "".join(
    f"\n#{(DOCS / name).read_text(encoding='utf-8')}"
    for name in re.findall(r"\]\((findings/\S+\.md)\)", FINDINGS)
)
