"""Signals in a file: arrays (.npz), or a table with a line per model and record (.csv)."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.attacks.given.signals import KINDS, Signals
from dpassay.csv_files import is_file, read_csv, shown
from dpassay.errors import InvalidInput, first_line, require

SCORES = ("scores", *KINDS)
"""Names of the array, or of the column, of scores; one that names their kind says it."""
MODEL, RECORD, MEMBER = "model", "record", "member"


def read_signals(
    path: str | Path, *, kind: str = "", targets: int | None = None
) -> tuple[Signals, dict[str, Any]]:
    """Read saved signals and JSON facts about their file: kind, name and SHA-256.

    An `.npz` file has arrays `scores` and `membership`, both (models, records), and perhaps
    `labels` (records,) and `kind`, a text; a `.csv` file has columns `model`, `record`,
    `member` (0 or 1), `scores` and perhaps `label`, one line for every model and record.
    Instead of `scores` the name may be the kind: `probability`, `logit` or `loss`. The argument
    `kind` goes before what the file says.
    """
    path = Path(path)
    if not is_file(path):
        raise InvalidInput(f"--signals = '{path}': must be an existing .npz or .csv file")
    known = path.suffix in (".npz", ".csv")
    require(known, "--signals", str(path), "a file .npz (arrays) or .csv (a line per answer)")
    arrays = _npz(path) if path.suffix == ".npz" else _csv(path)
    if targets is not None and len(np.shape(arrays["scores"])) == 2:
        models = len(arrays["scores"])
        allowed = f"an integer in 1..{models}, the number of models in '{path}'"
        require(targets <= models, "--models", targets, allowed)
    try:
        signals = Signals(**arrays | ({"kind": kind} if kind else {}), targets=targets)
    except InvalidInput as error:
        raise InvalidInput(f"--signals = '{path}': {error}") from None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return signals, {"kind": "signals", "name": str(path), "sha256": digest}


def _npz(path: Path) -> dict[str, Any]:
    torn = f"--signals = '{path}': cannot be read as .npz"
    if not zipfile.is_zipfile(path):
        raise InvalidInput(f"{torn}; write it with numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"{torn} ({first_line(str(error))})") from None
    name = _scores(arrays, f"--signals = '{path}'", "array")
    _has(arrays, ("membership",), f"--signals = '{path}'", "array")
    found = {"scores": arrays[name], "membership": arrays["membership"]}
    kind = str(arrays["kind"].tolist()) if "kind" in arrays else ""
    found |= {"kind": name if name in KINDS else kind}
    return found | ({"labels": arrays["labels"]} if "labels" in arrays else {})


def _csv(path: Path) -> dict[str, Any]:
    frame = read_csv(path)
    columns = {str(name): frame[name] for name in frame.columns}
    where = f"--signals = '{path}'"
    name = _scores(columns, where, "column")
    _has(columns, (MODEL, RECORD, MEMBER), where, "column")
    import pandas as pd

    model, models = pd.factorize(columns[MODEL])
    record, records = pd.factorize(columns[RECORD])
    places = model * len(records) + record
    counts = np.bincount(places, minlength=len(models) * len(records))
    if (counts != 1).any():
        place = int(np.argmax(counts != 1))
        one, other = models[place // len(records)], records[place % len(records)]
        raise InvalidInput(
            f"{where}: has {counts[place]} lines of model {one} and record {other}; must have one "
            "line for every model and record"
        )
    order = np.argsort(places)

    def table(column: str) -> Any:
        return columns[column].to_numpy()[order].reshape(len(models), len(records))

    found: dict[str, Any] = {"scores": table(name), "membership": table(MEMBER)}
    found["kind"] = name if name in KINDS else ""
    if "label" in columns:
        codes = pd.factorize(columns["label"], sort=True)[0]
        labels = codes[order].reshape(len(models), len(records))
        if (labels != labels[0]).any():
            which = records[int(np.argmax((labels != labels[0]).any(axis=0)))]
            raise InvalidInput(f"{where}: label: must be the same in all lines of record {which}")
        found["labels"] = labels[0]
    return found


def _scores(named: Mapping[str, Any], where: str, what: str) -> str:
    """Return what the scores are called."""
    found = [name for name in SCORES if name in named]
    if len(found) != 1:
        has = shown(list(named)) if named else "none"
        raise InvalidInput(
            f"{where}: must have one {what} {', '.join(SCORES[:-1])} or {SCORES[-1]}; it has {has}"
        )
    return found[0]


def _has(named: Mapping[str, Any], wanted: tuple[str, ...], where: str, what: str) -> None:
    for name in wanted:
        if name not in named:
            raise InvalidInput(
                f"{where}: has no {what} '{name}', which it must have; it has {shown(list(named))}"
            )
