"""Find the record for a path: a file or a run's folder; else say what was meant.

What reads records of runs computes their bounds again, and takes time to import: records of
theorems do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpassay.errors import DpassayError, InvalidInput
from dpassay.record.kinds import KINDS, RUNS, Record, RecordKind

SENSELESS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What numbers raise that no run has written."""


def record_of(
    text: str, argument: str = "RECORD", kind: RecordKind | None = None
) -> tuple[RecordKind, Path, Record]:
    """Return the kind of a record, its file and the record, or say what the file is instead.

    It must be of the kind that is given, else it may be of any.
    """
    kinds = KINDS if kind is None else (kind,)
    path = _located(text, argument, tuple(dict.fromkeys(n for each in kinds for n in each.files)))
    kind = next((each for each in kinds if each.holds(path)), kinds[0])
    return kind, path, kind.read(path, argument)


def witness(text: str) -> dict[str, Any]:
    """Return a witness, or say what was perhaps meant."""
    from dpassay.record.witness import read_witness

    path = Path(text)
    folder = _is(path, Path.is_dir)
    if folder or RUNS.holds(path):
        place = path if folder else path.parent
        place = place if place.name == "witnesses" else place / "witnesses"
        found = sorted(place.glob("*.json"))
        told = f"must be one of the {len(found)} files in '{place}'"
        if len(found) < 2:
            told = "must be a file in the folder witnesses/ of `dpassay run --out`"
            told = f"did you mean '{found[0]}'?" if found else told
        raise InvalidInput(f"WITNESS = '{text}': is a {'folder' if folder else 'record'}; {told}")
    if not _is(path, Path.exists):
        raise InvalidInput(f"WITNESS = '{text}': no such file")
    return read_witness(path)


@contextmanager
def sound(said: str) -> Iterator[None]:
    """Say that a record is damaged where its numbers cannot be told or compared.

    Its schema allows them: only a file that somebody has changed is like that.
    """
    try:
        yield
    except DpassayError:
        raise
    except KeyError as error:
        raise InvalidInput(f"{said}: is damaged: it lacks {error}") from error
    except SENSELESS as error:
        why = "one of its fields holds what no run writes"
        raise InvalidInput(f"{said}: is damaged: {why} ({error})") from error


def _located(text: str, argument: str, names: tuple[str, ...]) -> Path:
    """Return the file that a name stands for: itself, or the one record in a folder."""
    path, said = Path(text), f"{argument} = '{text}'"
    if not _is(path, Path.exists):
        below = [each for name in names for each in sorted(Path().glob(f"*/{name}"))]
        if len(below) == 1:
            raise InvalidInput(f"{said}: no such file; did you mean '{below[0]}'?")
        folder = path.parent if path.name == names[0] and path.parent != Path() else "DIR"
        hint = f"`dpassay run --out {folder}` writes {folder}/{names[0]}"
        raise InvalidInput(f"{said}: no such file; {hint}")
    if not path.is_dir():
        return path
    found = [name for name in names if (path / name).is_file()]
    if not found:
        hint = f"`dpassay run --out {text}` writes one"
        raise InvalidInput(f"{said}: is a folder without {names[0]}; {hint}")
    if len(found) > 1:
        raise InvalidInput(f"{said}: is a folder with {' and '.join(found)}; must be one of them")
    return path / found[0]


def _is(path: Path, what: Callable[[Path], bool]) -> bool:
    """Return whether a path is a file or a folder; one that cannot be looked at is none."""
    try:
        return what(path)
    except (OSError, ValueError):
        return False
