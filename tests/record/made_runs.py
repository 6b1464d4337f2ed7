"""Records of runs by hand: one sampled or computed result each, unless more are given."""

from __future__ import annotations

import copy
from typing import Any

from dpassay.record.compare import compare

Record = dict[str, Any]

CLAIM = {
    "kind": "DP", "epsilon": 1.0, "delta": 0.0, "gamma": None, "beta1": None, "beta2": None,
    "relation": "replace-one", "unit": "single prediction", "coins": "all fresh",
    "source": "a test", "status": "own",
}  # fmt: skip
N = 10_000
PLACE = {
    "group": "data", "data": "5ca1ab1e", "query": 0, "point": None, "pair": 3,
    "change": "label of record 3 flipped", "pair_key": "flip:3",
}  # fmt: skip
CELL = PLACE | {"direction": "S to S'", "event": [1], "histograms": None}
WITNESS: Record = {
    "target": "api:predict", "labels": [0, 1], "words": "a pair", "data": {"kind": "memory"},
}  # fmt: skip
SEARCHED = {
    "pairs": 10, "queries": 1, "cells": 20, "how": ["by hand"], "keys": ["data:?"],
    "certified_cells": 1,
}  # fmt: skip


def sampled(x: int = 6500, y: int = 3500, *, n: int = N, name: str = "m", **fields: Any) -> Record:
    """A sampled result with x and y of n in the event; ln(6500 / 3500) = .619 at the claim 1."""
    counts = {"x": x, "n1": n, "y": y, "n0": n}
    cell = CELL | {"method": "stouffer", "counts": counts, "profile": {"epsilon": [0.0]}}
    base = {
        "id": f"{name}.own.monte-carlo", "mechanism": name, "parameters": {"r": 5},
        "claim": dict(CLAIM), "verdict": "not refuted", "reason": "a reason", "expected": None,
        "mode": "monte-carlo", "lower": 0.5, "upper": 0.7, "exact": None, "detectable": 1.2,
        "confidence": 0.999, "searched": dict(SEARCHED), "witness": WITNESS, "per_query": [cell],
    }  # fmt: skip
    return copy.deepcopy(base | fields)


def exact(value: float = 0.6, *, name: str = "m", **fields: Any) -> Record:
    """A result whose law was computed."""
    found = dict.fromkeys(("exact", "lower", "upper"), value)
    computed: Record = {"mode": "exact", "detectable": 1.0, "confidence": 1} | found
    cell = CELL | {"method": "exact", "counts": None, "profile": None} | found
    return sampled(name=name, per_query=[cell], **(computed | fields))


def at(result: Record, **place: Any) -> Record:
    """Return a result whose cell lies elsewhere."""
    return result | {"per_query": [cell | place for cell in result["per_query"]]}


def record(*results: Record, **run: Any) -> Record:
    data = {"name": "a", "split": {"seed": 0}}
    facts = {"complete": True, "data": data, "confidence": 0.999} | run
    return {"schema": "dpassay/record/1", "run": facts, "results": list(results)}


def claim(**numbers: Any) -> Record:
    return CLAIM | numbers


REFUTED: Record = {"verdict": "refuted", "reason": "the loss is at least 1.3; the claim allows 1"}


def full(made: Record) -> Record:
    """Return a record with every field that one must have."""
    run = {
        "version": "0", "packages": {}, "command": "", "seed": 0, "profile": "quick", "budget": 0,
        "catalogue": False, "commit": None,
    }  # fmt: skip
    names = ("error", "spending", "any_size", "fit", "fixed_n")
    absent = {"alpha": 0.001, "trials": N} | dict.fromkeys(names)
    cell = {
        "group": "data", "pair": 0, "change": "", "pair_key": "", "direction": "S to S'",
        "event": [], "p1": 0.5, "p0": 0.5, "alpha": 0.001, "lower": 0.5, "upper": 0.7,
        "point": None, "exact": None, "estimate": None,
    }  # fmt: skip
    results = []
    for each in made["results"]:
        cells = [cell | one | {"profile": None} for one in each["per_query"]]
        results.append(absent | each | {"per_query": cells, "witness": None})
    return made | {"run": run | made["run"], "results": results}


def kinds(old: Record, new: Record, **options: Any) -> list[str]:
    """Return the kinds of what is different between two records of one result."""
    return [change.kind for change in compare(record(old), record(new), **options).changes]
