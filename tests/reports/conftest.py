"""A small record made by hand: every status and mode, every optional field there and missing."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from types import ModuleType
from typing import Any

import pytest

Record = dict[str, Any]
Number = float | str
HOSTILE = "<script>alert(1)</script> | [red]x[/red] `$\\frac{` \x1b[31m\n# a"

CLAIM: Record = {
    **dict.fromkeys(("gamma", "beta1", "beta2")),
    "kind": "DP",
    "epsilon": 1.0,
    "delta": 0.0,
    "relation": "replace-one",
    "unit": "single prediction",
    "coins": "all fresh",
    "source": "A Book 1999, Theorem 3",
    "status": "printed",
}
SPENDING: Record = {
    **dict.fromkeys(("directions", "tests"), 1),
    "cells": 2,
    "queries": 2,
    "alpha": 0.00025,
    "lower": 0.000125,
    "each_lower": 0.0000625,
    "upper": 0.0000625,
    "profile": 0.0000625,
    "each_profile": 0.00003125,
    "largest_upper": 0.00003125,
    "each_upper": 0.000015625,
}
SEARCHED: Record = {"pairs": 3, "queries": 2, "cells": 12, "how": ["all pairs"], "keys": ["data"]}
BOUNDS = ("lower", "upper", "exact", "error", "detectable", "sight", "alpha", "spending")
REST = ("confidence", "searched", "witness", "any_size", "fit", "fixed_n")
NOTHING: Record = dict.fromkeys(BOUNDS + REST)
CHANGE: Record = {
    "change": "label of record 7 flipped",
    "direction": "S to S'",
    "event": [1],
    "p1": 0.5,
    "p0": 0.125,
}


def result(name: str, verdict: str, **fields: Any) -> Record:
    base: Record = {"id": name, "mechanism": name.split(".", maxsplit=1)[0], "verdict": verdict}
    base |= {"parameters": {"epsilon": 1.0}, "claim": CLAIM, "reason": "a reason"}
    base |= {"expected": None, "mode": None, "trials": 0, "per_query": []}
    return copy.deepcopy(base | NOTHING | fields)


def cell(
    query: int,
    lower: Number,
    upper: Number,
    *,
    exact: Number | None = None,
    group: str = "data",
    counts: dict[str, int] | None = None,
    point: list[float] | None = None,
) -> Record:
    method = "exact law" if counts is None else "weighted Stouffer of exact binomial tails"
    estimate, alpha = (None, 0.0) if counts is None else (1.38629436112, 0.000125)
    where: Record = {
        "group": group,
        "query": query,
        "point": point,
        "pair": 0,
        "pair_key": "flip:7",
    }
    bounds: Record = {
        "lower": lower,
        "upper": upper,
        "exact": exact,
        "method": method,
        "alpha": alpha,
    }
    seen: Record = {"estimate": estimate, "counts": counts, "histograms": None, "profile": None}
    return where | CHANGE | bounds | seen


def witness(name: str, mode: str, loss: Number, trials: dict[str, int] | None) -> Record:
    base: Record = {"schema": "dpassay/witness/1", "result": name, "parameters": {}, "mode": mode}
    base |= {"target": "mechanism", "name": "mechanism", "labels": [0, 1], "numbers": None}
    base |= {"claim": dict(CLAIM), "expected": None, "loss": loss, "trials": trials, "query": 0}
    base |= {"data": {"kind": "inline", "sha256": "00"}}
    words = "S: 8 records (data). S': label of record 7 flipped."
    return base | CHANGE | {"change": {"kind": "flip-label", "index": 7}, "words": words}


def sampled(
    name: str, verdict: str, lower: Number = 1.234567, upper: Number = "inf", **fields: Any
) -> Record:
    counts = {"x": 2500, "n1": 5000, "y": 625, "n0": 5000}
    curve = [[0.2, 1.181583], [0.1, 1.5], [0.01, "inf"]]
    found: Record = {"lower": lower, "upper": upper, "alpha": 0.00025, "confidence": 0.999}
    found |= {"detectable": 1.181583, "spending": dict(SPENDING), "trials": 124669}
    found |= {"sight": {"frequency": 0.2, "assumed": False, "curve": curve}}
    found["searched"] = SEARCHED | {"how": ["some pairs"], "screening_trials": 131}
    found["searched"]["certified_cells"] = 2
    seen = {"seed": 0, "draws": 5000, "x": 2500, "y": 625}
    found["witness"] = witness(name, "monte-carlo", lower, seen)
    found["per_query"] = [
        cell(0, lower, upper, counts=counts),
        cell(1, 0.0, 1.5, counts=counts),
        cell(0, 0.25, "inf", group="own", counts=counts),
    ]
    return result(name, verdict, mode="monte-carlo", **(found | fields))


def computed(
    name: str, verdict: str, loss: Number = 0.75, mode: str = "exact", **fields: Any
) -> Record:
    found: Record = {"lower": loss, "upper": loss, "exact": loss, "error": 1e-14, "mode": mode}
    found |= {"detectable": 1.0, "alpha": 0.0, "confidence": 1, "searched": SEARCHED}
    found["witness"] = witness(name, mode, loss, None)
    found["per_query"] = [cell(0, 0.5, 0.5, exact=0.5), cell(1, loss, loss, exact=loss)]
    return result(name, verdict, **(found | fields))


def any_size(loss: Number) -> Record:
    states = ["V = 1", "V = 3"]
    return {"exact": loss, "error": 1e-14, "states": states, "argument": "Because it is so."}


def run(**fields: Any) -> Record:
    base: Record = {"version": "0.1.0", "packages": {"numpy": "2.4.6"}, "commit": "0123abc"}
    base |= {"seed": 0, "confidence": 0.999, "profile": "default", "budget": 5000}
    base |= {"command": "dpassay run --seed 0", "catalogue": False, "complete": True}
    base |= {"data": {"name": "iris", "records": 150, "split": {"train": 100}}}
    return base | fields


def record(*results: Record, **fields: Any) -> Record:
    return {"schema": "dpassay/record/1", "run": run(**fields), "results": list(results)}


def of_kind(made: Record, kind: str, gamma: float) -> Record:
    """The same result on another kind of claim."""
    made["claim"] |= {"kind": kind, "epsilon": None, "delta": None, "gamma": gamma}
    return made


def of_means(made: Record) -> Record:
    """A sampled result on mean predictions: no events, histograms for counts."""
    counts: Record = {"one": [1, 4999], "other": [2500, 2500], "spreads": [0.1, 0.5]}
    means: Record = {"event": [], "p1": 0.75, "p0": 0.5}
    for each in made["per_query"]:
        each.update(means, counts=None, histograms=counts | {"limits": [0, 1]})
    made["witness"] |= means
    return of_kind(made, "PredictionStability", 0.125)


@pytest.fixture
def make() -> ModuleType:
    """The builders: test files that are not of this folder's package cannot import each other."""
    return sys.modules[__name__]


