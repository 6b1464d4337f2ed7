"""The first screen of the page of attacks: what was attacked and found, how bad, what to do."""

from __future__ import annotations

from typing import Any

import pytest

from dpassay.record.attack_record import blind_to
from dpassay.reports.attack.first_screen import cards_of, chosen, lead, origin
from dpassay.reports.attack.pages import to_html
from dpassay.reports.attack.view import ladders, subject_views
from dpassay.reports.shared.cards import Card
from tests.reports.test_attack_report import ladder, make, subject

Record = dict[str, Any]
DEFECT = {"name": "sticky noise", "seen": "x", "probability": 0.0, "again": "ask twice"}


def screen(record: Record) -> tuple[str, tuple[Card, ...]]:
    found = ladders(record["repeated"], blind=bool(blind_to(record)))
    cards = cards_of(record, subject_views(record), found)
    return lead(record, cards), cards


def service(*lowers: float, defects: int = 0, blind: tuple[str, ...] = ()) -> Record:
    record = make()
    record["run"] |= {"service": "my:api", "probe": {"untold": ["coins: x"], "blind": list(blind)}}
    record["repeated"] = [ladder("my:api", *lowers)] if lowers else []
    record["defects"] = [DEFECT] * defects
    return record


LEADS: dict[str, tuple[Record, str, str]] = {
    "broken": (
        make(subject("pate, epsilon = 1", 1.0, "one label", lower=1.5)),
        "pate, epsilon = 1 leaks at least 1.5 times what it claims",
        "claim broken",
    ),
    "held": (
        make(subject("pate, epsilon = 1", 1.0, "one label", lower=0.2)),
        "No attack broke the claim of pate, epsilon = 1",
        "not broken",
    ),
    "blind": (
        make(subject("pate, epsilon = 8", 8.0, "one label", lower=0.2)),
        "These attacks could not have broken the claim of pate, epsilon = 8",
        "could not have seen it",
    ),
    "unclaimed": (
        make(subject("tree", None, "scores")),
        "tree was attacked; nothing was claimed",
        "nothing claimed",
    ),
    "failed": (
        make(subject("pate", 1.0, "one label") | {"error": "it crashed", "outcomes": []}),
        "The attacks on pate failed",
        "error",
    ),
    "defects": (service(0.5, defects=2), "my:api has 2 defects", "defect"),
    "defects, broken": (
        service(1.5, defects=1),
        "my:api has 1 defect and leaks at least 1.5 times what it claims",
        "claim broken",
    ),
    "service held": (service(0.5), "No attack broke the claim of my:api", "not broken"),
    "not examined": (
        service(0.5, blind=("control",)),
        "Nothing is known of my:api: it was not examined",
        "not examined",
    ),
}


@pytest.mark.parametrize("name", LEADS)
def test_the_lead_says_what_came_of_it(name: str) -> None:
    record, said, word = LEADS[name]
    found, cards = screen(record)
    assert found == said
    assert [card.status.word for card in cards] == [word]
    assert chosen(cards) == cards
    assert cards[0].steps


def test_the_page_begins_with_the_lead_and_a_card() -> None:
    record, said, _ = LEADS["not examined"]
    page = to_html(record)
    assert f"<h1>{said}</h1>" in page
    assert page.index("<h1>") < page.index('class="card') < page.index("Do now")
    assert origin(record)[0] == "dpassay attack"
    assert "records" in origin(record)[-1]


def test_of_several_the_worst_come_first_and_all_are_counted() -> None:
    names = [(0.2, "a"), (1.5, "b"), (1.2, "c"), (1.1, "d")]
    subjects = [subject(f"{x}, epsilon = 1", 1.0, "one label", lower=low) for low, x in names]
    blind = subject("e, epsilon = 8", 8.0, "one label")
    found, cards = screen(make(*subjects, blind, subject("tree", None, "scores")))
    assert found == "3 of 5 claims are broken, 1 could not have been"
    assert [card.name[0] for card in chosen(cards)] == ["b", "c"]
    said, cards = screen(make(subjects[0], blind))
    assert said == "None of 2 claims was broken, 1 could not have been"
    assert chosen(cards) == ()
    assert screen(make())[0] == "Nothing was attacked"


def test_the_only_one_with_a_claim_is_what_the_first_screen_is_about() -> None:
    """'None of 1 claim was broken' stood there, and no card, when the learner was attacked too."""
    claimed = subject("a, epsilon = 1", 1.0, "one label", lower=0.2)
    said, cards = screen(make(subject("tree", None, "scores"), claimed))
    assert said == "No attack broke the claim of a, epsilon = 1"
    assert [card.name for card in chosen(cards)] == ["a, epsilon = 1"]


def test_numbers_are_rounded_to_the_safe_side_and_none_is_called_certified_that_is_not() -> None:
    _, (card,) = screen(make(subject("pate, epsilon = 1", 1.0, "one label", lower=0.29999)))
    told = {number.name: (number.text, number.note) for number in card.numbers}
    assert told["Certified"] == ("≥ 0.299", "99.9 % confidence, by guesses at membership")
    assert told["Would have seen"] == ("≥ 3.5", "with probability 0.9; could certify at most 2")
    assert "an estimate" in told["Best AUC"][1]
    assert [bar.text for bar in card.bars] == ["10 of 14", "3 of 18"]


def test_evidence_that_could_break_a_claim_goes_before_a_larger_share_that_could_not() -> None:
    both = subject("pate, epsilon = 2", 2.0, "one label", "8 labels", lower=1.0, cap=3.0)
    for bound, cap in zip(both["certified"], (1.5, 20.0), strict=True):
        bound["cap"] = cap
    _, (card,) = screen(make(both))
    assert card.numbers[0].note == "for 8 labels"
