"""Journeys of a user through the whole product, and a digest of all that each leaves.

    python -m tests.golden.journeys > tests/golden/journeys.json

A change that shall keep behaviour keeps the digests; one that shall not changes the file, line by
line: the record, the witnesses, JUnit, SARIF, Markdown, pages, what is printed, the exit code.
Numbers enter with six digits, so that processors of another make agree.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main

API = """
import numpy as np


def predict(data, queries, size, rng):
    share = data.y.mean() if len(data.y) else 0.5
    return (rng.random((size, len(queries))) < 0.1 + 0.8 * share).astype(int)


def total(data, rng):
    return sum(data) + rng.laplace(scale=0.5)


class Session:
    def __init__(self, data, seed, user):
        self.share, self.rng = data.y.mean(), np.random.default_rng(seed)

    def ask(self, x):
        return int(self.rng.random() < self.share)


def open_session(data, seed=None, user="anonymous", **settings):
    return Session(data, seed, user)
"""
FORMATS = "html,md,json,junit"
JOURNEYS = {
    "given": "run my_api:predict --claim epsilon=0.5 --profile quick --seed 1 --out given",
    "searched": "run my_api:total --claim epsilon=1 --search scalars,low=0,high=1,size=5"
    " --budget 2000 --seed 1 --out searched",
    "catalogue": "run soft-majority control validate --profile quick --seed 1 --out catalogue",
    "exhaustive": "run projected-walk --mode exhaustive -p T=2 --n 3 --domain 2 --out exhaustive",
    "attack": "attack soft-majority --epsilon 1 --records 60 --references 16 --models 16"
    " --transcripts 500 --seed 1 --out attack",
    "service": "attack service my_api:open_session --epsilon 1 --records 40 --transcripts 500"
    " --seed 1 --out service",
    "theorem": "theorem run dwork-feldman-2018/theorem-4.3 --seed 1 --out theorem",
    "accept": "baseline accept given --baseline base.json",
    "check": "baseline check given --baseline base.json --json",
    "again": "run soft-majority control --profile quick --budget 3000 --seed 1 --out again",
    "compare": "compare catalogue again --json",
    "reports": f"report searched/record.json --format {FORMATS},sarif,comment --out reports",
    "attack reports": f"report attack/attack.json --format {FORMATS} --out attack_reports",
    "explain": "explain --record searched/record.json my_api:total.own.monte-carlo",
    "replay": "replay searched/witnesses --trust",
    "wrong": "run soft-majorty",
}
"""By name: what is typed, one after another, in one folder."""
LEFT_OUT = re.compile(r"ledger|sidecar|\.sqlite|__pycache__|\.pyc$")
"""Files that hold times."""
OUR_LINES = re.compile(r'(?<="file": "dpassay/)([^"]*", "line": )\d+')
"""Where a mechanism of ours is defined."""


def digest(text: str) -> str:
    """Return a short digest of a text, of its numbers six digits."""
    short = re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", text)
    short = OUR_LINES.sub(r"\g<1>0", short)
    return hashlib.sha256(short.encode()).hexdigest()[:16]


def journey(words: str) -> dict[str, str | int]:
    """Make one journey in the working directory; return what it leaves, and its exit code."""
    if words.startswith("replay"):
        words = words.replace("searched/witnesses", str(next(Path("searched/witnesses").iterdir())))
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        code = main(words.split())
    left: dict[str, str | int] = {"exit": code, "printed": digest(printed.getvalue())}
    if code == Exit.USAGE:
        left["told"] = digest(told.getvalue())  # of a run it has seconds
    for path in sorted(path for path in Path().rglob("*") if path.is_file()):
        if not LEFT_OUT.search(str(path)) and before.get(path) != path.stat().st_mtime_ns:
            content = path.read_bytes()
            text = gzip.decompress(content) if path.suffix == ".gz" else content
            left[path.as_posix()] = digest(text.decode())
    return left


def journeys() -> dict[str, dict[str, str | int]]:
    """Make all journeys in a folder of their own."""
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("my_api.py").write_text(API)
        return {name: journey(words) for name, words in JOURNEYS.items()}


if __name__ == "__main__":
    json.dump(journeys(), sys.stdout, indent=1)
    sys.stdout.write("\n")
