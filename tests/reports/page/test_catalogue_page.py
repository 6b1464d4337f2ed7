"""The page of the catalogue: wrong claims, groups, notes said once."""

from __future__ import annotations

import re
from typing import Any

from dpassay.reports.run.brief import briefs
from dpassay.reports.run.page.catalogue import Catalogue, make_catalogue
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.page.method_notes import OFTEN, method_notes, story
from dpassay.reports.run.view import make_view

Record = dict[str, Any]


def catalogue(record: Record) -> Catalogue:
    return make_catalogue(record["results"], briefs(record), make_view(record).results)


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
    assert [each.brief.id for each in found.published] == ["walk.printed.exact"]
    assert [each.brief.id for each in found.ours] == ["ours.own.exact"]


def test_printed_and_corrected_stand_side_by_side_by_unit(make: Any) -> None:
    (group,) = (each for each in catalogue(variants(make)).groups if each.name == "walk")
    sides = [
        tuple(None if each is None else each.brief.id for each in (pair.printed, pair.other))
        for pair in group.pairs
    ]
    assert sorted(sides, key=str) == [
        ("walk.printed.exact", "walk.corrected.exact"),
        ("walk.printed.exact.2", None),
    ]
    assert group.filters == "has-held has-wrong"


def test_every_result_is_told_once(make: Any) -> None:
    record = variants(make)
    told = [entry.brief.id for group in catalogue(record).groups for entry, _ in group.stories]
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


def test_what_many_results_say_stands_once_and_is_cited(make: Any) -> None:
    results = [make.computed(f"m{k}", "not refuted", 0.5) for k in range(OFTEN + 1)]
    views = make_view(make.record(*results)).results
    notes = method_notes(views)
    assert "Nothing was spent: a computed number has no sampling error." in {
        note.text for note in notes
    }
    assert not method_notes(views[:OFTEN])
    whole = story(views[0], notes)
    said = [text for part in views[0].parts for text in part.texts]
    kept = [text for part in whole.parts for text in part.texts]
    cited = [notes[number - 1].text for number in whole.notes]
    assert cited
    for text in said:
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", text):
            assert sentence in " ".join(kept) or sentence in cited


def test_what_is_the_same_within_a_mechanism_is_not_repeated(make: Any) -> None:
    (group,) = (each for each in catalogue(variants(make)).groups if each.name == "walk")
    texts = [text for _, told in group.stories for part in told.parts for text in part.texts]
    searched = [text for text in texts if "pairs of neighbours" in text]
    assert len(searched) == 1
    assert "The same as of walk.printed.exact." in texts


def test_the_notes_of_the_page_are_those_that_are_linked(make: Any) -> None:
    results = [make.computed(f"m{k}", "not refuted", 0.5) for k in range(OFTEN + 1)]
    page = to_html(make.record(*results, catalogue=True))
    assert set(re.findall(r'href="#n(\d+)"', page)) <= set(re.findall(r'id="n(\d+)"', page))
    assert page.count("Bonferroni: 1. Such tests") == 0


def test_the_overview_has_one_element_more_for_each_mechanism(make: Any) -> None:
    """Its name. Two pictures, each with title, description, grid, axis, claim, five shapes, eight
    ticks and two words: 21 with itself. Marks of a shape are one element, however many."""
    kinds = ("refuted", "not refuted")
    results = [make.computed(f"m{k}.{way}", way, 0.9) for k in range(70) for way in kinds]
    for number, result in enumerate(results):
        result["mechanism"] = f"m{number // 2}"
    page = to_html(make.record(*results, catalogue=True))
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2
    assert sum(len(re.findall("<[a-z]", each)) for each in pictures) <= 2 * 21 + 70
