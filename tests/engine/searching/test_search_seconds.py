"""`search_seconds=`: time, told by a clock that the audited function moves, ends a search."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Answers, InvalidInput, Scalars, audit
from dpassay.engine.detection.searches import SearchDesign
from dpassay.engine.result import Result
from dpassay.engine.searching import search as searched
from dpassay.engine.searching.drawing import Drawing
from dpassay.engine.searching.search import Deadline
from dpassay.record.replay import replay
from dpassay.record.run_record import result_json
from dpassay.record.schemas import fault
from dpassay.record.witness import make_witness
from dpassay.reports.run.markdown import to_markdown
from tests.engine.recorded import Picky, evidence_of, recorded

SHORT = {"FIRST": 64, "SURVIVORS": (16, 4), "OFFSPRING": (8, 0), "SHARES": (4, 2, 2)}


class Clock:
    """Seconds are runs of the audited function."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    for name, value in SHORT.items():
        monkeypatch.setattr(searched, name, value)
    found = Clock()
    monkeypatch.setattr(searched, "clock", found)
    return found


def hunted(clock: Clock, seconds: float | None, scale: float = 0.5, **more: Any) -> Result:
    def noisy(data: Any, size: int, rng: np.random.Generator) -> Any:
        clock.now += size
        return data.sum() + rng.laplace(scale=scale, size=size)

    settings: dict[str, Any] = {"budget": 1000, "confidence": 0.99, "executor": "inline"}
    settings |= {"stop_early": False} | more
    given: dict[str, Any] = {
        "function": noisy,
        "data": Answers(2),
        "search_seconds": seconds,
    } | settings
    clock.now = 0.0
    return audit(given.pop("function"), claim=DP(epsilon=1.0), **given)


def looked(result: Result) -> dict[str, Any]:
    return evidence_of(result).searched


def rounds(result: Result) -> list[int]:
    return [each["pairs"] for each in looked(result)["search"]]


def test_a_limit_that_is_not_reached_changes_nothing(clock: Clock) -> None:
    data = Scalars(0, 1, size=4)
    free = result_json(hunted(clock, None, data=data), 0.99)
    limited = result_json(hunted(clock, 1e9, data=data), 0.99)
    assert limited["searched"].pop("limit") == {"seconds": 1e9, "ended": False}
    assert limited == free


def test_the_shortest_limit_still_looks_at_some_pairs_and_certifies_one(clock: Clock) -> None:
    free = hunted(clock, None)
    result = hunted(clock, 0.001)
    assert looked(result)["limit"] == {"seconds": 0.001, "ended": True, "round": 1}
    assert rounds(result) == [1]
    assert result.verdict != "error"
    assert result.draws == free.draws
    assert evidence_of(result).lower.alpha == pytest.approx(0.01)


@pytest.mark.parametrize("seconds", [0.001, 20_000.0])
def test_record_report_and_witness_stand_whenever_it_ends(clock: Clock, seconds: float) -> None:
    result = hunted(clock, seconds, scale=0.3)
    record = recorded([result], 0.99)
    told = f"search\\_seconds = {seconds:g} ended the search in round 1 of 3: another run"
    assert told in to_markdown(record)
    witness = json.loads(json.dumps(make_witness(result)))
    assert not fault(witness, "witness")
    assert replay(witness, target=result.target).reproduced


def test_every_round_has_its_share_of_the_time(clock: Clock) -> None:
    """With half the time of a whole search all rounds are made, with fewer pairs."""
    free = hunted(clock, None, scale=1.0)
    whole = rounds(free)
    spent = evidence_of(free).trials
    result = hunted(clock, spent / 2, scale=1.0)
    assert looked(result)["limit"]["ended"]
    found = rounds(result)
    assert len(found) == len(whole)
    assert found[0] < whole[0]
    assert all(some <= every for some, every in zip(found, whole, strict=True))
    assert evidence_of(result).trials < spent


