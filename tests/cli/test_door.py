"""What a user names is imported and called in a process of its own, whatever the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpassay.attacks.services.interface import Service
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.record.kinds import ATTACKS

MINE = """
import os, time
import numpy as np
from dataclasses import dataclass
from dpassay import DP

def leaving(data, queries, size, rng):
    os._exit(0)

def hangs(*_, **__):
    time.sleep(1e6)

@dataclass(frozen=True)
class Hanging:
    epsilon: float = 1.0
    labels = (0, 1)

    @property
    def claims(self):
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data):
        hangs()

    def sample(self, state, queries, size, rng):
        hangs()

class Estimator:
    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        os._exit(0)

    def predict(self, X):
        return X[:, 0]

class Asked:
    def ask(self, x):
        os.kill(os.getpid(), 9)

def asked(data, seed, user):
    return Asked()

def fair(data, queries, size, rng):
    return rng.integers(0, 2, (size, len(queries)))
"""
AT_IMPORT = "import os\nos._exit(0)\n"
BASE = "--records 12 --models 2 --references 4 --attacks gap -q"
FEW = f"{BASE} --budgets 1 --transcripts 0"
ALONE = f"--against mechanism {FEW}"
CLAIM = "--claim epsilon=1"
SERVICE = "service --records 12 -q"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    Path("atimport.py").write_text(AT_IMPORT)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "failed"),
    [
        (f"mine:leaving {CLAIM} {ALONE}", "exit code 0"),
        (f"mine:Hanging --epsilon 1 {ALONE} --jobs 2 --shard-timeout 2", "longer than 2 s"),
        (f"mine:Estimator {ALONE}", "exit code 0"),
        (f"soft-majority --epsilon 1 --learner mine:Estimator -p r=3 {FEW}", "exit code 0"),
        (f"atimport:x {CLAIM} {ALONE}", "exit code 0"),
        (f"--against base --learner atimport:x {BASE}", "exit code 0"),
    ],
)
def test_what_ends_its_process_is_an_error_in_the_record(
    words: str, failed: str, folder: Path
) -> None:
    assert main(["attack", *words.split(), "--out", "out"]) == 3
    (subject, *_) = ATTACKS.read(Path("out/attack.json"))["subjects"]
    assert failed in subject["error"]


@pytest.mark.parametrize(
    ("words", "failed"),
    [("mine:hangs --shard-timeout 2", "longer than 2 s"), ("mine:asked", "signal 9")],
)
def test_a_service_that_ends_its_process_is_told_in_one_line(
    words: str, failed: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attack", *f"{SERVICE} {words}".split(), "--out", "out"]) == 3
    assert failed in capsys.readouterr().err


def test_a_service_that_ends_later_leaves_what_was_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("later.py").write_text(
        "import os\n"
        "def factory(data, seed, user):\n"
        "    class Session:\n"
        "        def ask(self, x):\n"
        "            return 1\n"
        "    return os._exit(0) if user == 'the last' else Session()\n"
    )
    from dpassay.cli import attack_service as service

    def attacked(asked: Service, data: Labelled, *given: Any, **more: Any) -> Any:
        asked.open(data, 0, "the last")
        return attack_service(asked, data, *given, **more)

    attack_service = service.attack_service  # type: ignore[attr-defined]
    monkeypatch.setattr(service, "attack_service", attacked)
    words = f"{SERVICE} later:factory --epsilon 1 --transcripts 20 --out out"
    assert main(["attack", *words.split()]) == 3
    record = ATTACKS.read(Path("out/attack.json"))
    assert record["run"]["probe"]["queries"] > 0
    assert "exit code 0" in record["repeated"][0]["error"]


HOOKED = """
import json, sys
allowed, found = json.loads(sys.argv[1]), []
def hook(event, arguments):
    if event == "exec" and arguments[0].co_filename.startswith(sys.argv[2]):
        found.append(arguments[0].co_filename)
    if event == "import" and sys.argv[2] in (arguments[2] or ()):
        found.append(f"{arguments[0]}: the working directory is on the path")
from dpassay.cli.main import main
sys.path[:] = [each for each in sys.path if each not in ("", sys.argv[2])]
sys.addaudithook(hook)
for words in allowed:
    before = len(found)
    code = main(words.split())
    if code not in (0, 1, 4) or len(found) > before:
        sys.exit(f"{words}: exit {code}, imported {found}")
"""
COMMANDS = (
    f"run mine:fair {CLAIM} --profile quick --budget 200 -q",
    "run mine:Kept --profile quick --budget 200 -q --executor inline",
    f"plan mine:fair {CLAIM} --detect 3",
    f"attack mine:Kept --epsilon 1 {ALONE} --jobs 2",
    f"attack mine:Tree {ALONE}",
    f"attack --learner mine:Tree --task classes {FEW} soft-majority --epsilon 1 -p r=3",
    f"attack {SERVICE} mine:factory",
)
FINE = f"""
{MINE}
from sklearn.tree import DecisionTreeClassifier as Tree

@dataclass(frozen=True)
class Kept:
    epsilon: float = 1.0
    labels = (0, 1)

    @property
    def claims(self):
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data):
        return int(data.y.sum() * 2 > len(data))

    def sample(self, state, queries, size, rng):
        kept = rng.random((size, len(queries))) < 1 / (1 + np.exp(-self.epsilon))
        return np.where(kept, state, 1 - state)

def factory(data, seed, user):
    class Session:
        def ask(self, x):
            return 1
    return Session()
"""


def test_the_deciding_process_imports_nothing_of_the_users(folder: Path) -> None:
    Path("mine.py").write_text(FINE)
    said = json.dumps(COMMANDS)
    run = subprocess.run(
        [sys.executable, "-P", "-c", HOOKED, said, str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-2000:]
