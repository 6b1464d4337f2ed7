"""How hostile auditees are run, beside an honest one and two innocent ones that leak."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
AUDITEES = HERE / "auditees"
sys.path.insert(0, str(AUDITEES))

import hostile_forgeries  # noqa: E402, F401
import hostile_imports  # noqa: E402
import hostile_output  # noqa: E402, F401
import hostile_system  # noqa: E402, F401
from hostile_table import CASES as CASES  # noqa: E402, PLC0414
from hostile_table import FREE as FREE  # noqa: E402, PLC0414
from hostile_table import GUARDED as GUARDED  # noqa: E402, PLC0414
from hostile_table import REFUSED as REFUSED  # noqa: E402, PLC0414
from hostile_table import Case as Case  # noqa: E402, PLC0414

from dpassay.cli.exit_codes import of_record  # noqa: E402

INNOCENT = '''"""An auditee that leaks and means no harm, and one that does not leak."""
import numpy as np
from innocent_part import FLIPPED

KEPT = 1 - 0.02

def near(data, queries, size, rng):
    label = data.y[np.linalg.norm(queries[:, None] - data.X, axis=2).argmin(axis=1)]
    return np.where(rng.random((size, len(queries))) < max(FLIPPED, 1 - KEPT), 1 - label, label)

def fair(data, queries, size, rng):
    return rng.integers(0, 2, (size, len(queries)))

def twin(function, number):
    def sample(data, queries, size, rng):
        return function(data, queries, size, rng)
    sample.__qualname__ = sample.__name__ = f"near{number}"
    return sample

'''
LIMIT = 3.0
"""Seconds that a request of a host may take here."""
SMALL = ["--profile", "quick", "--train", "2", "--queries", "1", "--train-queries", "2"]
SMALL += ["--neighbours", "flip", "--budget", "300"]
LIMITS = ["--shard-timeout", str(LIMIT), "--memory", "0.5"]
ATTACK = ["--claim", "epsilon=1", "--against", "mechanism", "--records", "30", "--references", "4"]
ATTACK += ["--models", "30", "--attacks", "gap", "--transcripts", "400"]
OUT = "made/out"
TWINS = 24
PARTS = ("subjects", "repeated")
FIRST, HONEST, LAST = "innocent first", "honest", "innocent last"
UNPRINTED = ("\x1b", "\r", "\u202e", "Traceback", "REACHED")
INNOCENTS = ((FIRST, HONEST, LAST), ("innocent:near", "innocent:fair"))
ENTRY = '[[mechanisms]]\nname = "{}"\ntarget = "{}"\n'
CLAIM = "claim = { epsilon = 1.0 }\n"
SCRIPT = HERE / "in_python.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a run."""

    code: int | str
    seconds: float
    left: list[str]
    results: dict[str, Any]
    witnesses: dict[str, str]
    reached: list[str]
    stdout: str
    stderr: str
    folder: Path = field(repr=False)


