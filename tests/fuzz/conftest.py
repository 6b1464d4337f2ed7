"""A folder with valid documents in it, and parsers that are made once."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from dpassay.cli import main as command_line
from tests.conftest import once
from tests.fuzz.corpus import fill, fill_more


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `tests.fuzz.corpus`."""
    return once(tmp_path_factory, "corpus", fill)


@pytest.fixture
def more_attacks(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Records of a Rényi claim and of a service in the working directory too."""
    for path in once(tmp_path_factory, "more", fill_more).glob("*.json"):
        shutil.copy(path, here)


@cache
def parser_of(commands: tuple[str, ...]) -> argparse.ArgumentParser:
    """Return the parser that knows the options of these commands; it is the same every time."""
    return command_line.parser(commands)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read a command line as `dpassay.cli.main.parse` does, by a parser that is made once."""
    return parser_of(tuple(name for name in command_line.COMMANDS if name in words)).parse_args(
        words
    )


@pytest.fixture
def here(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the corpus in it."""
    monkeypatch.setattr(command_line, "parse", parse)
    for path in corpus.glob("*.json"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path