def make_small() -> Record:
    """One result of every status, in an order that is not worst first."""
    exhaustive = computed(
        "walk.exhaustive", "verified", loss=0.7, mode="exhaustive", any_size=any_size(0.7)
    )
    exhaustive["searched"]["datasets"] = 8
    exhaustive["per_query"] = [cell(0, 0.7, 0.7, exact=0.7, group="domain", point=[1.0])]
    fit = {"draws": 2000, "tests": 80, "p_value": 1.0}
    return record(
        exhaustive,
        computed("majority.exact", "not refuted", loss=0.995, any_size=any_size(0.995), fit=fit),
        sampled("blind.monte-carlo", "not refuted", lower=0.0, expected="refuted"),
        computed("overview.exact", "refuted", loss=2.0, expected="refuted", any_size=any_size(2.0)),
        sampled("weak.monte-carlo", "inconclusive", lower=0.1, upper=4.0),
        result("crash", "error", reason="sample returned NaN"),
        sampled("broken.monte-carlo", "refuted"),
        catalogue=True,
        complete=False,
    )


@pytest.fixture
def small() -> Record:
    return make_small()


@pytest.fixture
def hostile() -> Record:
    """Foreign text that tries to be markup, in every place that foreign text can reach."""
    bad = sampled(HOSTILE, "refuted", lower=2.0)
    bad["mechanism"] = bad["reason"] = HOSTILE
    bad["claim"] |= dict.fromkeys(("source", "unit", "coins"), HOSTILE)
    bad["parameters"] = {HOSTILE: HOSTILE, "long": "x" * 5000}
    bad["witness"]["words"] = HOSTILE
    bad["searched"]["how"] = [HOSTILE]
    bad["per_query"][0]["change"] = HOSTILE
    known = any_size(0.8) | {"states": [HOSTILE] * 2, "argument": HOSTILE}
    other = computed(HOSTILE + "!", "not refuted", any_size=known)
    crash = result("crash " + HOSTILE, "error", reason=HOSTILE)
    data = {"name": HOSTILE, HOSTILE: [HOSTILE]}
    return record(bad, other, crash, command=HOSTILE, data=data, commit=HOSTILE)


@dataclass(frozen=True)
class Links:
    """Where a page leads, and how many pictures it draws."""

    outside: set[str]
    drawn: int


def links_of(page: str) -> Links:
    """Read a page that must run nothing, load nothing, and have links that arrive."""
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(page)
    assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, _ in tags}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    names = ("href", "xlink:href", "src")
    targets = {
        str(attributes[name]) for _, attributes in tags for name in names if name in attributes
    }
    assert targets
    outside = {target for target in targets if not target.startswith("#")}
    assert {target[1:] for target in targets - outside} <= set(ids)
    return Links(outside, sum(tag == "svg" for tag, _ in tags))
