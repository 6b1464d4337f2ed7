"""Comparisons of mechanisms on odd data, at odd losses: refused in one line, or sound.

What the command wrote is read by nothing but its own page, so its input is what is damaged here.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.running import fuzz, ran

NAMES = ("noisy-average", "stable-laplace", "projected-walk", "control", "soft-majorty", "", "all")
LOSSES = (
    *("1", "0.5,2", "1e-9", "700", "1e-300", "0", "-1", "nan", "inf", "1,1", "701", "x", ",", ""),
)
CELLS = ("0", "1", "-2.5", "1e308", "-1e308", "1e-320", "7", "red", "", "nan", "1e400", "0x1")
WORDS = (
    *(["--splits", each] for each in ("2", "3", "1", "0", "-1", "x", "1e9", "9" * 30)),
    *(["--label", each] for each in ("label", "a", "b", "c", "")),
    *(["--confidence", each] for each in ("0.9", "1", "0", "nan")),
    *(["--seed", each] for each in ("3", "-1", "9" * 40)),
    *(["--out", each] for each in ("pages", "data.csv", "pages.html")),
)


def table(rng: random.Random) -> str:
    """Return data with two columns and a label, a few things wrong in them."""
    noise = random.Random(rng.getrandbits(32))  # noqa: S311
    size = rng.choice((299, 300, 300, 300, 320, 5))
    spread = rng.choice((1.0, 1.0, 1.0, 1e-300, 1e150, 0.0))
    rows = [
        [str(noise.gauss(0, 1) * spread), str(noise.randrange(3)), str(noise.randrange(2))]
        for _ in range(size)
    ]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        row = rng.choice(rows)
        row[rng.randrange(3)] = rng.choice(CELLS)
    if rng.random() < 0.1:
        column, value = rng.randrange(3), rng.choice(CELLS)
        for row in rows:
            row[column] = value
    return "\n".join(",".join(row) for row in [["a", "b", "label"], *rows]) + "\n"


def case(rng: random.Random) -> str:
    """Say what a comparison does wrong."""
    Path("data.csv").write_text(table(rng), encoding="utf-8")
    losses = rng.choice(LOSSES) if rng.random() < 0.5 else "1"
    name = rng.choice(NAMES) if rng.random() < 0.4 else rng.choice(NAMES[:3])
    words = ["compare-mechanisms", name, "--data", "data.csv", "--label", "label"]
    words += ["--epsilon", losses, "--splits", "2", "--no-membership", "-q", "--json"]
    for more in rng.sample(WORDS, rng.choice((0, 0, 1, 2))):
        words += more
    done = ran(words)
    if done.wrong or done.code == 2:
        return done.wrong
    document = json.loads(done.out, parse_constant=pytest.fail)
    told = next(_nonsense(document, done.code), "")
    return f"{words}: exit {done.code}, but {told}" if told else ""


def _nonsense(document: Any, code: int | None) -> Iterator[str]:
    """Yield what of a comparison cannot be."""
    rows = document["rows"]
    if (code == 3) != any("error" in row for row in rows):
        yield "a row failed, or none did"
    keys = [(row["name"], row.get("epsilon")) for row in rows]
    if len(set(keys)) < len(keys):
        yield f"two rows are of one mechanism at one loss, {keys}"
    for row in rows:
        for name, least in (("accuracy", 0), ("behind", -1), ("membership", 0)):
            held = row.get(name)
            middle = held and held.get("mean", held.get("auc"))
            if held and not least <= held["low"] <= middle <= held["high"] <= 1:
                yield f"{name} of {row['name']} is {held}"
        leak = row.get("leak") or {"worst": None, "median": None, "guess": None}
        if leak["worst"] is not None and not 0 <= float(leak["median"]) <= float(leak["worst"]):
            yield f"{row['name']} loses {leak}"
        if leak["guess"] is not None and not 0.5 <= leak["guess"] <= 1:
            yield f"{row['name']} is guessed right with {leak['guess']}"


@pytest.mark.slow
def test_comparisons_of_odd_data_are_refused_or_can_be(here: Path) -> None:
    fuzz(3, case)
