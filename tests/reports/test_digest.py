"""Many results are told in short: who is wrong and how to see it, then a row per mechanism."""

from __future__ import annotations

import re
from typing import Any

from dpassay.reports.run.markdown import FEW, LIMIT, by_mechanism, to_markdown
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.statuses import EXPECTED, HELD, REFUTED

Record = dict[str, Any]


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
    for limit in (LIMIT, 20_000):
        text = to_markdown(few, limit=limit)
        assert "## Refuted, failed" not in text
        assert text.count("**How the bound was made.**") == len(re.findall("(?m)^### ", text))
    assert "Shortened" in to_markdown(few, limit=20_000)


def test_each_result_has_a_line_at_the_top(make: Any, small: Record) -> None:
    """What to act on first; the headline is that of the page and the terminal."""
    lines = to_markdown(small).splitlines()
    bullets = [line for line in lines[:12] if line.startswith("* ")]
    assert [line[2] for line in bullets] == list("▲■▼◆△●★")
    assert all("claims ε = 1" in line for line in bullets)
    one = make.record(make.computed("mine.own.exact", "refuted", 1.0), catalogue=False)
    assert to_markdown(one).startswith("# mine leaks ")


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


def test_damaged_records_have_names_too(make: Any) -> None:
    """Ids that are empty, or not unique, name nobody; a report shows what there is."""
    results = [make.computed(name, "refuted") for name in ("", "", "a", "a")]
    record = make.record(*results)
    assert to_markdown(record).count("\n### ▲ ") == 4