@pytest.mark.parametrize("part", [0.001, 0.4])
def test_detectable_is_that_of_the_rounds_that_were_made(clock: Clock, part: float) -> None:
    free = hunted(clock, None, scale=1.0)
    result = hunted(clock, part * evidence_of(free).trials, scale=1.0)
    design = result.sight.design
    assert isinstance(design, SearchDesign)
    made = looked(result)["search"]
    rehearsed = [(each.pairs, each.draws) for each in design.rounds]
    assert rehearsed == [(each["pairs"], each["draws"]) for each in made]
    for before, after in pairwise(design.rounds):
        old = after.pairs - after.new
        assert before.safe <= old or old == before.pairs  # no more are safe than were looked at
    assert design.rounds[-1].safe == 1


@pytest.mark.parametrize(("step", "enough"), [("_shrunk", 400_000), ("_decided", 500)])
def test_what_comes_after_the_rounds_is_left_out_when_the_time_is_up(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str, enough: int
) -> None:
    monkeypatch.setattr(searched, "ENOUGH", enough)
    monkeypatch.setattr(searched, "MOST_LAST", 10)
    phases: list[str] = []
    draw, after = Drawing.draw, getattr(searched.Search, step)

    def drawn(self: Any, encoder: Any, some: Any, size: int, phase: str, *more: Any) -> Any:
        phases.append(phase.split(maxsplit=1)[0])
        return draw(self, encoder, some, size, phase, *more)

    def late(self: Any, *given: Any) -> Any:
        clock.now += 2e9
        return after(self, *given)

    monkeypatch.setattr(Drawing, "draw", drawn)
    monkeypatch.setattr(searched.Search, step, late)
    assert not looked(hunted(clock, 1e12, scale=0.2))["limit"]["ended"]
    assert set(phases) > {"search"}
    phases.clear()
    result = hunted(clock, 1e9, scale=0.2)
    assert looked(result)["limit"]["ended"]
    assert set(phases) == {"search"}
    assert result.verdict == "refuted"


def test_datasets_that_fail_are_passed_over_under_a_limit_too(clock: Clock) -> None:
    result = hunted(clock, 1e9, function=Picky())
    assert result.verdict == "refuted"
    assert sum(each["failed"] for each in looked(result)["search"]) > 0

    def broken(data: Any, size: int, rng: np.random.Generator) -> Any:
        raise KeyError("no such column")

    assert hunted(clock, 1e9, function=broken).verdict == "error"


def test_a_deadline_tells_parts_of_its_time(clock: Clock) -> None:
    limit = Deadline(seconds=10.0)
    assert not limit.stops()
    assert not limit.stops(0.5)
    clock.now += 6
    assert not limit.stops()
    assert limit.as_json() == {"limit": {"seconds": 10.0, "ended": False}}
    assert limit.stops(0.5)
    assert limit.as_json() == {"limit": {"seconds": 10.0, "ended": True}}
    clock.now += 4
    assert limit.stops()
    never = Deadline(seconds=None)
    clock.now += 1e9
    assert not never.stops()
    assert never.as_json() == {}


@pytest.mark.parametrize("seconds", [0, -1.0, math.inf, math.nan, "soon", True])
def test_what_is_no_time_is_refused(clock: Clock, seconds: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^search_seconds = .*: must be a finite number > 0"):
        hunted(clock, seconds)


def test_it_goes_with_data() -> None:
    with pytest.raises(InvalidInput, match=r"^search_seconds: goes with data"):
        audit(lambda data, rng: 0, claim=DP(epsilon=1.0), search_seconds=5)


@pytest.mark.parametrize("seconds", [1000.0, 8000.0])
def test_pairs_have_as_many_runs_as_there_is_time_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    free = hunted(clock, None, scale=1.0)
    monkeypatch.setattr(Drawing, "pace", 1.0)
    result = hunted(clock, seconds, scale=1.0)
    made, whole = looked(result)["search"], looked(free)["search"]
    assert len(made) == len(whole)
    assert all(each["draws"] < before["draws"] for each, before in zip(made, whole, strict=True))
    certified = sum(size for size in (result.draws, result.draws // 10)) * 2
    assert evidence_of(result).trials <= 1.3 * seconds + certified
