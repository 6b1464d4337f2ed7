"""docs/scale.md starts a cluster with the commands that it shows."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpassay.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
BIN = str(Path(sys.executable).parent)


def commands() -> list[str]:
    block = PAGE.split("in five commands\n")[1].split("```text\n")[1].split("```")[0]
    return [line.removeprefix("$ ") for line in block.splitlines()]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.slow
def test_a_cluster_from_nothing_in_five_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At another port than that of the page, which may be somebody's here."""
    monkeypatch.chdir(tmp_path)
    port = free_port()
    install, *rest = commands()
    assert len(rest) == 4
    assert install == 'python -m pip install "${DPASSAY}[dask]"'
    scheduler, worker, run, stop = (line.replace("8786", str(port)) for line in rest)
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}

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
    words = re.sub(r" --executor.*", "", run).split()[1:]
    assert main([*words, "--out", "here", "-q"]) in {0, 4}
    assert Path("report/record.json").read_bytes() == Path("here/record.json").read_bytes()