def run(command: str, cases: Sequence[Case | None], folder: Path, *words: str) -> Ran:
    """Run auditees under a command in a new folder; None is an innocent one in the place of one."""
    here = folder / "here"
    for each in (folder, here, *(folder / name for name in ("bin", "home", "marks"))):
        each.mkdir()
    shutil.copytree(AUDITEES, here, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    twins = "".join(f"near{k} = twin(near, {k})\n" for k in range(TWINS))
    (here / "innocent.py").write_text(INNOCENT + twins)
    for case in cases:
        if case is not None and case.module in hostile_imports.TEXTS:
            text = hostile_imports.TEXTS[case.module][1] + hostile_imports.AFTER
            (here / f"{case.module}.py").write_text(text)
    (here / "innocent_part.py").write_text("FLIPPED = 0.02\n")
    (here / "made").mkdir()
    given = getattr(sys.modules[__name__], f"_{command}")(cases, here)
    held = {path: path.read_bytes() for path in here.glob("*.*") if path.is_file()}
    mark = uuid.uuid4().hex[:12]
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    more = {
        "HOSTILE_RUN": mark,
        "HOSTILE_BIN": str(folder / "bin"),
        "PATH": path,
        "HOME": str(folder / "home"),
    }
    more |= {"HOSTILE_MARKS": str(folder / "marks")}
    more |= {f"GITHUB_{name}": str(folder / name.lower()) for name in ("ENV", "PATH", "OUTPUT")}
    waits = sum(case.limits for case in cases if case is not None)
    seconds = 120.0 + 10 * len(cases) + 4 * LIMIT * waits
    done = subprocess.run(
        [sys.executable, "-IS", HERE / "launcher.py", str(seconds), *given, *words],
        cwd=here,
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    )
    try:
        return _read(json.loads(done.stdout), here, held)
    finally:
        _clean(mark)


def _run(cases: Sequence[Case | None], folder: Path) -> list[str]:
    places = [(FIRST, "innocent:near", CLAIM)]
    for k, case in enumerate(cases):
        target, claim = (
            ("innocent:near", CLAIM)
            if case is None
            else (case.target, CLAIM if case.claim else "# its own\n")
        )
        places.append((f"hostile {k}", target, claim))
    places += [(HONEST, "innocent:fair", CLAIM), (LAST, "innocent:near", CLAIM)]
    text = "\n".join(ENTRY.format(name, target) + claim for name, target, claim in places)
    (folder / "dpassay.toml").write_text(text)
    return [*_dpassay(), "run", *SMALL, *LIMITS, "--out", OUT, "-q"]


def _dask(cases: Sequence[Case | None], folder: Path) -> list[str]:
    return [*_run(cases, folder), "--executor", "dask", "--jobs", "1"]


def _attack(cases: Sequence[Case | None], folder: Path) -> list[str]:
    named = [f"innocent:near{k}" if case is None else case.target for k, case in enumerate(cases)]
    words = [*_dpassay(), "attack", "innocent:near", *named, "innocent:fair", *ATTACK]
    return [*words, *LIMITS, "--out", OUT, "-q"]


def _audit(cases: Sequence[Case | None], folder: Path) -> list[str]:
    named = ["innocent:near" if case is None else case.target for case in cases]
    return [sys.executable, str(SCRIPT), str(LIMIT), *named]


def _dpassay() -> list[str]:
    return [str(Path(sys.executable).parent / "dpassay")]


def _read(told: dict[str, Any], folder: Path, held: dict[Path, bytes]) -> Ran:
    results, witnesses = dict[str, Any](), dict[str, str]()
    stdout = (folder / "stdout").read_bytes()[:1_000_000].decode(errors="replace")
    with suppress(OSError, ValueError):
        record = json.loads((folder / OUT / "record.json").read_bytes())
        results |= {each["mechanism"]: each for each in record["results"]}
    with suppress(OSError, ValueError):
        record = json.loads((folder / OUT / "attack.json").read_bytes())
        results |= {each["name"]: _subject(record, each["name"]) for each in record["subjects"]}
    for line in stdout.splitlines():
        with suppress(ValueError):
            if line.startswith('{"audited": '):
                results[json.loads(line)["audited"]] = json.loads(line)
    for path in (folder / OUT / "witnesses").glob("innocent*.json"):
        witnesses[path.name] = path.read_text()
    return Ran(
        **told,
        results=results,
        witnesses=witnesses,
        reached=[
            *sorted(path.name for path in (folder.parent / "marks").glob("reached-*")),
            *(path.name for path in held if not path.is_file() or path.read_bytes() != held[path]),
        ],
        stdout=stdout,
        stderr=(folder / "stderr").read_bytes()[:1_000_000].decode(errors="replace"),
        folder=folder,
    )


def _subject(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what an attack found of one subject, with what the command would end with for it."""
    own = {key: [each for each in record[key] if each["name"] == name] for key in PARTS}
    code = of_record({**record, **own, "defects": []}, allow_inconclusive=False)
    return own | {"verdict": {1: "refuted", 3: "error"}.get(int(code), f"exit {int(code)}")}


def complaints(
    command: str, cases: Sequence[Case], ran: Ran, reference: Ran, *, guarded: bool
) -> list[str]:
    """Return what does not hold of a run, beside the same run of innocent auditees only.

    Those that are kept out by namespaces alone may end it where there are none.
    """
    harmless = guarded or all(case.holds != GUARDED for case in cases)
    found = [f"left behind: {ran.left}"] if ran.left else []
    if command != "audit" and any(case.holds == REFUSED for case in cases):
        return found if ran.code in (2, 3) else [*found, f"exit {ran.code}, not 2 or 3"]
    if ran.code == 0 or (harmless and ran.code != 1):
        found.append(f"exit {ran.code}: {' | '.join(ran.stderr.splitlines()[-2:])[-300:]}")
    limit = 3 * reference.seconds + 2 * LIMIT * sum(case.limits for case in cases) + 10
    if ran.seconds > limit and not any(case.slow for case in cases):
        found.append(f"took {ran.seconds:.0f} s, more than {limit:.0f} s")
    said = ran.stdout + ran.stderr
    found += [f"{mark!r} is printed" for mark in UNPRINTED if mark in said]
    return [*found, *(_harm(command, cases, ran, reference) if harmless else ())]


def _harm(command: str, cases: Sequence[Case], ran: Ran, reference: Ran) -> Iterator[str]:
    """Say what differs of the innocent ones, what was touched, and which verdicts are wrong."""
    for name in INNOCENTS[command == "attack"]:
        if ran.results.get(name) != reference.results.get(name):
            yield f"{name}: {_difference(reference.results.get(name, {}), ran.results.get(name))}"
    if ran.witnesses != reference.witnesses:
        yield "the witnesses of innocent ones differ"
    allowed = {f"reached-{case.reaches}" for case in cases if case.holds == FREE}
    if out_of_reach := sorted(set(ran.reached) - allowed):
        yield f"{out_of_reach}"
    for k, case in enumerate(cases):
        each = ran.results.get(case.target if command == "attack" else f"hostile {k}", {})
        told = f"{case.module}:{case.name}: {each.get('verdict')}: {each.get('reason')}"
        if each.get("expected") or (
            case.holds != FREE and each.get("verdict") not in ("refuted", "error", "refused")
        ):
            yield told


def _difference(one: dict[str, Any], other: dict[str, Any] | None) -> str:
    if other is None:
        return "is missing"
    keys = [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
    verdicts = f"{one.get('verdict')}, then {other.get('verdict')}"
    return f"other bytes in {keys}: {verdicts}, {str(other.get('reason'))[:150]}"


def _clean(mark: str) -> None:
    """Remove what was written where it should be out of reach."""
    import site

    import dpassay

    package = Path(dpassay.__file__).resolve().parent
    folders = [package, package / "__pycache__", Path(os.__file__).parent, Path("/dev/shm")]  # noqa: S108
    for folder in (*folders, *map(Path, site.getsitepackages())):
        for path in folder.glob(f"*hostile*{mark}*"):
            path.unlink()


def main() -> None:
    """Run some by hand: COMMAND FOLDER SIZE NAME|GROUP ..., SIZE of them at a time."""
    command, folder, size, *names = sys.argv[1:]
    wanted = {
        key: case
        for key, case in CASES.items()
        if command in case.commands and (not names or key in names or case.group in names)
    }
    number = int(size)
    quick = [key for key, case in wanted.items() if case.holds != REFUSED]
    batches = [quick[start : start + number] for start in range(0, len(quick), number)]
    batches += [[key] for key in wanted if key not in quick]
    root = Path(folder)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    reference = run(command, [None] * number, root / "reference")
    sys.stdout.write(f"# {reference.code}, {reference.seconds:.1f} s\n")
    for some in batches:
        cases = [wanted[key] for key in some]
        ran = run(command, [*cases, *[None] * (number - len(some))], root / some[0])
        told = complaints(command, cases, ran, reference, guarded=True)
        sys.stdout.write(f"{' '.join(some)}: exit {ran.code}, {ran.seconds:.1f} s\n")
        sys.stdout.writelines(f"    {line}\n" for line in told)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
