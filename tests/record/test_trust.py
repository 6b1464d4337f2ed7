"""A witness from somebody else runs nothing but the catalogue, and reads no file it names."""

from __future__ import annotations

import importlib
import json
import os
import random
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import main as command_line
from dpassay.cli.main import main
from dpassay.record.trust import OURS, foreign
from tests.conftest import once
from tests.fuzz.conftest import parse
from tests.fuzz.mutations import mutated
from tests.fuzz.running import limited, ran

RUNS = {
    "sampled": "soft-majority -p r=3 --learner tree --mode monte-carlo --budget 300 --train 10 "
    "--queries 1",
    "numbers": "averaged -p r=3 --mode monte-carlo --budget 300 --train 10 --queries 1",
    "noise": "stable-laplace -p predictor=dpassay.mechanisms.dwork_feldman_2018.boolean:Boolean",
    "domain": "projected-walk --mode exhaustive --n 2 --domain 1",
    "nested": (
        'interface -p m=2 -p \'base={name="group", base="soft-majority,r=3,learner=nearest"}\' '
        "--train 6 --queries 1"
    ),
    "searched": "randomised-majority --search records --budget 500 --train 20",
}
CODE = (
    *("os:system", "subprocess:getoutput", "builtins:eval", "builtins:exec", "runpy:run_path"),
    *("dpassay.targets.foreign:Process", "dpassay.targets.foreign:Http", "ctypes:CDLL"),
    *("dpassay.adapters.opendp:claim", "dpassay.cli.main:main", "dpassay:audit"),
    *("dpassay.targets.importing:load_object", "sklearn.svm:SVC", "mine:function"),
    *("mine:Learner", "mine.deep:function", "./mine:function", "mine.py:function", "mіne:f"),
    *("mine:f\x00", "mine\x1b[2J:f", "http://127.0.0.1:9/x", "/bin/sh", "soft-majority:x"),
    *("dpassay.mechanisms.dwork_feldman_2018.boolean:Boolean.mro", " os:system", "os:system "),
)
"""What no witness may name."""
FILES = ("people.csv", "pipe", "/dev/zero", "http://127.0.0.1:9/x.csv", "mine.py", "no\x00ne", "..")
SPELLED = (
    "{}",
    "soft-majority,learner={}",
    "averaged,predictor={},r=3",
    '{{name="{}"}}',
    '{{name="interface", base={{name="soft-majority", learner="{}"}}}}',
    "{{name='label-flip', base='{{name=\"bagged\", base=\"{}\"}}'}}",
    '["{}"]',
    "{},r=5",
)
"""Ways to name it in a parameter."""
RUN = {
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("socket.connect", "socket.getaddrinfo", "ctypes.dlopen", "pickle.find_class"),
    *("os.mkdir", "os.rename", "os.remove", "os.truncate", "os.chmod", "sqlite3.connect"),
}
NAMED = {each.strip().partition(":")[0].strip("./") for each in CODE if ":" in each} | {"mine.deep"}
seen: list[str] | None = None


def _listen(event: str, given: tuple[Any, ...]) -> None:
    if seen is None:
        return
    if given == (None,) and event == "ctypes.dlopen":
        return  # the C library, which every process has
    if event in RUN or (event == "import" and given[0] in NAMED):
        seen.append(f"{event} {given}"[:200])
    elif event == "open" and (
        (isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR))
        or (str(given[0]) in FILES and given[0] != "mine.py")  # that is read for a guess
    ):
        seen.append(f"open {given[0]}")
    elif event == "exec" and getattr(given[0], "co_filename", "").endswith(
        ("/mine.py", "/deep.py")
    ):
        seen.append(f"exec {given[0]}")


