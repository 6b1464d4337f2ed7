from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dpassay.reports.run.markdown import FEW, LIMIT, by_mechanism, code_md, text_md, to_markdown
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.statuses import EXPECTED, HELD, REFUTED

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
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$|</?(details|summary)>", "", text)
    assert "<script" not in outside
    assert not re.search(r"(?<!\\)`", outside)
    assert not re.search(r"(?m)^# a", text)
    assert "\x1b" not in text


def test_escapes() -> None:
    assert text_md("a|b_c*<d>&`$") == "a\\|b\\_c\\*&lt;d&gt;&amp;\\`\\$"
    joined = "@\u2060me #\u20607 GH\u2060-7 www\u2060.x.y https:\u2060//x.y a@\u2060x.y"
    assert text_md("@me #7\nGH-7 www.x.y https://x.y a@x.y\x1b\u202e") == f"{joined}\ufffd\ufffd"
    assert code_md("a ```` b") == "`````\na ```` b\n`````"


def test_every_row_says_what_its_claim_is_about(make: Any) -> None:
    """Summary, findings and both notions."""
    result = make.computed("histogram.printed", "refuted", 1.0)
    result["claim"]["unit"] = "noisy count of one bin"
    text = to_markdown(make.record(result))
    rows = [line for line in text.splitlines() if line.startswith("|") and "histogram" in line]
    assert len(rows) >= 2
    assert all("| noisy count of one bin |" in row for row in rows)


def claimed(make: Any, name: str, verdict: str, status: str, **claim: Any) -> Record:
    made: Record = make.computed(f"{name}.{status}.exact", verdict)
    made["claim"] |= {"status": status} | claim
    made["per_query"] = [
        make.cell(query, 0.5, 0.5, exact=0.5) | {"change": f"record {query}"} for query in range(40)
    ]
    return made


def catalogue(make: Any, number: int = 40) -> Record:
    """Every third printed claim is wrong, as is known, and has a corrected one; one more is not."""
    found = []
    for k in range(number):
        wrong = k % 3 == 0
        printed = claimed(make, f"m{k}", "refuted" if wrong else "not refuted", "printed")
        if wrong:
            printed["expected"] = "refuted"
            found.append(claimed(make, f"m{k}", "not refuted", "corrected", epsilon=2.0))
        found.append(printed)
    return make.record(*found, claimed(make, "news", "refuted", "printed"))  # type: ignore[no-any-return]


def test_a_catalogue_fits_a_phone(make: Any) -> None:
    record = catalogue(make)
    text = to_markdown(record)
    assert len(text.encode()) < LIMIT == 60_000 < len(to_markdown(record, limit=10**9).encode())
    assert "Shortened" not in text
    titles = re.findall("^## (.*)$", text, re.MULTILINE)
    assert titles == ["Refuted, failed or undecided", "Every mechanism", "Reproduce", "More"]
    unnamed = make.record(*(make.computed(name, "refuted") for name in ("", "", "a", "a")))
    assert to_markdown(unnamed).count("\n### ▲ ") == 4  # a damaged record shows what there is


def test_what_nobody_knew_is_open_and_what_was_declared_is_folded(make: Any) -> None:
    text = to_markdown(catalogue(make))
    assert re.findall(r"(?m)^### (.*): claims", text) == ["▲ news"]
    folded = re.findall(
        "<details><summary>(.*?): claims .*?</summary>(.*?)</details>", text, re.DOTALL
    )
    assert [who for who, _ in folded] == [f"△ m{k}.printed" for k in range(0, 40, 3)]
    for who, story in folded:
        assert f"dpassay replay witnesses/{who[2:]}.exact.json --trust\n" in story
        assert all(f"**{title}.** " in story for title in ("Claim", "Verdict", "Witness"))
    assert text.index("▲ news") < text.index("△ m0") < text.index("| mechanism |")


def test_printed_and_corrected_claims_stand_side_by_side(make: Any) -> None:
    record = catalogue(make)
    table, statuses = by_mechanism(make_view(record))
    assert table.columns == ("mechanism", "claim", "corrected or sharper claim")
    rows = dict(zip((row[0] for row in table.rows), table.rows, strict=True))
    assert len(rows) == len(table.rows) == 41
    for k in range(40):
        _, printed, corrected = rows[f"m{k}"]
        assert printed.startswith("△ ε = 1, leaks " if k % 3 == 0 else "● ε = 1, found ")
        assert corrected.startswith("● ε = 2, found " if k % 3 == 0 else "–")
    assert table.rows[0][0] == "news"
    assert statuses == (REFUTED,) + (EXPECTED,) * 14 + (HELD,) * 26
    alone = make.record(*(make.computed(f"own{k}", "not refuted") for k in range(3)))
    assert by_mechanism(make_view(alone))[0].columns == ("mechanism", "claim")


def test_only_claims_about_the_same_thing_stand_side_by_side(make: Any) -> None:
    """Each corrected claim once, and one without a partner in a row of its own."""
    gamma = {"kind": "Stability", "gamma": 0.1, "epsilon": None}
    record = make.record(
        claimed(make, "m", "refuted", "printed"),
        claimed(make, "m", "refuted", "printed", **gamma),
        claimed(make, "m", "not refuted", "corrected", **gamma),
        claimed(make, "m", "not refuted", "corrected", unit="score"),
        claimed(make, "m", "not refuted", "own"),
        claimed(make, "m", "not refuted", "corrected"),
    )
    for place, result in enumerate(record["results"]):
        result["id"] += f".{place}"
    table, _ = by_mechanism(make_view(record))
    shown = [tuple(cell.split(",")[0] for cell in row) for row in table.rows]
    assert sorted(shown) == sorted(
        [
            ("m", "▲ ε = 1", "● ε = 1"),
            ("m", "▲ γ = 0.1", "● γ = 0.1"),
            ("m", "● ε = 1", "–"),
            ("m (score)", "–", "● ε = 1"),
        ]
    )


def test_few_results_are_told_in_full_however_long(make: Any) -> None:
    few = make.record(*catalogue(make)["results"][:FEW])
    text = to_markdown(few, limit=20_000)
    assert "## Refuted, failed" not in text
    assert text.count("**How the bound was made.**") == len(re.findall("(?m)^### ", text))
    assert "Shortened" in text


def test_no_foreign_text_is_markup_in_a_digest(make: Any, hostile: Record) -> None:
    record = make.record(*hostile["results"], *catalogue(make)["results"])
    text = to_markdown(record)
    assert "## More" in text
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$|<summary>.*?</summary>", "", text)
    assert not [
        each for each in re.findall("<summary>(.*?)</summary>", text, re.DOTALL) if "<" in each
    ]
    assert "<script" not in outside
    assert not re.search(r"(?<!\\)`", outside)
    widths = {
        len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")
    }
    assert widths == {4}
