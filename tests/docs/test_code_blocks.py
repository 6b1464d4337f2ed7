"""Every code block of README.md and docs/ is run as it stands.

`python` blocks of a page run one after the other in one namespace; one that starts with `# name.py`
is written to that file and imported; one that starts with `# examples/...` is that file, without
its docstring, which tests/adapters runs. `console` blocks run line by line (`$ command`) in one
empty folder per page, and what they print must match; `...` stands for anything. `sh` blocks may
hold `make` targets only, and these must exist: `make test` cannot run inside `make test`. `yaml`
blocks are read here and run in tests/gate, `js` and `c` blocks are run in tests/targets/foreign.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml

from tests.warm import FEW_PAIRS

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LONG = (
    "mechanism.md",
    "configuration.md",
    "attacks.md",
    "ci.md",
    "files.md",
    "process.md",
    "searching.md",
    "data.md",
    "guide_dp_library.md",
    "guide_people.md",
    "guide_scikit_learn.md",
    "guide_service.md",
    "libraries.md",
    "services.md",
    "tutorial.md",
)
"""Pages whose blocks take seconds; they run with the slow tests."""
PAGES = [
    pytest.param(page, marks=[pytest.mark.slow] if page.name in LONG else [], id=page.name)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = {"python", "console", "sh", "text", "yaml", "js", "c"}
EXAMPLE = re.compile(r"# (examples/[\w/]+\.py)\n\n?")
"""How a block begins that is a file of the tree; tests/adapters runs it."""
INSTALL = "python -m pip install"
"""Commands that only the slow test runs, into an environment of its own."""


@pytest.mark.usefixtures("few_pairs")  # in `python` blocks; verdicts stand on the certification
@pytest.mark.parametrize("page", PAGES)
def test_page(page: Path, tmp_path: Path, warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, object] = {"__name__": page.stem}
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        assert kind in KINDS, (
            f"a block of {page.name} is marked '{kind}': one of {sorted(KINDS)} is run or "
            "declared as text"
        )
        if kind == "python":
            name = re.match(r"# (\w+)\.py\n", block)
            if example := EXAMPLE.match(block):
                text = (ROOT / example[1]).read_text(encoding="utf-8")
                assert text.endswith(f'"""\n\n{block[example.end() :]}'), example[1]
            elif name:
                Path(f"{name[1]}.py").write_text(block, encoding="utf-8")
                namespace |= vars(importlib.import_module(name[1]))
            else:
                exec(compile(block, page.name, "exec"), namespace)
        elif kind == "console":
            run_console(block, tmp_path, warm)
        elif kind == "sh":
            make_targets_exist(block)
        elif kind == "yaml":
            assert isinstance(yaml.safe_load(block), dict)


@pytest.mark.slow
def test_a_new_user_from_installing_to_a_red_pipeline(tmp_path: Path) -> None:
    """The tutorial's path as it is written, installed into an environment that had nothing."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    section = text.split("## Five minutes, in your own project\n")[1].split("\n## ")[0]
    venv.create(tmp_path / "fresh", with_pip=True)
    folder = tmp_path / "project"
    folder.mkdir()
    written = 0
    for kind, block in BLOCK.findall(section):
        if kind == "python":
            (folder / block.split("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
            written += sum(
                bool(line.strip()) and not line.startswith("#") for line in block.splitlines()
            )
        elif kind == "console":
            run_console(block, folder, tmp_path / "fresh" / "bin", install=True)
    assert written <= 10, "more lines of the user's than we promise"


def run_console(block: str, folder: Path, programs: Path = BIN, *, install: bool = False) -> None:
    environment = os.environ | {
        "DPASSAY": str(ROOT),
        "PATH": os.pathsep.join((str(programs), str(BIN), os.environ["PATH"])),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PYTHONPATH": str(folder),
    }
    if install:  # what is never imported need not be compiled
        environment |= {"PIP_NO_COMPILE": "1", "PYTHONDONTWRITEBYTECODE": ""}
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        if command.startswith(INSTALL) and not install:
            continue
        # a dry run says how many pairs a search looks at; elsewhere verdicts stand on what follows
        few = {} if "--dry-run" in command else {FEW_PAIRS: "yes"}
        found = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment | few,
            capture_output=True,
            text=True,
            check=False,
        )
        got = found.stdout + found.stderr
        if command.startswith(INSTALL):  # pip says what it likes, on stderr
            assert found.returncode == 0, got
            continue
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(wanted, got, flags), (
            f"$ {command}\nwanted:\n{wanted}\ngot:\n{got}"
        )


def make_targets_exist(block: str) -> None:
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert words[0] == "make", f"'{line}': only make targets may stand in an sh block"
        for target in words[1:]:
            assert re.search(
                rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE
            ), target


def test_a_wrong_block_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_console("$ echo one\ntwo\n", tmp_path)
    with pytest.raises(AssertionError):
        make_targets_exist("make nonsense\n")