@contextmanager
def watched(patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Note what is run, imported, opened to be written, or reached; also what was there already."""
    global seen  # noqa: PLW0603  (an audit hook cannot be taken off again)
    if not hasattr(sys, "_dpassay_listens"):
        sys.addaudithook(_listen)
        sys._dpassay_listens = True  # type: ignore[attr-defined]
    load = importlib.import_module
    found: list[str] = []

    def noted(name: str, package: str | None = None) -> Any:
        if name in NAMED - {"dpassay.cli.main", "dpassay.mechanisms.dwork_feldman_2018.boolean"}:
            found.append(f"import_module {name}")
        return load(name, package)

    with patch.context() as patched:
        patched.setattr(importlib, "import_module", noted)
        seen = found
        try:
            yield found
        finally:
            seen = None


def _fill(folder: Path) -> None:
    folder.mkdir()
    for name, words in RUNS.items():
        out = folder / name
        known = ["--profile", "quick", "--executor", "inline", "--out", str(out), "-q"]
        code = main(["run", *shlex.split(words), *known])
        assert code in (0, 1, 4), (name, code)


@pytest.fixture
def good(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, dict[str, Any]]:
    """Witnesses of the catalogue; the folder has a module and a pipe that must not be touched."""
    made = once(tmp_path_factory, "trusted", _fill)
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("open('TOUCHED', 'w')\n")
    Path("people.csv").write_text("a,label\n" + "1,0\n2,1\n" * 20)
    os.mkfifo("pipe")
    return {
        name: json.loads(next((made / name / "witnesses").iterdir()).read_text()) for name in RUNS
    }


def _code(witness: dict[str, Any], rng: random.Random) -> None:
    said = rng.choice(CODE)
    names = ("learner", "predictor", "base", "command", "url", *witness["parameters"])
    if rng.random() < 0.3:
        witness["target"] = said
    else:
        text = rng.choice(SPELLED).format(
            said.replace("\x00", "\\u0000").replace("\x1b", "\\u001b")
        )
        witness["parameters"][rng.choice(names)] = rng.choice((text, [text], {"name": text}))


def _file(witness: dict[str, Any], rng: random.Random) -> None:
    cut = {"train": 5, "queries": 1, "seed": 0}
    source = {"kind": "file", "name": rng.choice(FILES), "target": "label", "split": cut}
    witness["data"] = {"kind": "source", "source": source, "sha256": "0"}


def _field(witness: dict[str, Any], rng: random.Random) -> None:
    changed = mutated(witness, rng)
    witness.clear()
    witness.update(changed if isinstance(changed, dict) else {"schema": changed})


def replays(
    good: dict[str, dict[str, Any]], number: int, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Replay so many mutated witnesses, and return what went wrong."""
    monkeypatch.setattr(command_line, "parse", parse)  # by a parser that is made once
    rng, wrong = random.Random(37), list[str]()  # noqa: S311
    ways: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (_code, _file, _field)
    for place in range(number):
        way, witness = rng.choice(ways), json.loads(json.dumps(rng.choice(list(good.values()))))
        way(witness, rng)
        Path("bad.json").write_text(json.dumps(witness, ensure_ascii=False), errors="replace")
        with limited(60), watched(monkeypatch) as found:
            done = ran(["replay", "bad.json"])
        said = done.wrong or "".join(found)
        if not said and way is not _field and (done.code, done.err.count("\n")) != (2, 1):
            said = f"exit {done.code}"
        if said or not set(done.err) <= {"\n"} | set(filter(str.isprintable, done.err)):
            wrong.append(f"{place} {way.__name__}: {said} {done.err}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("number", [1000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_mutated_witnesses_run_nothing(
    good: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    assert replays(good, number, monkeypatch) == []


def test_the_catalogue_still_replays(good: dict[str, dict[str, Any]]) -> None:
    for name, witness in good.items():
        Path("good.json").write_text(json.dumps(witness))
        assert main(["replay", "good.json"]) == 0, name


@pytest.mark.parametrize("way", SPELLED)
def test_what_is_ours_needs_no_trust_however_it_is_spelled(way: str) -> None:
    for name in sorted(OURS)[:3]:
        assert not foreign({"target": "interface", "parameters": {"base": way.format(name)}})


def test_what_is_trusted_is_told_before_it_runs(
    good: dict[str, dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    module = "import os, sys\nos.write(2, b'runs\\n')\nhere = os.getpid()\n"
    module += "def f(data, queries, size, rng):\n    return rng.integers(0, 2, (size, 1))\n"
    Path("theirs.py").write_text(module)
    witness = good["sampled"] | {"target": "theirs:f", "parameters": {}}
    Path("w.json").write_text(json.dumps(witness))
    assert main(["replay", "w.json"]) == 2
    assert "the witness runs 'theirs:f', which does not come with dpassay" in capfd.readouterr().err
    assert main(["replay", "w.json", "--trust"]) in (1, 3)
    first, *others = capfd.readouterr().err.splitlines()
    assert first == "dpassay: --trust: runs 'theirs:f'"
    assert any("runs" in line for line in others)
    assert "theirs" not in sys.modules
