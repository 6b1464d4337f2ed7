"""`dpassay run --jobs --resume`: killed at any moment, it goes on and ends with the same bytes."""

from __future__ import annotations

import errno
import json
import os
import random
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import attack, run, shared
from dpassay.cli.interrupts import sigterm_as_ctrl_c
from dpassay.cli.main import main
from tests.cli.conftest import without_pictures
from tests.cli.rewritten import inside

PREDICT = """
import time
from pathlib import Path

import numpy as np

def predict(data, queries, size, rng):
    if Path("slow").exists():
        time.sleep({pause})
    p = 1 / (1 + np.exp(-len(data) * (2 * data.y.mean() - 1)))
    return (rng.random((size, len(queries))) < p).astype(int)

def other(data, queries, size, rng):
    return predict(data, queries, size, rng)
"""
"""Slow while a file `slow` is there, so that the same source goes on at full speed."""
WORDS = [
    *("run", "mine:predict", "mine:other", "--claim", "epsilon=3", "--mode", "monte-carlo"),
    *("--data", "mine.csv", "--label"),
]
WORDS += ["answer", "--train", "10", "--queries", "2", "--budget", "6000", "-q"]
WORDS += ["--no-stop-early"]  # what a race certifies is in no ledger
DATA = "size,answer\n" + "".join(f"{i},{i % 2}\n" for i in range(30))
SAME = ("record.json", "index.html", "report.md", "junit.xml", "cells.csv.gz")

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def project(folder: Path) -> Path:
    Path("mine.py").write_text(PREDICT.format(pause=0))
    Path("mine.csv").write_text(DATA)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run that nothing disturbs writes, in this process and without pauses."""
    folder = tmp_path_factory.mktemp("whole")
    Path(folder, "mine.py").write_text(PREDICT.format(pause=0))
    Path(folder, "mine.csv").write_text(DATA)
    with inside(folder), without_pictures():
        assert main([*WORDS, "--out", "out"]) == 0
        blocks_are_whole("out")
        return contents("out")


def contents(out: str) -> dict[str, bytes]:
    return {name: Path(out, name).read_bytes() for name in SAME}


def blocks_are_whole(out: str, *, complete: bool = True) -> None:
    """Every dataset's blocks are there once, none is missing, and they add up to the record's."""
    connection = sqlite3.connect(Path(out, "ledger.sqlite"))
    rows = connection.execute(
        "SELECT dataset, first, stop, trials FROM work ORDER BY dataset, first"
    ).fetchall()
    connection.close()
    ends: dict[bytes, int] = defaultdict(int)
    for dataset, first, stop, _ in rows:
        assert first == ends[dataset] if complete else first >= ends[dataset]
        ends[dataset] = stop
    results = json.loads(Path(out, "record.json").read_text())["results"]
    trials = sum(row[3] for row in rows), sum(result["trials"] for result in results)
    assert trials[0] == trials[1] if complete else trials[0] >= trials[1]
    assert rows


def test_a_changed_source_is_run_anew_and_a_damaged_ledger_is_not(project: Path) -> None:
    assert main([*WORDS, "--out", "out"]) == 0
    expected = contents("out")
    connection = sqlite3.connect("out/ledger.sqlite")
    (before,) = connection.execute("SELECT count(*) FROM work").fetchone()
    Path("mine.py").write_text(PREDICT.format(pause=0) + "# changed\n")
    assert main([*WORDS, "--out", "out", "--resume"]) == 0
    assert connection.execute("SELECT count(*) FROM work").fetchone() == (2 * before,)
    assert contents("out") == expected
    connection.execute("UPDATE work SET checksum = x'00'")
    connection.commit()
    connection.close()
    assert main([*WORDS, "--out", "out", "--resume"]) == 3


def test_a_full_disk_ends_the_run_with_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = connect(*arguments, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 3")
        found: sqlite3.Connection = connection
        return found

    monkeypatch.setattr("dpassay.trials.ledger.sqlite3.connect", small)
    assert main([*WORDS, "--out", "out"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "dpassay: error: ledger 'out/ledger.sqlite': cannot be read or written (database or disk "
        "is full"
    )


def test_a_disk_that_is_full_when_the_reports_are_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All has been run: that is no wrong usage."""

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dpassay.cli.run.assay", lambda *_: iter(()))
    monkeypatch.setattr("dpassay.record.files.tempfile.mkstemp", full)
    assert main([*WORDS, "--out", "out"]) == 3
    assert capsys.readouterr().err == (
        "dpassay: error: --out = 'out': cannot be written (No space left on device); finished "
        "trials are in its ledger: go on with --resume\n"
    )


