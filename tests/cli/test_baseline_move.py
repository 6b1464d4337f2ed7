"""A renamed mechanism: what `baseline check` says, and what `baseline move` does and refuses."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli.main import main
from dpassay.record.entries import renamings
from dpassay.record.files import dumps
from dpassay.record.kinds import RUNS
from tests.cli import rewritten
from tests.cli.conftest import QUICK, without_pictures
from tests.cli.rewritten import inside, main_anew

pytestmark = pytest.mark.usefixtures("undrawn")

SOURCE = """
import numpy as np

def {name}(data, queries, size, rng):
    p = 1 / (1 + np.exp(-0.9 * (2 * data.y[0] - 1)))
    return (rng.random((size, len(queries))) < p).astype(int)
"""
CONFIG = (
    rewritten.CONFIG
    + """
target = "renamed:{name}"
claim = {{ epsilon = 1.0 }}
"""
)
OLD, NEW = "renamed:predict", "renamed:answer"
MOVE = f"dpassay baseline move {OLD} {NEW}"


def audited(name: str) -> None:
    Path("renamed.py").write_text(SOURCE.format(name=name))
    Path("dpassay.toml").write_text(CONFIG.format(name=name))
    assert main_anew("renamed", [*QUICK, "--executor", "inline"]) in (0, 4)


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose only function is accepted, and then renamed; to be copied."""
    made = tmp_path_factory.mktemp("renamed")
    with inside(made), without_pictures():
        audited("predict")
        assert main(["baseline", "accept"]) == 0
        audited("answer")
    return made


@pytest.fixture
def accepted(folder: Path, renamed: Path) -> Path:
    """The same for one test alone."""
    shutil.copytree(renamed, folder, dirs_exist_ok=True)
    return folder


def run(command: str) -> int:
    return main(shlex.split(command)[1:])


@pytest.mark.slow
def test_the_check_says_the_command_and_after_it_is_green(
    accepted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["baseline", "check"]) == 2
    assert f"`{MOVE}`" in capsys.readouterr().err
    assert run(MOVE) == 0
    assert "1 result of renamed:predict moved to renamed:answer" in capsys.readouterr().out
    audited("answer")
    assert main(["baseline", "check"]) == 0
    assert OLD not in json.dumps(RUNS.read(Path("dpassay-baseline.json"))["results"])


def rewrite(path: str, change: Callable[[list[Any]], list[Any]]) -> None:
    document = json.loads(Path(path).read_text())
    results = change(document["results"])
    document["run"]["confidence"] = 1 - 0.001 * len(results)
    Path(path).write_text(dumps(document | {"results": results}))


def beside_another(results: list[Any]) -> list[Any]:
    """The same and another mechanism, which keeps its name."""
    return [*results, *(each | {"mechanism": "steady", "id": "steady.own"} for each in results)]


def test_beside_others_it_is_a_regression_with_the_command(
    accepted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("dpassay-baseline.json", "report/record.json"):
        rewrite(path, beside_another)
    capsys.readouterr()
    assert main(["baseline", "check"]) == 1
    assert MOVE in capsys.readouterr().out
    assert MOVE in Path("report/comparison.md").read_text()
    assert MOVE in Path("report/comparison.xml").read_text()
    assert "renamed:answer is new, with equal claims and parameters" in " ".join(
        Path("report/comment.md").read_text().replace("\\", "").split()
    )
    assert run(MOVE) == 0
    names = {each["mechanism"] for each in RUNS.read(Path("dpassay-baseline.json"))["results"]}
    assert names == {NEW, "steady"}


NAMED = {"mechanism": "api", "id": "api.own.monte-carlo"}
"""As if the configuration gave it a name."""


def test_a_configured_name_that_stands_for_another_function(
    accepted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("dpassay-baseline.json", "report/record.json"):
        rewrite(path, lambda results: [each | NAMED for each in results])
    capsys.readouterr()
    assert main(["baseline", "check"]) == 1
    said = capsys.readouterr().out
    assert "api stands for renamed:answer, and stood for renamed:predict" in " ".join(said.split())
    assert MOVE in said
    assert run(MOVE) == 0
    (result,) = RUNS.read(Path("dpassay-baseline.json"))["results"]
    assert (result["mechanism"], result["witness"]["target"]) == ("api", NEW)
    assert main(["baseline", "check"]) != 1


def test_what_is_refused_or_cannot_be_written_changes_nothing(
    accepted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("dpassay-baseline.json").read_bytes()
    for words, said in (
        ((OLD, "renamed:nothing"), "NEW = 'renamed:nothing': does not exist"),
        (("renamed:nope", NEW), "OLD = 'renamed:nope': baseline dpassay-baseline.json has no such"),
        ((OLD, OLD), f"NEW = '{OLD}': baseline dpassay-baseline.json has results of that name"),
        ((OLD, NEW, "--baseline", "none.json"), "--baseline = 'none.json': does not exist"),
        ((OLD, NEW, "--baseline", "renamed.py"), "is not valid JSON"),
    ):
        capsys.readouterr()
        assert main(["baseline", "move", *words]) == 2
        assert said in capsys.readouterr().err

    def fail(self: Path, target: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert run(MOVE) == 2
    assert Path("dpassay-baseline.json").read_bytes() == before
    assert not list(Path().glob(".dpassay-baseline*"))


def entry(name: str, epsilon: float = 1.0, **parameters: float) -> dict[str, Any]:
    claim = {"kind": "DP", "relation": "replace-one", "status": "own", "epsilon": epsilon}
    return {"mechanism": name, "parameters": parameters, "claim": claim}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ([entry("a")], [entry("b")], {"a": "b"}),
        ([entry("a")], [entry("b", 2.0)], {}),
        ([entry("a", r=1)], [entry("b", r=2)], {}),
        ([entry("a")], [entry("a"), entry("b")], {}),
        ([entry("a"), entry("b")], [entry("c")], {}),
        ([entry("a")], [entry("c"), entry("d")], {}),
        ([entry("a"), entry("b", 2.0)], [entry("c", 2.0), entry("d")], {"a": "d", "b": "c"}),
        ([entry("a"), entry("a", 2.0)], [entry("b", 2.0), entry("b")], {"a": "b"}),
        ([entry("a"), entry("a", 2.0)], [entry("b")], {}),
    ],
)
def test_only_one_that_fits_looks_renamed(
    old: list[Any], new: list[Any], found: dict[str, str]
) -> None:
    assert renamings(old, new) == found
