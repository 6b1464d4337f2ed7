"""What is installed is locked by its hash, and a release is the same bytes wherever it is built."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from hashlib import sha256
from importlib.metadata import distributions, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.locks import ROOT, locked

LOCKS = ("requirements.lock", "requirements-runtime.lock", "requirements-release.lock")
RELEASE = ROOT / ".venv-release" / "bin" / "python"
"""What builds a release; `make test-slow` and `make release` make its environment."""
OWN = {"dpassay", "pip"}
"""What an environment has besides: the project itself, and what `venv` brings."""
VALID = """
import sys, pathlib
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(pathlib.Path(sys.argv[1]).read_text()))
"""
"""Exits with what is wrong with an SBOM."""
HERE = {"umask": 0o022, "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}
ELSEWHERE = {"umask": 0o077, "TZ": "Asia/Tokyo", "LC_ALL": "POSIX", "PYTHONHASHSEED": "2"}


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=[^ #])", text) if entry.strip()]
    assert len(entries) > 30
    assert {entry.partition("==")[0] for entry in entries} == locked(name).keys()
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry) for entry in entries)
    assert not re.search(r"https?:|file:|--(extra-)?index-url|--find-links", text)


def test_nothing_is_installed_here_that_is_not_locked() -> None:
    installed = {canonicalize_name(each.name): each.version for each in distributions()}
    strange = installed.items() - locked("requirements.lock").items()
    assert {name for name, _ in strange} <= OWN


def needed(name: str) -> set[str]:
    """Return what a package needs here, and what that needs."""
    found: set[str] = set()
    open_ = [name]
    while open_:
        for line in requires(open_.pop()) or ():
            each = Requirement(line)
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                if (new := canonicalize_name(each.name)) not in found:
                    open_.append(new)
                found.add(new)
    return found


def test_the_lock_of_users_holds_what_the_package_needs_and_nothing_else() -> None:
    users = locked("requirements-runtime.lock")
    assert users.items() <= locked("requirements.lock").items()
    assert set(users) == needed("dpassay")


def test_what_a_release_needs_is_locked_as_here_or_not_here_at_all() -> None:
    """cyclonedx-bom brings grammars along, and importing jsonschema then takes .7 s."""
    here, release = locked("requirements.lock"), locked("requirements-release.lock")
    assert {name: here.get(name, version) for name, version in release.items()} == release
    assert {"build", "jsonschema", "setuptools"} <= here.keys() & release.keys()
    assert {"cyclonedx-bom", "lark", "rfc3987-syntax"} <= release.keys() - here.keys()


def released(folder: Path, given: dict[str, object], time: int) -> dict[str, bytes]:
    """Return the files of a release, built in a clone under other circumstances."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    for path in clone.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, (time, time))
    words = {name: str(value) for name, value in given.items() if name.isupper()}
    subprocess.run(
        ["bash", str(ROOT / "ci" / "release.sh"), str(RELEASE), str(folder / "dist")],
        cwd=clone,
        env=os.environ | words,
        umask=int(str(given["umask"])),
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir()}


def told_of(statement: dict[str, Any], folder: Path) -> dict[str, str]:
    """Return what a statement holds with a digest, after all files of a folder agree with it."""
    held = [
        *statement["subject"],
        *statement["predicate"]["buildDefinition"]["resolvedDependencies"],
    ]
    known: dict[str, str] = {each["name"]: next(iter(each["digest"].values())) for each in held}
    for path in folder.iterdir():
        if path.suffix != ".intoto":
            assert known[path.name] == sha256(path.read_bytes()).hexdigest()
    return known


def test_the_provenance_of_a_release_says_what_its_files_are_and_what_they_were_made_of(
    tmp_path: Path,
) -> None:
    files = ["dpassay-1.tar.gz", "dpassay-1-py3-none-any.whl", "dpassay-1.cdx.json"]
    for name in files:
        (tmp_path / name).write_text(name)
    statement = tmp_path / "dpassay-1.intoto"
    script = [sys.executable, ROOT / "ci" / "provenance.py", statement, ROOT, "0" * 40]
    words = [str(each) for each in (*script, *(tmp_path / name for name in files))]
    subprocess.run(words, check=True)
    text = statement.read_bytes()
    known = told_of(json.loads(text), tmp_path)
    assert known.keys() == {*files, "source", *LOCKS[1:]}
    assert known["source"] == "0" * 40
    assert known[LOCKS[2]] == sha256((ROOT / LOCKS[2]).read_bytes()).hexdigest()
    subprocess.run(words, check=True)
    assert statement.read_bytes() == text


@pytest.mark.nightly
@pytest.mark.slow
def test_a_release_is_the_same_bytes_wherever_it_is_built(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    here = released(tmp_path / "here", HERE, 1_000_000_000)
    assert here == released(tmp_path / "elsewhere", ELSEWHERE, 1_700_000_000)
    assert sorted(Path(name).suffix for name in here) == [".gz", ".intoto", ".json", ".whl"]

    (wheel,) = (tmp_path / "here" / "dist").glob("*.whl")
    (archive,) = (tmp_path / "here" / "dist").glob("*.tar.gz")
    modules = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}
    assert {"dpassay/__init__.py", "dpassay/reports/run/page/html.py"} < modules
    with tarfile.open(archive) as held:
        assert {(each.uid, each.gid, each.uname) for each in held} == {(0, 0, "")}
        assert len({each.mtime for each in held}) == 1

    (statement,) = (tmp_path / "here" / "dist").glob("*.intoto")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    assert told_of(json.loads(statement.read_text()), statement.parent)["source"] == head

    (bom,) = (tmp_path / "here" / "dist").glob("*.cdx.json")
    subprocess.run([RELEASE, "-c", VALID, bom], check=True)
    told = json.loads(bom.read_text())
    assert told["metadata"]["component"]["name"] == "dpassay"
    assert {each["name"]: each["version"] for each in told["components"]} == locked(LOCKS[1])
