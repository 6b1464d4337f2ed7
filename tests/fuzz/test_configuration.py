"""Configurations with something wrong in them: refused in one line, or in force as they say."""

from __future__ import annotations

import copy
import json
import os
import random
import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.allowed import ALLOWED, nonsense
from tests.fuzz.mutations import VALUES, mangled, mutated
from tests.fuzz.running import fuzz, ran

SOON = datetime.now(tz=UTC).date() + timedelta(days=30)
CONFIG: dict[str, Any] = {
    "profile": "quick",
    "seed": 3,
    "confidence": 0.99,
    "mode": "auto",
    "budget": 500,
    "jobs": 1,
    "detect": 2.0,
    "stop_early": False,
    "out": "report",
    "baseline": "b.json",
    "tolerance": 0.1,
    "search": "answers,size=5,sensitivity=1",
    "together": True,
    "output": ["yes", "no"],
    "search_seconds": 5.0,
    "data": "people.csv",
    "label": "income",
    "train": 10,
    "queries": 2,
    "train_queries": 0,
    "neighbours": "flip",
    "mechanisms": [
        {
            "target": "soft-majority",
            "name": "a",
            "parameters": {"r": 3, "epsilon": 0.5, "learner": "majority"},
        },
        {"target": "toy:coin", "claim": {"epsilon": 1.0, "delta": 0.01}, "answers": [0, 1]},
        {"target": "toy:number", "claim": {"gamma": 0.5}, "answers": "0..1"},
        {"target": "toy:any", "claim": {"rho": 0.5}, "search": "scalars,low=0,high=1"},
        {"target": "group", "parameters": {"k": 2, "base": {"name": "interface", "m": 2}}},
    ],
    "suppressions": [
        {"result": "a", "kind": "rose", "reason": "because", "expires": SOON, "up_to": 1.5}
    ],
}


def toml(value: Any) -> str:
    """Write a value as TOML; what it has not, null, as a text."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{toml(str(key))} = {toml(each)}" for key, each in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, float):
        return str(value).replace("e", ".0e") if "." not in str(value) else str(value)
    if isinstance(value, str):
        return json.dumps(value.encode("ascii", "replace").decode())
    return value.isoformat() if isinstance(value, date) else str(value).lower()


def file(table: dict[str, Any]) -> str:
    """Write a whole configuration."""
    return "\n".join(f"{toml(str(key))} = {toml(value)}" for key, value in table.items())


def document(rng: random.Random) -> str:
    """Return a configuration: one with a few things wrong, a random one, or a mangled text."""
    if rng.random() < 0.25:
        keys = rng.sample([*ALLOWED, "mechanism", "epsilon", "Seed"], rng.randint(1, 4))
        changed = {key: copy.deepcopy(rng.choice((*VALUES, CONFIG.get(key)))) for key in keys}
    else:
        changed = mutated(CONFIG, rng)
    text = file(changed)
    return mangled(text, rng) if rng.random() < 0.15 else text


NESTED: dict[str, Any] = {
    "target": "group",
    "parameters": {
        "k": 2,
        "base": {"name": "interface", "m": 2, "base": {"name": "soft-majority", "r": 5}},
    },
}
NESTING = 0.03
"""Part of the cases that prepare a run, which takes twenty times as long as reading."""
PLAIN = {"profile": "quick", "mode": "monte-carlo", "budget": 100, "train": 10, "queries": 1}


def nested(rng: random.Random) -> str:
    """Say what a dry run does wrong with a mechanism in a mechanism in a mechanism."""
    entry = mutated(NESTED, rng)
    text = file({**PLAIN, "mechanisms": [entry]})
    Path("dpassay.toml").write_text(text, encoding="utf-8", errors="replace")
    done = ran(["run", "--dry-run", "-q"])
    if done.wrong or done.code != 0:
        return done.wrong
    found = nonsense(tomllib.loads(Path("dpassay.toml").read_text(encoding="utf-8")))
    return f"{text}: exit 0, but {found}" if found else ""


def case(rng: random.Random) -> str:
    """Say what `dpassay config` does wrong with a configuration, or with variables."""
    if rng.random() < NESTING:
        return nested(rng)
    text, variables = document(rng), {}
    if rng.random() < 0.15:
        text, name = "", f"DPASSAY_{rng.choice([*ALLOWED, 'x']).upper()}"
        word = str(rng.choice(VALUES)).replace("\0", "")
        variables[name] = word.encode("utf-8", "replace").decode()
    Path("dpassay.toml").write_text(text, encoding="utf-8", errors="replace")
    with pytest.MonkeyPatch.context() as patch:
        for name, word in variables.items():
            patch.setenv(name, word)
        done = ran(["config", *rng.choice((["--json"], ["--show"]))])
    if done.wrong or done.code != 0:
        return done.wrong
    found = nonsense(tomllib.loads(Path("dpassay.toml").read_text(encoding="utf-8")))
    return f"exit 0, but {found}" if found else _said(done.out)


def _said(out: str) -> str:
    """Say what of the values that are in force makes no sense."""
    if not out.startswith("{"):
        return ""
    values = json.loads(out, parse_constant=pytest.fail)
    return next(
        (
            f"exit 0, but in force is {key} = {value['value']!r:.80}"
            for key, value in values.items()
            if key in ALLOWED and value["value"] is not None and not ALLOWED[key](value["value"])
        ),
        "",
    )


@pytest.mark.slow
def test_wrong_configurations_are_refused(here: Path) -> None:
    assert not any(name.startswith("DPASSAY_") for name in os.environ)
    fuzz(120, case)
