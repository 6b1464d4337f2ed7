"""The clients of docs/process.md: they are those of examples/process, and they keep their claim."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Scalars, audit
from dpassay.targets.foreign import process
from dpassay.targets.foreign.mechanism import KEPT
from tests.needed import lacks

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "examples" / "process"
ASKED = np.zeros((1, 1))


def needs(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        lacks(f"no {program} on this machine", could_have=False)
    return found


def in_c(folder: Path) -> list[str]:
    built, source = folder / "release_server", CLIENTS / "release_server.c"
    warnings = ["-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run([needs("cc"), *warnings, "-o", built, source, "-lm"], check=True)
    return [str(built)]


LANGUAGES: dict[str, Callable[[Path], list[str]]] = {
    "py": lambda _: [sys.executable, str(CLIENTS / "release_server.py")],
    "js": lambda _: [needs("node"), str(CLIENTS / "release_server.js")],
    "c": in_c,
}


@pytest.mark.parametrize("ending", LANGUAGES)
def test_the_page_shows_the_files(ending: str) -> None:
    page = (ROOT / "docs" / "process.md").read_text(encoding="utf-8")
    kind = {"py": "python"}.get(ending, ending)
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert (CLIENTS / f"release_server.{ending}").read_text(encoding="utf-8") in blocks


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_answers_by_its_seeds(language: str, tmp_path: Path) -> None:
    client = process(LANGUAGES[language](tmp_path))

    def drawn(data: list[float], size: int, seed: int) -> list[float]:
        state = client.prepare(data)
        return list(client.sample(state, ASKED, size, np.random.default_rng(seed)))

    assert client.seeded
    assert client.without_query
    first = drawn([0.5, 1.0, 0.25], 2500, 0)
    assert len(set(first)) > 2400
    assert np.mean(first) == pytest.approx(1.75, abs=0.2)
    assert np.std(first) == pytest.approx(2**0.5, abs=0.2)
    for k in range(KEPT + 3):
        assert drawn([float(k)], 1, 0) == drawn([float(k)], 1, 0)
        assert abs(drawn([100.0 * k], 1, 0)[0] - 100 * k) < 50
    assert drawn([0.5, 1.0, 0.25], 2500, 0) == first
    assert drawn([0.5, 1.0, 0.25], 2500, 1) != first
    client.close()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["js", "c"])
def test_it_keeps_its_claim_and_no_smaller_one(language: str, tmp_path: Path) -> None:
    client = process(LANGUAGES[language](tmp_path))
    for epsilon, verdict in ((1.0, "not refuted"), (0.25, "refuted")):
        how: Any = {"data": Scalars(0, 1), "budget": 3000, "detect": 2.0}
        result = audit(client, claim=DP(epsilon=epsilon), **how)
        assert result.verdict == verdict, result.outcome.reason
