"""`--executor dask` on the command line: the same bytes, and one line where it cannot be."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from dpassay.cli.main import main
from dpassay.errors import InvalidInput
from dpassay.trials import cluster as module
from dpassay.trials.cluster import Cluster
from tests.cli.test_resume import alive, has_begun

MINE = """
import time
from pathlib import Path

import numpy as np

import helper

def noisy(data, size, rng):
    if Path("slow").exists():
        time.sleep(0.01)
    return np.mean(data) + helper.scale(len(data)) * rng.laplace(size=size)
"""
HELPER = "def scale(n):\n    return 1 / n\n"
RUN = ["run", "mine:noisy", "--claim", "epsilon=1", "--search", "scalars,low=0,high=1", "-q"]
RUN += ["--budget", "1000"]
ATTACK = ["attack", "soft-majority", "--epsilon", "1", "--budgets", "1", "--records", "40"]
ATTACK += ["--references", "4", "--models", "8", "--transcripts", "0", "--copies", "0", "-q"]
ATTACK += ["-p", "r=5"]


@pytest.fixture
def scheduler(workers: Any) -> str:
    return str(workers.scheduler_address)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    Path("helper.py").write_text(HELPER)


def bytes_of(folder: str) -> dict[str, bytes]:
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    kept = (path for path in files if path.suffix != ".sqlite" and "sidecar" not in path.name)
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


@pytest.mark.slow
def test_a_search_and_an_attack_write_the_same_files(
    project: None, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's module, and one that it imports, are not where the workers look for modules."""
    codes = [main([*words, "--out", f"{words[0]}-here"]) for words in (RUN, ATTACK)]
    assert {*codes} <= {0, 1, 4}
    on = ["--executor", "dask", "--scheduler", scheduler]
    assert main([*ATTACK, "--out", "attack-there", *on]) == codes[1]
    monkeypatch.setenv("DPASSAY_EXECUTOR", "dask")
    monkeypatch.setenv("DPASSAY_SCHEDULER", scheduler)
    assert main([*RUN, "--out", "run-there"]) == codes[0]
    for name in ("run", "attack"):
        assert bytes_of(f"{name}-here") == bytes_of(f"{name}-there")


@pytest.mark.slow
def test_ctrl_c_stops_our_own_workers_and_the_pool_goes_on(project: None) -> None:
    """A terminal sends it to all of them."""
    assert main([*RUN, "--out", "whole"]) in {0, 1, 4}
    before = set(Path(tempfile.gettempdir()).glob("dpassay-dask-*"))
    Path("slow").touch()
    words = [*RUN, "--out", "out", "--executor", "dask", "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "dpassay", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    while not has_begun():
        assert process.poll() is None
        time.sleep(0.05)
    workers = [each.pid for each in psutil.Process(process.pid).children(recursive=True)]
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (130, "")
    assert len(workers) >= 4
    assert not any(map(alive, workers))
    assert set(Path(tempfile.gettempdir()).glob("dpassay-dask-*")) == before
    Path("slow").unlink()
    assert main([*RUN, "--out", "out", "--jobs", "2", "--resume"]) in {0, 1, 4}
    assert bytes_of("out") == bytes_of("whole")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*RUN, "--scheduler", "tcp://h:1"], "--scheduler: requires --executor dask"),
        ([*ATTACK, "--executor", "local"], "--executor local: has no effect on attacks but with"),
        (
            ["run", "soft-majority", "--executor", "dask", "--mode", "exact"],
            "--executor dask: has no effect with --mode exact",
        ),
    ],
)
def test_what_would_change_nothing_is_refused(
    words: list[str], said: str, project: None, capsys: Any
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"dpassay: error: {said}")


def test_a_wrong_address_leaves_an_earlier_run_as_it_was(
    project: None, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT", 0.2)
    Path("out").mkdir()
    Path("out/ledger.sqlite").write_bytes(b"")
    words = ["--out", "out", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    for command in (RUN, ATTACK):
        assert main([*command, *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("dpassay: error: scheduler = 'tcp://127.0.0.1:1': no Dask scheduler")
        assert said.count("\n") == 1
    assert [path.name for path in Path("out").iterdir()] == ["ledger.sqlite"]


@pytest.mark.parametrize(
    ("scheme", "said"), [("tcp", "nothing was said within 0.2 s"), ("tls", "TLS expects")]
)
def test_who_says_nothing_is_no_scheduler(
    scheme: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the connection and leaves it at that, as a firewall or another service may."""
    monkeypatch.setattr(module, "CONNECT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InvalidInput, match="no Dask scheduler answers there") as caught:
            Cluster(address)
    assert said in str(caught.value)


@pytest.mark.slow
def test_a_cluster_from_nothing_in_the_five_commands_of_docs_scale_md(project: None) -> None:
    """At another port than that of the page, which may be somebody's here."""
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    block = page.split("in five commands\n")[1].split("```text\n")[1].split("```")[0]
    install, *rest = [line.removeprefix("$ ") for line in block.splitlines()]
    assert install == 'python -m pip install "${DPASSAY}[dask]"'
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    scheduler, worker, run, stop = (line.replace("8786", port) for line in rest)
    run += " --budget 500"
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def shell(line: str) -> int:
        # with it a scheduler would not end that is still starting
        return subprocess.run(line, shell=True, env=environment, check=False).returncode

    assert shell(scheduler) == 0
    assert shell(worker) == 0
    try:
        log = Path("scheduler.log")  # what runs in the background makes it when it begins
        while not log.exists() or "Scheduler at" not in log.read_text():
            time.sleep(0.1)
        assert shell(run) in {0, 4}
    finally:
        assert shell(stop) == 0
    words = re.sub(r" --executor.* --budget", " --budget", run).split()[1:]
    assert main([*words, "--out", "here", "-q"]) in {0, 4}
    assert Path("report/record.json").read_bytes() == Path("here/record.json").read_bytes()
