"""Whatever a mechanism does to its process costs its own result.

The record is complete, the others are as they were.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

MODULE = """
import ctypes, faulthandler, os, signal, sys, time, warnings
from dataclasses import dataclass
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

def segfault():
    faulthandler.disable()
    ctypes.string_at(0)

def raises(error):
    raise error

def runs_for_ever():
    while True:
        pass

def patches():
    for name in ("zeros", "asarray", "isin", "sum", "bincount", "stack", "array", "full"):
        setattr(np, name, None)

def forgets():
    for name in [name for name in sys.modules if name.partition(".")[0] in ("evil", "numpy", \
"dpassay", "json", "pickle")]:
        del sys.modules[name]

def chatters():
    warnings.simplefilter("always")
    for k in range(1_000):
        warnings.warn("careful")
        print("working")

def grabs():
    np.ones(5 << 27)

def strict():
    warnings.simplefilter("error")
    np.seterr(all="raise")
    os.environ.clear()
    os.chdir("/")

sample_exits = evil(lambda: os._exit(0))
library_exits = evil(lambda: ctypes.CDLL(None).exit(0))
segfaults = evil(segfault)
kills_itself = evil(lambda: os.kill(os.getpid(), signal.SIGKILL))
kills_its_group = evil(lambda: os.killpg(0, signal.SIGKILL))
leaves = evil(lambda: sys.exit(0))
interrupts = evil(lambda: raises(KeyboardInterrupt()))
closes = evil(lambda: os.closerange(0, 1024))
patches_numpy = evil(patches)
deletes_modules = evil(forgets)
takes_memory = evil(grabs)
loops = evil(runs_for_ever)
says_much = evil(chatters)
is_strict = evil(strict)
keeps_coins = evil(lambda: None)

def global_coins(data, queries, size, rng):
    return np.random.randint(0, 2, (size, len(queries)))

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

class LawPatches(Mechanism):
    def distribution(self, state, queries):
        patches()
        return dpassay.laws.bernoulli_law(np.zeros(len(queries)))
