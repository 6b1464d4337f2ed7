from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dpassay.reports.run.markdown import code_md, text_md, to_markdown

Record = dict[str, Any]

GOLDEN = Path(__file__).parents[1] / "golden" / "report.md"
"""Renew with: python -m pytest tests/reports/test_markdown.py --basetemp=T; cp
T/test_golden0/report.md tests/golden/"""


def test_golden(small: Record, tmp_path: Path) -> None:
    made = to_markdown(small)
    (tmp_path / "report.md").write_text(made, encoding="utf-8")
    assert made == GOLDEN.read_text(encoding="utf-8")


def test_every_row_of_a_table_has_its_columns(hostile: Record) -> None:
    rows = [line for line in to_markdown(hostile).splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) - 1 for line in rows]
    assert set(widths) == {8, 9}
    assert len(rows) == (2 + 3) + (2 + 2) + (2 + 3) + (2 + 2)


def test_foreign_text_is_no_markup(hostile: Record) -> None:
    text = to_markdown(hostile)
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$|<summary>.*?</summary>", "", text)
    assert not [
        summary for summary in re.findall("<summary>(.*?)</summary>", text) if "<" in summary
    ]
    assert "<script" not in outside
    assert not re.search(r"(?<!\\)`", outside)
    assert not re.search(r"(?m)^# a", text)
    assert "\x1b" not in text


def test_escapes() -> None:
    assert text_md("a|b_c*<d>&`$") == "a\\|b\\_c\\*&lt;d&gt;&amp;\\`\\$"
    assert code_md("a ```` b") == "`````\na ```` b\n`````"


def test_nothing_audited(make: Any) -> None:
    text = to_markdown(make.record())
    assert text.startswith("# Nothing was audited\n")
    assert "## Results" not in text


def test_every_row_says_what_its_claim_is_about(make: Any) -> None:
    """Summary, findings and both notions."""
    result = make.computed("histogram.printed", "refuted", 1.0)
    result["claim"]["unit"] = "noisy count of one bin"
    text = to_markdown(make.record(result))
    rows = [line for line in text.splitlines() if line.startswith("|") and "histogram" in line]
    assert len(rows) >= 2
    assert all("| noisy count of one bin |" in row for row in rows)
