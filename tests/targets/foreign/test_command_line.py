"""`dpassay run --process` and `--http`, and witnesses that name a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.errors import InvalidInput
from dpassay.record.replay import replay
from dpassay.record.trust import foreign
from tests.targets.foreign.servers import LAPLACE, left, server

SEARCH = ["--claim", "epsilon=0.25", "--search", "scalars,low=0,high=1", "--budget", "2000", "-q"]


@pytest.mark.slow
def test_a_program_is_audited_beside_one_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a crash in the middle of the trials."""
    command, out, bad = server(tmp_path, LAPLACE).command, tmp_path / "out", tmp_path / "bad"
    bad.mkdir()
    crash = "    if asked['size'] == 1000: os.abort()\n    rng ="
    broken = server(bad, LAPLACE.replace("    rng =", crash)).command
    words = ["run", "--process", command, "--process", broken, *SEARCH, "--out", str(out)]
    words += ["--no-stop-early"]
    assert main(words) == 1
    record = json.loads((out / "record.json").read_text())
    found = {each["parameters"]["command"]: each for each in record["results"]}
    assert found[command]["verdict"] == "refuted"
    assert found[broken]["verdict"] == "error"
    assert "ended by signal 6" in found[broken]["reason"]
    assert left(str(tmp_path)) == []
    (file,) = (out / "witnesses").iterdir()
    capsys.readouterr()
    assert main(["replay", str(file)]) == 2
    assert "allow it with --trust" in capsys.readouterr().err
    assert main(["replay", str(file), "--trust"]) == 1
    assert "\nreproduced" in capsys.readouterr().out


HIDDEN: list[dict[str, Any]] = [
    {"target": "dpassay.targets.foreign:Process", "parameters": {"command": "true"}},
    {"target": "interface", "parameters": {"base": "{name='dpassay.targets.foreign:Process'}"}},
]


@pytest.mark.parametrize("names", HIDDEN)
def test_a_witness_starts_nothing_unless_it_is_trusted(names: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        replay(names)
    assert foreign(names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--process", "sleep 1", "--claim", "epsilon=1"], "--process: requires --search"),
        (["--process", "no-such-program", *SEARCH], "there is no program 'no-such-program'"),
        (["--http", "file:///etc/passwd", *SEARCH], "must be http://HOST[:PORT]/PATH"),
    ],
)
def test_what_is_said_wrongly_is_said_at_once(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words]) == 2
    assert said in capsys.readouterr().err
