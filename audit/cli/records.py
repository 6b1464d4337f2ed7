"""Records by the name that a user gives: a file, or the folder of a run; else what was meant.

What reads records of runs computes their bounds again, and takes time to import: records of
theorems do without it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.attack_record import SCHEMA as ATTACK_SCHEMA
from dpassay.record.attack_record import is_attack_record, read_attack_record
from dpassay.record.files import schema_at, witness_file
from dpassay.record.kept import require_schema
from dpassay.record.theorems.baseline import is_theorem_record, read_theorem_record

RUN, ATTACK, THEOREMS = ("record.json", "run.json"), ("attack.json",), ("theorems.json",)
"""Files of the folders of a run, an attack and a run of theorems; run.json is what an earlier
version wrote."""
OTHERS = {
    "dpassay/attack/": "is of `dpassay attack`; must be a record of `dpassay run`",
    "dpassay/comparison/": "is a comparison; must be a record of `dpassay run`",
    "dpassay/selftest/": "is of `dpassay selftest`; must be a record of `dpassay run`",
    "dpassay/theorem-comparison/": "is a comparison; must be a record of `dpassay run`",
    "dpassay/theorems/": "is of `dpassay theorem run`; must be a record of `dpassay run`",
}
"""What a file of another schema is."""


def located(text: str, argument: str = "RECORD", names: tuple[str, ...] = RUN) -> Path:
    """Return the file that a name stands for: itself, or the record in a folder.

    Parameters
    ----------
    text : str
        A file or a folder.
    argument : str
        What it was said for, for messages.
    names : tuple of str
        Files that a folder is taken for.

    Raises
    ------
    InvalidInput
        If there is no such file, or the folder has none or several of them.
    """
    path = Path(text)
    if not _is(path, Path.exists):
        raise InvalidInput(f"{argument} = '{text}': no such file{_elsewhere(path, names)}")
    if not path.is_dir():
        return path
    found = [path / name for name in names if (path / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput(
            f"{argument} = '{text}': is a folder with {' and '.join(each.name for each in found)}; "
            "must be one of them"
        )
    raise InvalidInput(
        f"{argument} = '{text}': is a folder without {names[0]}; `dpassay run --out {text}` "
        "writes one"
    )


def run_record(text: str, argument: str = "RECORD") -> tuple[Path, dict[str, Any]]:
    """Return the file of a run's record, and the record.

    Raises
    ------
    InvalidInput
        If there is none, or it cannot be read; the message says what the file is instead.
    """
    path = located(text, argument)
    return path, _read_run(path, argument)


def any_record(text: str) -> tuple[dict[str, Any], str]:
    """Return a record of any kind, and of what it is: "" of a run, "attacks" or "theorems".

    Raises
    ------
    InvalidInput
        As `run_record` does.
    """
    path = located(text, names=(*RUN, *ATTACK, *THEOREMS))
    if is_attack_record(path):
        return read_attack_record(path), "attacks"
    if is_theorem_record(path):
        return read_theorem_record(path), "theorems"
    return _read_run(path, "RECORD"), ""


def attack_record(text: str, argument: str = "RECORD") -> tuple[Path, dict[str, Any]]:
    """Return the file of a record of attacks, and the record.

    Raises
    ------
    InvalidInput
        If there is none, or it cannot be read; the message says what the file is instead.
    """
    path = located(text, argument, (*ATTACK, *RUN))
    require_schema(path, argument, ATTACK_SCHEMA, "dpassay attack")
    return path, read_attack_record(path, argument)


def theorem_record(text: str, argument: str = "RECORD") -> tuple[Path, dict[str, Any]]:
    """Return the file of a record of theorems, and the record.

    Raises
    ------
    InvalidInput
        If there is none, or it cannot be read; the message says what the file is instead.
    """
    path = located(text, argument, (*THEOREMS, *RUN, *ATTACK))
    return path, read_theorem_record(path, argument)


def of_theorems(text: str, argument: str = "RECORD") -> bool:
    """Whether a name stands for a record of theorems; not if it stands for nothing."""
    try:
        return is_theorem_record(located(text, argument, (*RUN, *ATTACK, *THEOREMS)))
    except InvalidInput:
        return False


def of_attacks(text: str, argument: str = "RECORD") -> bool:
    """Whether a name stands for a record of attacks; not if it stands for nothing."""
    try:
        return is_attack_record(located(text, argument, (*RUN, *ATTACK)))
    except InvalidInput:
        return False


def witness(text: str) -> dict[str, Any]:
    """Return a witness.

    Raises
    ------
    InvalidInput
        If there is none, or it cannot be read; the message says what was perhaps meant.
    """
    from dpassay.record.witness import read_witness

    path = Path(text)
    if _is(path, Path.is_dir):
        raise InvalidInput(f"WITNESS = '{text}': is a folder; {_witnesses(path)}")
    if not _is(path, Path.exists):
        of_id = Path("report", witness_file(text))
        hint = f"; did you mean '{of_id}'?" if _is(of_id, Path.is_file) else ""
        raise InvalidInput(f"WITNESS = '{text}': no such file{hint}")
    if schema_at(path).startswith("dpassay/record/"):
        raise InvalidInput(f"WITNESS = '{text}': is a record; {_witnesses(path.parent)}")
    return read_witness(path)


def _read_run(path: Path, argument: str) -> dict[str, Any]:
    """Read a record of a run; of a file that is none, say what it is."""
    from dpassay.record.run_record import read_record

    try:
        return read_record(path, argument)
    except InvalidInput:
        if told := _other(path):
            raise InvalidInput(f"{argument} = '{path}': {told}") from None
        raise


def _other(path: Path) -> str:
    """Say what a file is that is no record of a run; empty where nobody can tell."""
    from dpassay.record.run_record import SCHEMA
    from dpassay.record.witness import is_witness

    schema = schema_at(path)
    if is_witness(path):
        return f"is a witness; did you mean `dpassay replay {path}`?"
    if schema == SCHEMA:
        return ""
    kind, _, version = schema.rpartition("/")
    if kind == SCHEMA.rpartition("/")[0] and version.isdecimal():
        later = int(version) > int(SCHEMA.rpartition("/")[2])
        what = "a later dpassay; update yours" if later else "an earlier dpassay; run it again"
        return f"is of schema {schema}, of {what} (must be {SCHEMA})"
    beside = path.with_name(RUN[0])
    if not schema and path.suffix != ".json" and beside.is_file():
        return f"is no record; did you mean '{beside}'?"
    known = (told for begins, told in OTHERS.items() if schema.startswith(begins))
    return next(known, f"is of schema {schema:.40}; must be of {SCHEMA}" if schema else "")


def _elsewhere(path: Path, names: tuple[str, ...]) -> str:
    """Say where a record lies below this folder, or what writes one."""
    found = [each for name in names for each in sorted(Path().glob(f"*/{name}"))]
    if len(found) == 1:
        return f"; did you mean '{found[0]}'?"
    folder = path.parent if path.name == names[0] and path.parent != Path() else "DIR"
    return f"; `dpassay run --out {folder}` writes {folder}/{names[0]}"


def _witnesses(folder: Path) -> str:
    """Say which files of a folder are witnesses."""
    held = folder if folder.name == "witnesses" else folder / "witnesses"
    found = sorted(held.glob("*.json"))
    if not found:
        return "must be a file in the folder witnesses/ of `dpassay run --out`"
    if len(found) == 1:
        return f"did you mean '{found[0]}'?"
    return f"must be one of the {len(found)} files in '{held}'"


def _is(path: Path, what: Callable[[Path], bool]) -> bool:
    """Whether a path is a file or a folder; one that cannot be looked at is none."""
    try:
        return what(path)
    except (OSError, ValueError):
        return False
