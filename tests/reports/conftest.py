"""A small record made by hand.

Every status, every mode, every optional field once present and once missing.
"""

from __future__ import annotations

import copy
from html.parser import HTMLParser
from typing import Any

import pytest

Record = dict[str, Any]
Number = float | str
HOSTILE = "<script>alert(1)</script> | [red]x[/red] `$\\frac{` \x1b[31m\n# a"

CLAIM = {
    "kind": "DP",
    "epsilon": 1.0,
    "delta": 0.0,
    "gamma": None,
    "beta1": None,
    "beta2": None,
    "relation": "replace-one",
    "unit": "single prediction",
    "coins": "all fresh",
    "source": "A Book 1999, Theorem 3",
    "status": "printed",
}
SPENDING = {
    "alpha": 0.00025,
    "lower": 0.000125,
    "each_lower": 0.0000625,
    "upper": 0.0000625,
    "profile": 0.0000625,
    "each_profile": 0.00003125,
    "largest_upper": 0.00003125,
    "each_upper": 0.000015625,
    "cells": 2,
    "queries": 2,
    "directions": 1,
    "tests": 1,
    "looks": 1,
}
NOTHING: Record = dict.fromkeys(
    (
        "lower",
        "upper",
        "exact",
        "error",
        "detectable",
        "sight",
        "alpha",
        "spending",
        "confidence",
        "searched",
        "witness",
        "any_size",
        "fit",
        "fixed_n",
    )
)


def result(name: str, verdict: str, **fields: Any) -> Record:
    base: Record = {
        "id": name,
        "mechanism": name.split(".", maxsplit=1)[0],
        "parameters": {"epsilon": 1.0},
        "claim": dict(CLAIM),
        "verdict": verdict,
        "reason": "a reason",
        "expected": None,
        "mode": None,
        "trials": 0,
        "per_query": [],
    }
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
    return {
        "group": group,
        "query": query,
        "point": point,
        "pair": 0,
        "change": "label of record 7 flipped",
        "pair_key": "flip:7",
        "direction": "S to S'",
        "event": [1],
        "lower": lower,
        "upper": upper,
        "exact": exact,
        "method": "exact law" if counts is None else "weighted Stouffer of exact binomial tails",
        "estimate": None if counts is None else 1.38629436112,
        "p1": 0.5,
        "p0": 0.125,
        "alpha": 0.0 if counts is None else 0.000125,
        "counts": counts,
        "histograms": None,
        "profile": None,
    }


def witness(name: str, mode: str, loss: Number, trials: dict[str, int] | None) -> Record:
    return {
        "schema": "dpassay/witness/1",
        "result": name,
        "target": "mechanism",
        "name": "mechanism",
        "parameters": {},
        "labels": [0, 1],
        "numbers": None,
        "claim": dict(CLAIM),
        "expected": None,
        "mode": mode,
        "data": {"kind": "inline", "sha256": "00"},
        "change": {"kind": "flip-label", "index": 7},
        "query": 0,
        "direction": "S to S'",
        "event": [1],
        "loss": loss,
        "p1": 0.5,
        "p0": 0.125,
        "trials": trials,
        "words": "S: 8 records (data). S': label of record 7 flipped.",
    }


def sampled(
    name: str, verdict: str, lower: Number = 1.234567, upper: Number = "inf", **fields: Any
) -> Record:
    counts = {"x": 2500, "n1": 5000, "y": 625, "n0": 5000}
    return result(
        name,
        verdict,
        mode="monte-carlo",
        lower=lower,
        upper=upper,
        detectable=1.181583,
        sight={
            "frequency": 0.2,
            "assumed": False,
            "curve": [[0.2, 1.181583], [0.1, 1.5], [0.01, "inf"]],
        },
        alpha=0.00025,
        spending=dict(SPENDING),
        confidence=0.999,
        trials=124669,
        searched={
            "pairs": 3,
            "queries": 2,
            "cells": 12,
            "how": ["some pairs"],
            "keys": ["data"],
            "screening_trials": 131,
            "certified_cells": 2,
        },
        witness=witness(
            name, "monte-carlo", lower, {"seed": 0, "draws": 5000, "x": 2500, "y": 625}
        ),
        per_query=[
            cell(0, lower, upper, counts=counts),
            cell(1, 0.0, 1.5, counts=counts),
            cell(0, 0.25, "inf", group="own", counts=counts),
        ],
        **fields,
    )


