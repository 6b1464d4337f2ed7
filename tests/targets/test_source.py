"""Where a target is defined: what the source says, held against what Python says."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.importing import load_object
from dpassay.targets.source import defined_at

SOURCES = {
    "plain.py": "def first(a):\n    return a\n\n\n@staticmethod\ndef decorated(a):\n    return a\n",
    "classy.py": "import abc\n\n\nclass Api:\n    def f(self):\n        pass\n\n\napi = Api()\n",
    "twice.py": "def f(): ...\n\n\ndef f(): ...  # the last one counts\n",
    "guarded.py": "try:\n    import missing\nexcept ImportError:\n    def f(): ...\n",
    "annotated.py": "x: int = 0\nlate: object\nf: object = print\n",
    "pack/__init__.py": "from .inner import predict as answer\nfrom pack.inner import predict\n",
    "pack/inner/__init__.py": "from ..deep import predict\n",
    "pack/deep.py": "\n\n\ndef predict(): ...\n",
    "circle.py": "from circle import f\n",
    "wrong.py": "def f(:\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "file", "line"),
    [
        ("plain:first", "plain.py", 1),
        ("plain:decorated", "plain.py", 6),
        ("classy:Api", "classy.py", 4),
        ("classy:api", "classy.py", 9),
        ("twice:f", "twice.py", 4),
        ("guarded:f", "guarded.py", 4),
        ("annotated:f", "annotated.py", 3),
        ("pack:answer", "pack/deep.py", 4),
        ("pack:predict", "pack/deep.py", 4),
        ("pack.inner:predict", "pack/deep.py", 4),
    ],
)
def test_the_line_that_binds_it(project: Path, target: str, file: str, line: int) -> None:
    assert (defined_at(target) or ())[:2] == (project / file, line)


@pytest.mark.parametrize(
    "target", ["plain:none", "nowhere:f", "circle:f", "wrong:f", "plain", "", ":", "no-such-entry"]
)
def test_what_cannot_be_found(project: Path, target: str) -> None:
    assert defined_at(target) is None


def test_nothing_is_imported(project: Path) -> None:
    (project / "evil.py").write_text("raise SystemExit\ndef f(): ...\n")
    assert defined_at("evil:f") == (project / "evil.py", 2, "evil")
    assert "evil" not in sys.modules


def test_every_entry_of_the_catalogue_is_found_where_python_finds_it() -> None:
    for name, entry in ENTRIES.items():
        found = defined_at(name)
        assert found is not None, name
        thing = load_object(entry.address, "target")
        file = inspect.getsourcefile(thing)
        assert file is not None
        assert found.path == Path(file).resolve()
        lines = found.path.read_text("utf-8").splitlines()
        assert f"class {thing.__name__}" in lines[found.line - 1]
