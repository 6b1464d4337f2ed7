"""What a mechanism does to its process, at whichever stage, costs its own result only.

The record is complete and the others are as they were; tests/hostile has many more of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

MODULE = """
import os, warnings
import numpy as np
import dpassay
from dpassay import DP

def honest(data, queries, size, rng):
    return rng.integers(0, 2, (size, len(queries)))

def evil(function):
    def sample(data, queries, size, rng):
        function()
        return honest(data, queries, size, rng)
    return sample

def patches():
    for name in ("zeros", "asarray", "isin", "sum", "bincount", "stack", "array", "full"):
        setattr(np, name, None)

def chatters():
    warnings.simplefilter("always")
    for k in range(1_000):
        warnings.warn("careful")
        print("working")

def strict():
    warnings.simplefilter("error")
    np.seterr(all="raise")
    os.environ.clear()
    os.chdir("/")

sample_exits = evil(lambda: os._exit(0))
patches_numpy = evil(patches)
takes_memory = evil(lambda: np.ones(5 << 27))
says_much = evil(chatters)
is_strict = evil(strict)

def writes_into_data(data, queries, size, rng):
    data.y.flags.writeable = True
    data.y[0] ^= 1
    return honest(data, queries, size, rng)

class Mechanism:
    claims = (DP(epsilon=1.0),)
    def prepare(self, data): return data
    def sample(self, state, queries, size, rng): return honest(state, queries, size, rng)

class PrepareExits(Mechanism):
    def prepare(self, data): os._exit(0)

class CheckExits(Mechanism):
    def check(self, data): os._exit(0)

class PairsExit(Mechanism):
    def pairs(self): os._exit(0)

class LawExits(Mechanism):
    def distribution(self, state, queries): os._exit(0)

class Unbuildable(Mechanism):
    def __init__(self): os._exit(0)
"""
AT_IMPORT = "import os\nos._exit(0)\n"
DIED = "the worker died (exit code 0)"
INLINE = {
    "evil:sample_exits": f"{DIED} on the base dataset (race trials ",
    "evil:patches_numpy": "",
    "evil:writes_into_data": "sample on the base dataset raised ValueError",
    "evil:is_strict": None,
}
"""How the reason of each begins; None for those that may get a verdict, as what they do ends with
their process."""
REASONS = INLINE | {
    "at_import:f": f"importing at_import:f: {DIED}; a mechanism must return, or raise an exception",
    "evil:Unbuildable": f"importing evil:Unbuildable: {DIED}",
    "evil:PrepareExits": f"prepare on the base dataset: {DIED}",
    "evil:CheckExits": f"check: {DIED}",
    "evil:PairsExit": f"pairs: {DIED}",
    "evil:LawExits": f"distribution on the base dataset: {DIED}",
    "evil:takes_memory": "sample on the base dataset raised",
    "evil:says_much": None,
}


def run(
    programs: Path, folder: Path, targets: Sequence[str], *words: str
) -> tuple[dict[str, Any], str]:
    """Audit targets on the command line, with honest ones before, among and after them."""
    (folder / "evil.py").write_text(MODULE)
    (folder / "at_import.py").write_text(AT_IMPORT)
    middle = len(targets) // 2
    places = [(each, each) for each in targets]
    for number, place in ((3, len(targets)), (2, middle), (1, 0)):
        places.insert(place, (f"honest {number}", "evil:honest"))
    entry = '[[mechanisms]]\nname = "{}"\ntarget = "{}"\nclaim = {{ epsilon = 1.0 }}\n'
    (folder / "dpassay.toml").write_text("".join(entry.format(*place) for place in places))
    given = [
        *("run", "--profile", "quick", "--train", "6", "--queries", "1", "--budget", "300"),
        *("--neighbours", "flip", "--json", *words),
    ]
    command: list[Any] = [programs / "python", "-m", "dpassay", *given]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode == 3, found.stderr
    assert "Traceback" not in found.stderr
    return json.loads(found.stdout), found.stderr


def check(record: dict[str, Any], expected: dict[str, str | None]) -> None:
    assert record["run"]["complete"]
    found = {each["mechanism"]: each for each in record["results"]}
    for target, reason in expected.items():
        if reason is not None:
            assert found[target]["verdict"] == "error"
            assert found[target]["reason"].startswith(reason)
    honest = {name: each["verdict"] for name, each in found.items() if name not in expected}
    # of coins that nothing moves, as in a run of their own
    assert honest == dict.fromkeys(("honest 1", "honest 2", "honest 3"), "inconclusive")


@pytest.mark.slow
def test_what_a_mechanism_does_to_its_process_costs_its_own_result_only(
    tmp_path: Path, warm: Path
) -> None:
    record, stderr = run(warm, tmp_path, list(REASONS))
    check(record, REASONS)
    memory = next(each for each in record["results"] if each["mechanism"] == "evil:takes_memory")
    assert "MemoryError" in memory["reason"]
    assert memory["reason"].endswith(
        "it may take 4 GiB, make it smaller, or allow more with --memory (memory)"
    )
    # what one prints is told once, with its number, and is no part of the record
    told = [line.partition("evil:says_much printed: ")[2] for line in stderr.splitlines()]
    said = [line.rpartition(" (") for line in told if line]
    assert len(said) == 3
    assert said[-1][0] == "working"
    assert all(",000 times)" in number for _, _, number in said)
    assert "working" not in json.dumps(record)


def test_inline_the_code_of_a_user_keeps_its_process(tmp_path: Path, warm: Path) -> None:
    record, _ = run(warm, tmp_path, list(INLINE), "--executor", "inline")
    check(record, INLINE)


def test_a_class_that_says_no_claim_and_ends_the_process_is_a_failure_without_a_record(
    tmp_path: Path,
) -> None:
    (tmp_path / "gone.py").write_text(AT_IMPORT)
    words = [sys.executable, "-m", "dpassay", "run", "gone:Gone", "--profile", "quick"]
    words += ["--out", "out"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 3
    assert found.stderr.startswith(f"dpassay: error: importing gone:Gone: {DIED}; ")
    assert len(found.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
