"""Records and witnesses with something wrong in them: refused in one line, or read as they are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.fuzz.corpus import OF_ATTACKS, RUNS, THEOREMS
from tests.fuzz.mutations import damaged
from tests.fuzz.reading import nonsense
from tests.fuzz.running import Ran, fuzz, ran

BAD = Path("bad.json")
REPORT = ("report", "bad.json", "-o", "pages", "--exit-code", "--format")
BASELINE = (
    ("baseline", "check", "GOOD", "--baseline", "bad.json", "--json"),
    ("baseline", "check", "bad.json", "--baseline", "GOOD"),
    ("baseline", "accept", "bad.json", "--baseline", "accepted.json"),
)
COMPARE = (("compare", "GOOD", "bad.json"), ("compare", "bad.json", "GOOD"))
Commands = Sequence[Sequence[str]]


def given(rng: random.Random, good: str, commands: Commands) -> tuple[list[str], Ran]:
    """Damage a document, and give it to one of the commands."""
    BAD.write_text(damaged(Path(good), rng), encoding="utf-8", errors="replace")
    Path("accepted.json").unlink(missing_ok=True)
    words = [good if word == "GOOD" else word for word in rng.choice(commands)]
    if words[-1] == "FIRST":
        words[-1] = str(json.loads(Path(good).read_text(encoding="utf-8"))["results"][0]["id"])
    return words, ran(words)


def of_records(schema: str, names: Sequence[str], commands: Commands) -> Callable[..., str]:
    """Say what commands do wrong with a damaged record; a whole report has the run's exit code."""

    def case(rng: random.Random) -> str:
        words, done = given(rng, f"{rng.choice(names)}.json", commands)
        if done.wrong or done.code == 2:
            return done.wrong
        code = done.code if words[-1] in WHOLE else None
        found = nonsense(BAD.read_text(encoding="utf-8"), schema, code)
        return f"{words}: exit {done.code}, but {found}" if found else ""

    return case


def replayed_witness(rng: random.Random) -> str:
    """Say what replaying does wrong with a damaged witness."""
    name = f"{rng.choice(sorted(RUNS))}.witness.json"
    _, done = given(rng, name, [("replay", "bad.json")])
    if done.wrong or done.code == 2:
        return done.wrong
    found = nonsense(BAD.read_text(encoding="utf-8"), "witness")
    return f"replay: exit {done.code}, but {found}" if found else ""


def replayed_theorem(rng: random.Random) -> str:
    """Say what replaying does wrong with a damaged witness of a theorem."""
    name = f"{rng.choice(sorted(THEOREMS))}.theorem.json"
    _, done = given(rng, name, [("theorem", "replay", "bad.json")])
    if done.wrong or done.code == 2:
        return done.wrong
    told, held = json.loads(done.out), json.loads(BAD.read_text(encoding="utf-8"))
    if told["again"]["case"] != held["witness"]["case"]:
        return f"measured {told['again']['case']}"
    return "" if (done.code == 0) == told["same"] else f"exit {done.code}, and says {told['same']}"


WHOLE = ("md,junit,json", "md,junit,json,sarif", "html")
EXPLAINED = ("explain", "--record", "bad.json", "--", "FIRST")
TARGETS: dict[str, tuple[int, Callable[[random.Random], str]]] = {
    "records of runs": (
        50,
        of_records("record", sorted(RUNS), [*COMPARE, (*REPORT, WHOLE[1]), EXPLAINED]),
    ),
    "records of attacks": (
        40,
        of_records(
            "attack",
            OF_ATTACKS,
            [
                *((*COMPARE[0], "--estimates"), COMPARE[1], *BASELINE, (*REPORT, WHOLE[0])),
                (*REPORT, "md", "--allow-inconclusive"),
            ],
        ),
    ),
    "records of theorems": (
        30,
        of_records(
            "theorems",
            ["theorems"],
            [
                *(*COMPARE, *((*COMPARE[1], "--tolerance", each) for each in "01"), *BASELINE),
                *((*REPORT, WHOLE[0]), (*REPORT, WHOLE[2])),
            ],
        ),
    ),
    "witnesses": (50, replayed_witness),
    "witnesses of theorems": (40, replayed_theorem),
}


@pytest.mark.slow
@pytest.mark.usefixtures("more_attacks")
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_documents_are_refused_or_read(name: str) -> None:
    fuzz(*TARGETS[name])
