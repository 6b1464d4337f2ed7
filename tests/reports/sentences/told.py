"""Records to be told of, and what is told of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record.run_record import make_record
from dpassay.record.schemas import read_schema
from dpassay.reports.run.view import FullView, make_view
from dpassay.targets.resolve import resolve
from tests.reports import conftest as make

Record = dict[str, Any]
FACTS: Record = {
    **dict.fromkeys(("data", "commit")),
    "confidence": 0.999,
    "seed": 0,
    "profile": "default",
    "command": "",
    "catalogue": True,
    "complete": True,
    "budget": 0,
}
ACCURACY = {"kind": "Accuracy", "epsilon": None, "delta": None, "bound": 0.5}
STRINGS = {"kind": "ScoreStability", "epsilon": None, "delta": 0.01, "beta1": 1.0, "beta2": 1.0}


@cache
def computed(name: str, **given: Any) -> list[Any]:
    return list(assay([resolve(name, given)], None, Settings(mode="exact")))


@cache
def computed_record(name: str, **given: Any) -> Record:
    """The record of an exact audit of one entry on its own worst cases."""
    record = make_record(FACTS, computed(name, **given))
    jsonschema.validate(record, read_schema("record"))
    return record


def told(result: FullView, *titles: str) -> str:
    return " ".join(
        text for part in result.parts if not titles or part.title in titles for text in part.texts
    )


def view_of(*results: Record) -> Any:
    return make_view(make.record(*results))


def only(record: Record) -> FullView:
    (result,) = make_view(record).results
    return result


def held(loss: float = 0.75, *, claim: Any = (), witness: Any = (), **more: Any) -> Record:
    """A computed result that is not refuted, with changes."""
    result = make.computed("a", "not refuted", loss, **more)
    result["claim"] |= dict(claim)
    result["witness"] |= dict(witness)
    return result


def of_score(share: float, upper: float, lower: float | None = None) -> Record:
    """A result on score stability: its worst event is 'good' where the proportion is 0."""
    event, p1, p0 = ([1], share, 0.0) if share else ([0], 1.0, 1.0)
    seen = {"event": event, "p1": p1, "p0": p0}
    result = held(share, claim=STRINGS | {"beta2": 1.092103, "unit": "score"}, witness=seen)
    least = share if lower is None else lower
    result |= {"lower": least, "upper": upper, "error": upper - share}
    result["per_query"] = [make.cell(0, least, upper, exact=share) | seen]
    return result


def beside(result: Record, exact: float = 0.25, **more: Any) -> Record:
    """The same result with the change of probabilities that was measured beside its loss."""
    other = {"id": "b", "kind": "Stability", "exact": exact, "error": 0.0, "any_size": None}
    return result | {"other": other | {"witness": result["witness"]} | more}
