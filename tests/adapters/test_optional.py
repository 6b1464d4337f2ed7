"""A library that is not there is said in one line, with the extra that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpassay.adapters import accounting, library, opendp
from dpassay.errors import InvalidInput

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [
        ("opendp.mod", "opendp", lambda: opendp.claim(None, 1)),
        ("opendp.mod", "opendp", lambda: opendp.neighbours(None, 1)),
        ("dp_accounting", "dp-accounting", lambda: accounting.claim(None)),
    ],
)
def test_what_is_missing_is_named_with_its_extra(
    module: str, extra: str, call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    name = module.partition(".")[0]
    with pytest.raises(InvalidInput, match=rf"^{name} cannot be imported \(.*\): install") as told:
        call()
    assert str(told.value).endswith(f"install dpassay[{extra}]")


def test_every_extra_that_is_named_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"opendp", "diffprivlib", "dp-accounting"} <= set(project["optional-dependencies"])
    assert library("json", "none").dumps(1) == "1"


def test_adapters_import_no_other_library() -> None:
    probe = (
        "import sys; from dpassay.adapters import accounting, diffprivlib, opendp\n"
        "assert not opendp.is_measurement(3)\n"
        "print('LOADED', *sorted({'opendp', 'diffprivlib', 'dp_accounting'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["LOADED"]
