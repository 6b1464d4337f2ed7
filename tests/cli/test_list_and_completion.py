"""`dpassay list` fits a screen; a shell completes commands, options and mechanisms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.resolve import resolve


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_list_fits_a_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    shown = lines(capsys)
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
    words = " ".join(shown).translate(str.maketrans("", "", "△,;")).split()
    assert set(ENTRIES) <= set(words), "no name is broken"
    assert "psgd-laplace△," in " ".join(shown)
    assert "erm-laplace," in " ".join(shown)


def test_what_is_marked_as_wrong_is_a_claim_that_is_expected_to_be_refuted() -> None:
    """The list reads the table of entries alone, and imports no mechanism."""
    wrong = {name for name in ENTRIES if any(claim.expected for claim in resolve(name).claims)}
    assert wrong == {name for name, entry in ENTRIES.items() if entry.expected is not None}


def test_every_entry_is_listed_with_its_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == list(ENTRIES)
    claims = {entry["name"]: len(entry["claims"]) for entry in entries}
    assert claims == {name: len(resolve(name).claims) for name in ENTRIES}
    sources = {entry["name"]: entry["source"] for entry in entries}
    assert sources["stable-laplace-printed-scale"] == "Dwork and Feldman 2018"
    assert [entry["name"] for entry in entries if "exact" not in entry["modes"]] == ["dp-sgd"]


@pytest.mark.parametrize("name", ["soft-majority", "pate-data-dependent"])
def test_one_mechanism_fits_a_screen(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list", name]) == 0
    shown = lines(capsys)
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80
    text = " ".join(" ".join(shown).split())
    assert text.startswith(f"{name}: ")
    for said in ("parameters: ", "audited by: ", f"dpassay run {name}", ENTRIES[name].cited):
        assert said in text


def test_a_mistyped_mechanism_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "soft-majoriti"]) == 2
    assert "did you mean 'soft-majority'?" in capsys.readouterr().err
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-V", "--version"):
        assert main([flag]) == 0
        assert lines(capsys)[0].startswith("dpassay ")


def test_a_shell_is_told_how_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "dpassay" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dpassay comp", {"compare", "completion"}),
        ("dpassay run soft-", {"soft-majority"}),
        ("dpassay attack signals --sig", {"--signal"}),
    ],
)
@pytest.mark.slow
def test_what_a_shell_is_answered(line: str, found: set[str], tmp_path: Path) -> None:
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "out"), "_ARGCOMPLETE_IFS": "\n"}
    subprocess.run([sys.executable, "-m", "dpassay"], env=os.environ | asked, check=True)
    assert found <= {word.strip() for word in (tmp_path / "out").read_text().splitlines()}