"""
OTHERS = {
    "exits_at_import": "import os\nos._exit(0)\n",
    "dies_at_import": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "hangs_at_import": "import time\ntime.sleep(1000)\n",
}
DIED = "the worker died (exit code 0)"
TRIALS = "on the base dataset (screen trials "
QUICK = {
    "exits_at_import:f": (
        f"importing exits_at_import:f: {DIED}; a mechanism must return, or raise an exception"
    ),
    "dies_at_import:f": "importing dies_at_import:f: the worker died (signal 9)",
    "evil:Unbuildable": f"importing evil:Unbuildable: {DIED}",
    "evil:PrepareExits": f"prepare on the base dataset: {DIED}",
    "evil:CheckExits": f"check: {DIED}",
    "evil:PairsExit": f"pairs: {DIED}",
    "evil:LawExits": f"distribution on the base dataset: {DIED}",
    "evil:sample_exits": f"{DIED} {TRIALS}",
    "evil:library_exits": f"{DIED} {TRIALS}",
    "evil:segfaults": f"the worker died (signal 11) {TRIALS}",
    "evil:kills_itself": f"the worker died (signal 9) {TRIALS}",
    "evil:kills_its_group": f"the worker died (signal 9) {TRIALS}",
    "evil:leaves": "sample on the base dataset raised SystemExit",
    "evil:interrupts": f"KeyboardInterrupt was raised {TRIALS}",
    "evil:closes": (
        f"the worker died (it closed its connection, or broke what its process needs) {TRIALS}"
    ),
    "evil:patches_numpy": "",
    "evil:deletes_modules": None,
    "evil:takes_memory": "sample on the base dataset raised",
    "evil:global_coins": "sample on the base dataset answers the same rng differently",
    "evil:writes_into_data": "sample on the base dataset raised ValueError",
    "evil:is_strict": None,
    "evil:says_much": None,
}
"""How the reason of each begins; None for those that may get a verdict, as what they do ends with
their process."""
HANGING = {
    "hangs_at_import:f": (
        "importing hangs_at_import:f took longer than 3 s; make it faster, or allow more with "
        "--shard-timeout"
    ),
    "evil:loops": "a shard took longer than 3 s (--shard-timeout) on the base dataset",
}


def run(
    programs: Path, folder: Path, targets: Sequence[str], *words: str
) -> tuple[int, dict[str, Any], str]:
    """Audit targets in one run, among honest ones, on the command line.

    Honest ones come before, among and after them.
    """
    folder.joinpath("evil.py").write_text(MODULE)
    for name, text in OTHERS.items():
        folder.joinpath(f"{name}.py").write_text(text)
    middle = len(targets) // 2
    places = [
        ("honest 1", "evil:honest"),
        *((each, each) for each in targets[:middle]),
        ("honest 2", "evil:honest"),
    ]
    places += [*((each, each) for each in targets[middle:]), ("honest 3", "evil:honest")]
    entry = '[[mechanisms]]\nname = "{}"\ntarget = "{}"\nclaim = {{ epsilon = 1.0 }}\n'
    folder.joinpath("dpassay.toml").write_text("\n".join(entry.format(*place) for place in places))
    given = [
        *("run", "--profile", "quick", "--train", "6", "--queries", "1", "--budget", "300"),
        *("--neighbours", "flip", "--json", *words),
    ]
    found = subprocess.run(
        [programs / "python", "-m", "dpassay", *given],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    record = json.loads(found.stdout) if found.stdout else {}
    return found.returncode, record, found.stderr


def honest_ones(record: dict[str, Any]) -> list[str]:
    return [each["verdict"] for each in record["results"] if each["mechanism"].startswith("honest")]


def check(
    code: int, record: dict[str, Any], expected: Mapping[str, str | None], stderr: str
) -> None:
    assert code == 3, stderr
    assert record["run"]["complete"]
    found = {each["mechanism"]: each for each in record["results"]}
    assert found.keys() == {"honest 1", "honest 2", "honest 3", *expected}
    for target, reason in expected.items():
        if reason is not None:
            assert (found[target]["verdict"], found[target]["reason"][: len(reason)]) == (
                "error",
                reason,
            )
    assert honest_ones(record) == ["inconclusive"] * 3, (
        "the verdict of coins that nothing moves, as in a run of their own"
    )
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_what_a_mechanism_does_to_its_process_costs_its_own_result_only(
    tmp_path: Path, warm: Path
) -> None:
    code, record, stderr = run(warm, tmp_path, list(QUICK))
    check(code, record, QUICK, stderr)
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


@pytest.mark.slow
def test_what_hangs_is_stopped_and_the_others_go_on(tmp_path: Path, warm: Path) -> None:
    code, record, stderr = run(warm, tmp_path, list(HANGING), "--shard-timeout", "3")
    check(code, record, HANGING, stderr)


def test_a_class_that_says_no_claim_and_ends_the_process_is_a_failure_without_a_record(
    tmp_path: Path,
) -> None:
    (tmp_path / "gone.py").write_text("import os\nos._exit(0)\n")
    words = [sys.executable, "-m", "dpassay", "run", "gone:Gone", "--profile", "quick"]
    words += ["--out", "out"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 3
    assert found.stderr.startswith(f"dpassay: error: importing gone:Gone: {DIED}; ")
    assert len(found.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


INLINE = ("evil:sample_exits", "evil:patches_numpy", "evil:writes_into_data", "evil:is_strict")


def test_inline_the_code_of_a_user_keeps_its_process(tmp_path: Path, warm: Path) -> None:
    code, record, stderr = run(warm, tmp_path, list(INLINE), "--executor", "inline")
    check(code, record, {name: QUICK[name] for name in INLINE}, stderr)
