"""Runs a case: what a command did that no command may do, however wrong its input is."""

from __future__ import annotations

import io
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.cli.exit_codes import MEANINGS
from dpassay.cli.main import main

TIMES = int(os.environ.get("FUZZ", "1"))
"""`FUZZ=10` runs ten times as many cases, which is for whoever changes what reads them."""
SECONDS = 60
"""A case that takes longer than this has hung."""
COMPLAINT = re.compile(r"dpassay(: error)?: .*\S: .*\S\n?|dpassay(: error)?: .*= .*\n?", re.DOTALL)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.link"}
FOREIGN = (mpl.get_configdir(), mpl.get_cachedir())
"""Folders that libraries make by themselves."""


class HungError(BaseException):
    """A case took longer than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command did; `wrong` says what of it no command may do, and is empty else."""

    code: int | None
    out: str
    err: str
    wrong: str = ""


def fuzz(cases: int, case: Callable[[random.Random], str]) -> None:
    """Run cases drawn by Hypothesis, the same ones every time, and shrink one that goes wrong.

    `case` makes an input of a source of random numbers, gives it to what is tested, and returns
    what went wrong; empty where nothing did.
    """
    done = 0

    @settings(max_examples=TIMES * cases, database=None)
    @given(st.randoms(use_true_random=False))
    def run(rng: random.Random) -> None:
        nonlocal done
        done += 1
        told = watched(case, rng)
        assert not told, told

    run()
    assert done >= TIMES * cases, "Hypothesis ran fewer cases than it was asked for"


def watched(case: Callable[[random.Random], str], rng: random.Random) -> str:
    """Return what went wrong in a case, also that it hung or wrote outside its folder."""
    with limited(SECONDS), inside(Path.cwd()) as strange:
        told = case(rng)
    return told or (f"touched {strange[0]}" if strange else "")


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `HungError` in what takes longer than so many seconds."""

    def stop(number: int, frame: object) -> None:
        raise HungError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_open: list[tuple[str, list[str]]] = []
_listening = False


@contextmanager
def inside(folder: Path) -> Iterator[list[str]]:
    """Note each file that this process writes, makes or removes outside of a folder."""
    global _listening  # noqa: PLW0603  (an audit hook cannot be taken off again)
    if not _listening:
        sys.addaudithook(_audit)
        _listening = True
    strange: list[str] = []
    _open.append((f"{folder.resolve()}{os.sep}", strange))
    try:
        yield strange
    finally:
        _open.pop()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _open:
        return
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, (str, bytes)) or not isinstance(flags, int) or not flags & WRITING:
            return
    elif event in CHANGES or event == "sqlite3.connect":
        path = arguments[0]
    else:
        return
    if isinstance(path, int):
        return
    place = os.path.realpath(os.fsdecode(path))
    folder, strange = _open[-1]
    if place.startswith(FOREIGN) or f"{os.sep}.hypothesis" in place:
        return
    if not f"{place}{os.sep}".startswith(folder) and place != os.devnull:
        strange.append(f"{event} {place}")


def state(folder: Path) -> list[tuple[str, int, int]]:
    """Return what lies in a folder: names, sizes and times."""
    return sorted(
        (str(path), found.st_size, found.st_mtime_ns)
        for path in folder.rglob("*")
        if (found := path.lstat()) and path.is_file()
    )


def ran(words: list[str]) -> Ran:
    """Run a command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = state(Path.cwd())
    code: int | None = None
    wrong = ""
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
    except SystemExit as left:
        code = 0 if left.code == 0 and {"-h", "--help"} & set(words) else None
        wrong = "" if code == 0 else f"SystemExit({left.code})"
    except HungError:
        wrong = "hung"
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        wrong = f"{type(error).__name__}: {error}"
    told = err.getvalue()
    wrong = wrong or _wrong(code, told) or _wrote(code, before)
    shown = f"{[word[:200] for word in words]}: exit {code}: {wrong}" if wrong else ""
    return Ran(code=code, out=out.getvalue(), err=told, wrong=shown)


def _wrong(code: int | None, err: str) -> str:
    """Say what of an exit code and a complaint must not be."""
    if code not in set(map(int, MEANINGS)):
        return "is no exit code of docs/errors.md"
    if "a bug of dpassay" in err or "Traceback" in err:
        return err.strip()
    if code == 2 and len(err.strip("\n").split("\n")) != 1:
        return f"complains in {len(err.strip().splitlines())} lines: {err[:300]}"
    if code == 2 and not COMPLAINT.fullmatch(err):
        return f"complains without saying of what: {err[:300]}"
    return ""


def _wrote(code: int | None, before: list[tuple[str, int, int]]) -> str:
    """Say what a command wrote that has refused its input; docs/errors.md says: nothing."""
    after = state(Path.cwd()) if code == 2 else before
    new = sorted(set(after) ^ set(before))
    return f"refuses, and changes {new[0][0]}" if new else ""
