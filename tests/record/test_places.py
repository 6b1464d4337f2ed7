"""Which lines a record names, and in which order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dpassay.config.lines import claim_lines
from dpassay.config.load import load_config
from dpassay.record.places import add_places, places_of
from dpassay.targets.catalogue import ENTRIES

TOML = """\
seed = 1
claim = 3

[[mechanisms]]
target = "api:f"
parameters = { r = 5 }
claim = { epsilon = 1.0 }

[[mechanisms]]
target = "api:g"

[[ mechanisms ]]
name = "third"
target = "soft-majority"
[mechanisms.claim]
epsilon = 1.0

[[suppressions]]
claim = "not this one"
"""
PLAIN = TOML.replace("claim = 3\n", "").partition("[[suppressions]]")[0]


def test_the_line_of_a_claim_else_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    assert claim_lines(tmp_path / "a.toml") == [7, 9, 15]
    ours = TOML.replace("[[mechanisms]]", "[[tool.dpassay.mechanisms]]")
    (tmp_path / "pyproject.toml").write_text(f'[project]\nclaim = "x"\n{ours}')
    assert claim_lines(tmp_path / "pyproject.toml") == [9, 11, 17]
    assert claim_lines(tmp_path / "missing.toml") == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a folder of a repository."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "api.py").write_text("\ndef f(): ...\ndef g(): ...\n")
    (folder / "dpassay.toml").write_text(PLAIN)
    monkeypatch.chdir(folder)
    return tmp_path


def test_definition_then_claim_from_the_root_of_the_repository(project: Path) -> None:
    mechanisms = load_config().mechanisms
    assert places_of("api:f", "api:f", mechanisms) == [
        {"role": "definition", "file": "sub/api.py", "line": 2},
        {"role": "claim", "file": "sub/dpassay.toml", "line": 6},
    ]
    assert places_of("api:f", "api:f") == [{"role": "definition", "file": "sub/api.py", "line": 2}]
    assert places_of(None, "api:f") == []


def test_what_a_package_defines_comes_last(project: Path) -> None:
    claim, package = places_of("soft-majority", "third", load_config().mechanisms)
    assert claim == {"role": "claim", "file": "sub/dpassay.toml", "line": 14}
    assert package["role"] == "package"
    module = ENTRIES["soft-majority"].address.partition(":")[0]
    assert package["file"] == module.replace(".", "/") + ".py"


def test_an_environment_inside_of_the_project_is_no_part_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = project / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "theirs.py").write_text("def f(): ...\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert places_of("theirs:f", "x") == [{"role": "package", "file": "theirs.py", "line": 1}]


def test_a_configuration_that_cannot_be_counted_is_not_pointed_at(project: Path) -> None:
    inline = 'mechanisms = [{ target = "api:f", claim = { epsilon = 1.0 } }]\n'
    (project / "sub" / "dpassay.toml").write_text(inline)
    assert [each["role"] for each in places_of("api:f", "api:f", load_config().mechanisms)] == [
        "definition"
    ]


def test_results_get_their_own(project: Path) -> None:
    one, other = {"id": "a", "mechanism": "api:g"}, {"id": "b", "mechanism": "memory"}
    record: dict[str, Any] = {"results": [one, other]}
    add_places(record, {"a": "api:g", "b": None}, load_config().mechanisms)
    assert [each["line"] for each in record["results"][0]["places"]] == [3, 8]
    assert "places" not in other