def test_sigterm_leaves_a_record(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch system, a container or a CI job sends it before it kills."""

    def interrupted(*_: object) -> Iterator[None]:
        signal.raise_signal(signal.SIGTERM)
        yield pytest.fail("nothing was interrupted")

    monkeypatch.setattr("dpassay.cli.run.assay", interrupted)
    assert main([*WORDS, "--out", "out"]) == 130
    assert json.loads(Path("out/record.json").read_text())["run"]["complete"] is False
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("where", "name", "number"),
    [
        (run, "opened_cluster", 1),
        (run, "make_record", 1),
        (shared, "write_cells", 2),
        (attack, "make_attack_record", 2),
    ],
)
def test_an_interrupt_after_the_last_trial_leaves_the_whole_record(
    where: Any,
    name: str,
    number: int,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """While workers are closed, while it is made, while what lies beside it is written."""
    original = getattr(where, name)

    @contextmanager
    def closing(*arguments: Any) -> Iterator[Any]:
        with original(*arguments) as found:
            yield found
        signal.raise_signal(signal.SIGTERM)

    def interrupted(*arguments: Any, **more: Any) -> Any:
        for _ in range(number):
            signal.raise_signal(signal.SIGINT)
        return original(*arguments, **more)

    monkeypatch.setattr(where, name, closing if name == "opened_cluster" else interrupted)
    monkeypatch.setattr("dpassay.cli.run.assay", lambda *_: iter(()))
    monkeypatch.setattr("dpassay.cli.attack.experiment", lambda *_, **__: iter(()))
    words = ["attack", "--against", "base", "--records", "40", "-q"] if where is attack else WORDS
    assert main([*words, "--out", "out"]) == 130
    record, page = ("attack.json", "attack.html") if where is attack else SAME[:2]
    assert json.loads(Path("out", record).read_text())["run"]["complete"] is True
    assert not Path("out", page).exists()
    said = f"dpassay: interrupted: out/{record} is written, its pages are not\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_cost_no_record(closed: str, project: Path) -> None:
    """Nor does anything that is printed get into a file that has the number of a stream."""
    pages = ("index.html", "junit.xml", "report.md", "record.json")
    command = shlex.join([sys.executable, "-m", "dpassay", *WORDS, "-v", "--out", "out"])
    command = command.replace(" -q ", " ").replace("6000", "200").replace(" mine:other", "")
    line = f"{{ {command}; echo $? > code; }} {closed}"
    subprocess.run(["bash", "-c", line], check=True, capture_output=True)
    assert Path("code").read_text().strip() == "4"  # from 200 trials: inconclusive
    assert all(Path("out", page).is_file() for page in pages)
    assert sqlite3.connect("out/ledger.sqlite").execute("PRAGMA integrity_check").fetchone()


def test_a_folder_in_the_place_of_a_file_is_told_before_the_audit(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpassay.cli.run.assay", pytest.fail)
    for name in ("record.json", "cells.csv.gz", "ledger.sqlite"):
        Path("out", name).mkdir(parents=True)
        assert main([*WORDS, "--out", "out"]) == 2
        said = f"dpassay: error: --out = 'out': its {name} is a folder; must be a file\n"
        assert capsys.readouterr().err == said
        Path("out", name).rmdir()


def test_an_interrupt_that_is_swallowed_comes_again() -> None:
    """As at the end of an object, where Python drops what is raised."""

    class Swallows:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def swallowed() -> None:
        Swallows()
        time.sleep(60)

    with sigterm_as_ctrl_c(), pytest.raises(KeyboardInterrupt):
        swallowed()


def test_who_handles_sigterm_goes_on_doing_so() -> None:
    met: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: met.append(number))
    try:
        with sigterm_as_ctrl_c():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert met == [signal.SIGTERM]


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        threads = [path for path in Path(f"/proc/{pid}/task").iterdir() if path.name != str(pid)]
        children += [
            child for thread in threads for child in (thread / "children").read_text().split()
        ]
    except OSError:
        return []
    return [int(child) for child in children]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def forked(words: list[str]) -> int:
    """Start a run in a child of this process, which has imported everything; return its id."""
    if child := os.fork():
        return child
    code = 70
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        code = main(words)
    finally:
        os._exit(code)


def killed(words: list[str], kills: int, seed: int) -> None:
    """Start the run, kill it or one of its workers after a random time, until that is enough."""
    chance = random.Random(seed)  # noqa: S311
    while kills > 0:
        run, seen = forked(words), set[int]()
        while kills > 0 and alive(run):
            time.sleep(chance.uniform(0.0, 0.6))
            workers = descendants(run)
            seen.update(workers)
            victim = chance.choice([run, *workers])
            if alive(run):
                os.kill(victim, signal.SIGKILL)
                kills -= 1
        os.kill(run, signal.SIGKILL)
        os.waitpid(run, 0)
        deadline = time.monotonic() + 10
        while any(alive(worker) for worker in seen):
            assert time.monotonic() < deadline, "a worker outlived the run"
            time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_bytes(
    project: Path, whole: dict[str, bytes]
) -> None:
    Path("mine.py").write_text(PREDICT.format(pause=0.005))
    Path("slow").touch()
    resumed = [*WORDS, "--out", "out", "--jobs", "2", "--resume"]
    killed(resumed, 6, seed=20)
    Path("slow").unlink()
    assert main(resumed) == 0
    assert contents("out") == whole
    blocks_are_whole("out")


@pytest.mark.slow
def test_two_runs_into_one_ledger_both_end_correctly(
    project: Path, whole: dict[str, bytes], warm: Path
) -> None:
    Path("mine.py").write_text(PREDICT.format(pause=0.002))
    Path("slow").touch()
    words = [str(warm / "python"), "-m", "dpassay", *WORDS, "--out", "out", "--resume"]
    both = [
        subprocess.Popen([*words, "--jobs", jobs], stdout=subprocess.DEVNULL) for jobs in ("1", "2")
    ]
    assert [process.wait() for process in both] == [0, 0]
    drawn = {"index.html"}  # by processes of their own
    found = contents("out")
    assert {name: found[name] for name in found.keys() - drawn} == {
        name: whole[name] for name in whole.keys() - drawn
    }
    blocks_are_whole("out")


def has_begun() -> bool:
    """Whether a first shard is in the ledger."""
    if not Path("out/ledger.sqlite").exists():
        return False
    connection = sqlite3.connect("out/ledger.sqlite")
    try:
        return bool(connection.execute("SELECT count(*) FROM work").fetchone()[0])
    except sqlite3.OperationalError:  # it is just being made
        return False
    finally:
        connection.close()


def interrupted(
    words: list[str], ready: Callable[[], bool], send: Callable[[int, int], None]
) -> tuple[int, str]:
    """Start a run with two workers, press Ctrl-C once it is ready, and see its workers gone."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dpassay", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell in the background ignores it
        preexec_fn=lambda: signal.signal(  # noqa: PLW1509
            signal.SIGINT, signal.default_int_handler
        ),
    )
    workers: list[int] = []
    while not (ready() and len(workers) == 2):
        workers = descendants(process.pid)
        assert process.poll() is None
        time.sleep(0.02)
    send(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert not any(alive(worker) for worker in workers)
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
def test_ctrl_c_stops_the_workers_and_leaves_what_was_finished(
    project: Path, whole: dict[str, bytes]
) -> None:
    """A terminal sends it to the whole group of processes."""
    Path("mine.py").write_text(PREDICT.format(pause=0.01))
    Path("slow").touch()
    words = [*WORDS, "--out", "out", "--jobs", "2"]
    assert interrupted(words, has_begun, os.killpg) == (130, "")
    assert json.loads(Path("out/record.json").read_text())["run"]["complete"] is False
    blocks_are_whole("out", complete=False)
    Path("slow").unlink()
    assert main([*words, "--resume"]) == 0
    assert contents("out") == whole
    blocks_are_whole("out")


HANGS = """
import time
from pathlib import Path

def predict(data, queries, size, rng):
    Path("../hanging").touch()  # the working directory is a copy
    time.sleep(600)

def other(data, queries, size, rng):
    return predict(data, queries, size, rng)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
def test_ctrl_c_stops_workers_that_hang(project: Path) -> None:
    Path("mine.py").write_text(HANGS)
    words = [*WORDS, "--out", "out", "--jobs", "2"]
    assert interrupted(words, Path("../hanging").exists, os.kill) == (130, "")
    record = json.loads(Path("out/record.json").read_text())
    assert record["run"]["complete"] is False
    assert record["results"] == []
