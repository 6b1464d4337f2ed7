"""Records of theorems by hand: one row that is verified, unless others are given."""

from __future__ import annotations

import math
from typing import Any

Record = dict[str, Any]


def row(name: str = "row", **changed: Any) -> Record:
    """A row that is verified; what is true is 0.8 of what is claimed, unless said otherwise."""
    measured: Record = {
        "case": {"n": 2}, "claimed": 1.0, "lower": 0.8, "upper": 0.8, "alpha": 0.0,
        "detectable": None,
    }  # fmt: skip
    statement = {
        "paper": "Paper", "number": "Theorem 1", "place": "page 1", "printed": "x <= 1",
        "hypotheses": "none", "kind": "utility",
    }  # fmt: skip
    kept: Record = {
        "id": f"paper/theorem/{name}", "statement": statement, "checks": "that x <= 1",
        "quantity": "x", "relation": "at most", "method": "exact", "domain": "n = 1, 2",
        "derivation": None, "expected": None, "verdict": "verified", "reason": "it holds",
        "cells": 2, "worst": measured, "witness": None,
    }  # fmt: skip
    worst = {name: changed.pop(name) for name in tuple(changed) if name in measured}
    held: Record = measured | worst
    claimed = float(held["claimed"])
    held["factor"] = held["upper"] / claimed if 0 < claimed < math.inf else None
    return kept | {"worst": held} | changed


def wrong(**changed: Any) -> Record:
    """A row that is refuted by its only case."""
    found = row(lower=1.2, upper=1.2, **changed)
    return found | {"verdict": "refuted", "witness": found["worst"]} | changed


def known(**changed: Any) -> Record:
    """A row that is known to be wrong, and is."""
    return wrong(expected="refuted", derivation="Somewhere", **changed)


def record(*rows: Record, **facts: Any) -> Record:
    run: Record = {
        "version": "1", "packages": {}, "commit": None, "seed": 0, "deep": False,
        "command": "dpassay theorem run", "complete": True,
    }  # fmt: skip
    return {"schema": "dpassay/theorems/1", "run": run | facts, "results": list(rows or [row()])}