def computed(
    name: str, verdict: str, loss: Number = 0.75, mode: str = "exact", **fields: Any
) -> Record:
    return result(
        name,
        verdict,
        mode=mode,
        lower=loss,
        upper=loss,
        exact=loss,
        error=1e-14,
        detectable=1.0,
        alpha=0.0,
        confidence=1,
        searched={"pairs": 3, "queries": 2, "cells": 12, "how": ["all pairs"], "keys": ["data"]},
        witness=witness(name, mode, loss, None),
        per_query=[cell(0, 0.5, 0.5, exact=0.5), cell(1, loss, loss, exact=loss)],
        **fields,
    )


def any_size(loss: Number) -> Record:
    return {
        "exact": loss,
        "error": 1e-14,
        "states": ["V = 1", "V = 3"],
        "argument": "Because it is so.",
    }


def run(**fields: Any) -> Record:
    base = {
        "version": "0.1.0",
        "packages": {"numpy": "2.4.6"},
        "commit": "0123abc",
        "seed": 0,
        "confidence": 0.999,
        "profile": "default",
        "command": "dpassay run --seed 0",
        "catalogue": False,
        "complete": True,
        "data": {"name": "iris", "records": 150, "split": {"train": 100}},
        "budget": 5000,
    }
    return base | fields


def record(*results: Record, **fields: Any) -> Record:
    return {"schema": "dpassay/record/1", "run": run(**fields), "results": list(results)}


def of_kind(made: Record, kind: str, gamma: float) -> Record:
    """The same result on another kind of claim."""
    made["claim"] |= {"kind": kind, "epsilon": None, "delta": None, "gamma": gamma}
    return made


def of_means(made: Record) -> Record:
    """A sampled result on mean predictions: no events, histograms for counts."""
    for each in made["per_query"]:
        each |= {
            "event": [],
            "counts": None,
            "histograms": {
                "one": [1, 4999],
                "other": [2500, 2500],
                "spreads": [0.1, 0.5],
                "limits": [0, 1],
            },
            "p1": 0.75,
            "p0": 0.5,
        }
    made["witness"] |= {"event": [], "p1": 0.75, "p0": 0.5}
    return of_kind(made, "PredictionStability", 0.125)


class Make:
    """The builders, as one fixture: test files cannot import each other."""

    result = staticmethod(result)
    sampled = staticmethod(sampled)
    computed = staticmethod(computed)
    any_size = staticmethod(any_size)
    of_kind = staticmethod(of_kind)
    of_means = staticmethod(of_means)
    record = staticmethod(record)
    cell = staticmethod(cell)
    hostile = HOSTILE


@pytest.fixture
def make() -> type[Make]:
    return Make


@pytest.fixture
def small() -> Record:
    """One result of every status, in an order that is not worst first."""
    exhaustive = computed(
        "walk.exhaustive", "verified", loss=0.7, mode="exhaustive", any_size=any_size(0.7)
    )
    exhaustive["searched"]["datasets"] = 8
    exhaustive["per_query"] = [cell(0, 0.7, 0.7, exact=0.7, group="domain", point=[1.0])]
    return record(
        exhaustive,
        computed(
            "majority.exact",
            "not refuted",
            loss=0.995,
            any_size=any_size(0.995),
            fit={"draws": 2000, "tests": 80, "p_value": 1.0},
        ),
        sampled("blind.monte-carlo", "not refuted", lower=0.0, expected="refuted"),
        computed("overview.exact", "refuted", loss=2.0, expected="refuted", any_size=any_size(2.0)),
        sampled("weak.monte-carlo", "inconclusive", lower=0.1, upper=4.0),
        result("crash", "error", reason="sample returned NaN"),
        sampled("broken.monte-carlo", "refuted"),
        catalogue=True,
        complete=False,
    )


@pytest.fixture
def hostile(make: type[Make]) -> Record:
    """Foreign text that tries to be markup, in every place that foreign text can reach."""
    bad = make.sampled(HOSTILE, "refuted", lower=2.0)
    bad["mechanism"] = bad["reason"] = bad["claim"]["source"] = bad["claim"]["unit"] = bad["claim"][
        "coins"
    ] = HOSTILE
    bad["parameters"] = {HOSTILE: HOSTILE, "long": "x" * 5000}
    bad["witness"]["words"] = HOSTILE
    bad["searched"]["how"] = [HOSTILE]
    bad["per_query"][0]["change"] = HOSTILE
    other = make.computed(
        HOSTILE + "!",
        "not refuted",
        any_size=make.any_size(0.8) | {"states": [HOSTILE] * 2, "argument": HOSTILE},
    )
    crash = make.result("crash " + HOSTILE, "error", reason=HOSTILE)
    return make.record(
        bad,
        other,
        crash,
        command=HOSTILE,
        data={"name": HOSTILE, HOSTILE: [HOSTILE]},
        commit=HOSTILE,
    )


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the tags that open in a page, each with its attributes."""
    found: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, dict(attrs)))

    Reader().feed(page)
    return found
