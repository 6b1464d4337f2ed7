"""What options may be, read off docs/configuration.md; nothing here comes from `dpassay.config`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

Holds = Callable[[Any], bool]


def _whole(least: int, most: float = math.inf) -> Holds:
    return lambda value: type(value) is int and least <= value <= most


def _number(holds: Callable[[float], bool]) -> Holds:
    return lambda value: (
        type(value) in (int, float) and abs(value) <= 1.7976931348623157e308 and holds(value)
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _one_of(*words: str) -> Holds:
    return lambda value: isinstance(value, str) and value in words


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


ALLOWED: dict[str, Holds] = {
    "profile": _one_of("quick", "default", "deep"),
    "seed": _whole(0),
    "confidence": _number(lambda value: 0.5 <= value < 1),
    "mode": _one_of("auto", "exact", "exhaustive", "monte-carlo"),
    "budget": _whole(100, 10**10),
    "jobs": _whole(1, 1024),
    "detect": _number(lambda value: value > 0),
    "stop_early": _truth,
    "out": _text,
    "baseline": _text,
    "tolerance": _number(lambda value: 0 <= value <= 1),
    "search": lambda value: isinstance(value, (str, dict)) and bool(value),
    "together": _truth,
    "output": lambda value: isinstance(value, (str, list)) and bool(value),
    "search_seconds": _number(lambda value: value > 0),
    "data": _text,
    "label": _text,
    "train": _whole(1),
    "queries": _whole(1),
    "train_queries": _whole(0),
    "neighbours": _one_of("one", "flip", "one+flip", "all"),
}
CLAIM: dict[str, Holds] = {
    "epsilon": _number(lambda value: 0 <= value <= 700),
    "delta": _number(lambda value: 0 <= value < 1),
    "mu": _number(lambda value: value > 0),
    "rho": _number(lambda value: value > 0),
    "alpha": _number(lambda value: value > 1),
    "gamma": _number(lambda value: value > 0),
}
MECHANISM = {"target", "claim", "answers", "search", "together", "output", "parameters", "name"}
SUPPRESSION = {"result", "kind", "reason", "expires", "up_to"}


def nonsense(table: Mapping[str, Any]) -> str:
    """Say what of a configuration makes no sense; empty where nothing is known to."""
    return next(_found(table), "")


def _found(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key in ("mechanisms", "suppressions"):
            continue
        if key not in ALLOWED:
            yield f"{key} is no key"
        elif not ALLOWED[key](value):
            yield f"{key} = {value!r:.80} is not allowed"
    names = []
    for each in table.get("mechanisms", []):
        yield from _of_mechanism(each)
        names.append(each.get("name") or each.get("target"))
    if len(set(names)) < len(names):
        yield "two mechanisms have one name"
    for each in table.get("suppressions", []):
        yield from _of_suppression(each)


def _of_mechanism(entry: Mapping[str, Any]) -> Iterator[str]:
    if not set(entry) <= MECHANISM or not _text(entry.get("target")):
        yield f"a mechanism has keys {sorted(entry)} and target {entry.get('target')!r:.80}"
    for key, value in entry.get("claim", {}).items():
        if key not in CLAIM or not CLAIM[key](value):
            yield f"a claim says {key} = {value!r:.80}"
    if not isinstance(entry.get("parameters", {}), dict):
        yield "parameters are no table"
    if not isinstance(entry.get("together", False), bool):
        yield "together is no truth value"


def _of_suppression(entry: Mapping[str, Any]) -> Iterator[str]:
    if not set(entry) <= SUPPRESSION or set(entry) < SUPPRESSION - {"up_to"}:
        yield f"a suppression has keys {sorted(entry)}"
    if not all(_text(entry.get(key)) for key in ("result", "kind", "reason")):
        yield "a suppression lacks a text"
    day = entry.get("expires")
    if not isinstance(day, date) or isinstance(day, datetime):
        yield f"a suppression expires {day!r:.80}"
    if "up_to" in entry and not _number(lambda value: value >= 0)(entry["up_to"]):
        yield f"a suppression holds up to {entry['up_to']!r:.80}"
