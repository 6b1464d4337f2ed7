"""`dpassay baseline history`: what was accepted over time, as a picture and a table."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from dpassay.cli.main import main

RUN = ["run", "randomised-majority", "-q", "--mode", "exact", "--out", "out", "--train", "12"]
RUN += ["--queries", "2"]


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        check=True,
        capture_output=True,
    )


def accepted(epsilon: float) -> None:
    assert main([*RUN, "-p", f"epsilon={epsilon}", "--claim", "epsilon=4"]) == 0
    assert main(["baseline", "accept", "out"]) == 0
    git("add", "dpassay-baseline.json")
    git("commit", "-qm", "accepted")


@pytest.mark.slow
def test_every_version_that_git_knows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git("init", "-q")
    accepted(1.0)
    accepted(2.0)
    Path("dpassay-baseline.json").write_text("{}")
    git("commit", "-qam", "damaged")
    assert main(["baseline", "history"]) == 0
    assert "history.html: 3 accepted versions of" in capsys.readouterr().out
    page = (folder / "history.html").read_text()
    assert "1 result moved, randomised-majority.own.exact most" in page
    assert "Not readable today" in page
    assert page.count("<svg") == 1
    cells = [part.partition("</td>")[0] for part in page.split('<td class="number">')[1:]]
    assert cells == ["= 1", "= 2", "–"]
    assert main(["baseline", "history"]) == 0
    assert (folder / "history.html").read_text() == page


def test_a_baseline_without_a_history(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dpassay-baseline.json").write_text(json.dumps({}))
    assert main(["baseline", "history"]) == 2
    assert "must lie in a repository of git" in capsys.readouterr().err
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "nothing")
    assert main(["baseline", "history"]) == 2
    assert "git knows no version of it; commit it first" in capsys.readouterr().err
