"""A small project whose one module is written again and again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpassay.cli.main import main
from tests.conftest import forget

CONFIG = """
seed = 1
profile = "quick"
neighbours = "flip"
train = 4
queries = 1
out = "report"
[[mechanisms]]
"""
"""What is audited is still to be said."""


def main_anew(module: str, words: Sequence[str]) -> int:
    """Run a command that imports a module anew.

    No bytecode is kept: the same file is written again within a second, and as long as before.
    """
    sys.modules.pop(module, None)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return main(list(words))
    finally:
        sys.dont_write_bytecode = before


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, from which modules are imported too; they are forgotten in the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        yield
    forget(folder)
