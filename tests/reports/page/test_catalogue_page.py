"""The page of the catalogue: wrong claims, groups, and the overview."""

from __future__ import annotations

import re
from typing import Any

from dpassay.reports.run.page.catalogue import Catalogue, make_catalogue
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.view import make_view

Record = dict[str, Any]


def catalogue(record: Record) -> Catalogue:
    return make_catalogue(make_view(record).results)


def variants(make: Any) -> Record:
    printed = make.computed("walk.printed.exact", "refuted", 2.0, expected="refuted")
    other = make.computed("walk.corrected.exact", "not refuted", 2.0)
    other["claim"] |= {"epsilon": 2.0, "status": "corrected"}
    ours = make.computed("ours.own.exact", "refuted", 3.0, expected="refuted")
    ours["claim"]["status"] = "own"
    change = make.of_kind(make.computed("walk.printed.exact.2", "not refuted", 0.1), "Stability", 1)
    still = make.computed("still.printed.exact", "not refuted", 0.5)
    return dict(make.record(change, other, printed, ours, still, catalogue=True))


def test_wrong_claims_are_published_or_ours(make: Any) -> None:
    found = catalogue(variants(make))
    assert [each.id for each in found.published] == ["walk.printed.exact"]
    assert [each.id for each in found.ours] == ["ours.own.exact"]


def test_printed_and_corrected_stand_side_by_side_by_unit(make: Any) -> None:
    (group,) = (each for each in catalogue(variants(make)).groups if each.name == "walk")
    sides = [
        tuple(None if each is None else each.id for each in (pair.printed, pair.other))
        for pair in group.pairs
    ]
    assert sorted(sides, key=str) == [
        ("walk.printed.exact", "walk.corrected.exact"),
        ("walk.printed.exact.2", None),
    ]
    assert group.filters == "has-held has-wrong"


def test_every_result_is_told_once(make: Any) -> None:
    record = variants(make)
    told = [each.id for group in catalogue(record).groups for each in group.results]
    assert sorted(told) == sorted(result["id"] for result in record["results"])


def test_the_filter_needs_no_script(make: Any) -> None:
    page = to_html(variants(make))
    for kind in ("wrong", "held", "undecided"):
        assert f'id="show-{kind}"' in page
        assert f":has(#show-{kind}:checked) .group:not(.has-{kind})" in page
    assert re.findall(r'class="group ([^"]+)"', page) == [
        "has-wrong",
        "has-held has-wrong",
        "has-held",
    ]


def test_the_overview_weighs_little(make: Any) -> None:
    """Two pictures; each mechanism adds its name, a line of the grid and its marks."""
    kinds = ("refuted", "not refuted")
    results = [make.computed(f"m{k}.{way}", way, 0.9) for k in range(70) for way in kinds]
    for number, result in enumerate(results):
        result["mechanism"] = f"m{number // 2}"
    page = to_html(make.record(*results, catalogue=True))
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2
    assert sum(map(len, pictures)) < 70 * 500
