"""Signals: what models that somebody else has trained showed at records, and who was in.

Nobody here drew the membership. So what comes of them are estimates: a bound needs coins that are
fair, independent and ours. In a file they are arrays (.npz), or a table with a line for each model
and record (.csv).
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.subjects import SCORES
from dpassay.attacks.observed import LEAST, Array, Flags, Observed
from dpassay.attacks.user_models.estimates import Given
from dpassay.csv_files import is_file, read_frame, shown
from dpassay.errors import InvalidInput, first_line, is_count, require

KINDS = {"probability": "in [0, 1]", "logit": "a number", "loss": "a number >= 0"}
"""What a score may be: the probability of the record's own label; its log-odds, or any number that
grows with it; a loss."""
NAMES = ("scores", *KINDS)
"""Names of the array, or of the column, of scores; one that names their kind says it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signals:
    """Scores of models at records, one finite number of its kind for each.

    The last `targets` models are attacked, by default a quarter and at least one; the others
    are the attacker's reference models. Every attacked model has members and others.
    """

    scores: Array  # (models, e)
    membership: Flags  # (models, e): whether the record was in the training set
    kind: str = ""  # one of `KINDS`; by default what the range of the scores tells, see `kind_of`
    labels: NDArray[np.int64] | None = None  # (e,): >= 0, to tell the results by class
    targets: int | None = None

    def __post_init__(self) -> None:
        scores = _real(self.scores, "scores: must be numbers, an array of shape (models, records)")
        shaped = scores.ndim == 2 and scores.shape[0] >= 1 and scores.shape[1] >= 2
        allowed = "of shape (models, records) with models >= 1 and records >= 2"
        require(shaped, "scores", f"shape {scores.shape}", allowed)
        _refuse("scores", scores, ~np.isfinite(scores), "a finite number")
        flags = _real(self.membership, "membership: must be true or false, or 0 and 1")
        allowed = f"of shape {scores.shape}, that of scores"
        require(flags.shape == scores.shape, "membership", f"shape {flags.shape}", allowed)
        wrong = (flags != 0) & (flags != 1)
        _refuse("membership", flags, wrong, "true or false, or 0 or 1")
        kind = self.kind or kind_of(scores)
        require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
        wrong = ((scores < 0) & (kind != "logit")) | ((scores > 1) & (kind == "probability"))
        _refuse("scores", scores, wrong, f"{KINDS[kind]}, as kind is {kind}")
        models = len(scores)
        targets = max(1, models // 4) if self.targets is None else self.targets
        fits = is_count(targets) and targets <= models
        require(fits, "targets", targets, f"an integer in 1..{models}, the number of models")
        labels = None if self.labels is None else _labels(self.labels, scores.shape[1])
        membership = flags.astype(bool)
        _check_members(membership, models - int(targets))
        checked = {"scores": scores, "membership": membership, "kind": kind, "labels": labels}
        for name, value in (checked | {"targets": int(targets)}).items():
            object.__setattr__(self, name, value)


def _real(values: Any, wrong: str) -> Array:
    """Return a new array of real numbers; complex ones are refused."""
    try:
        if not np.iscomplexobj(values):
            return np.array(values, dtype=float)
    except (TypeError, ValueError):
        pass
    raise InvalidInput(wrong)


def _refuse(name: str, values: Array, wrong: Flags, allowed: str) -> None:
    """Refuse an array with wrong values, and name the first."""
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise InvalidInput(f"{name}[{i}, {j}] = {values[i, j]:g}: must be {allowed}")


def _labels(labels: Any, e: int) -> NDArray[np.int64]:
    found = np.asarray(labels)
    require(found.shape == (e,), "labels", f"shape {found.shape}", f"of shape ({e},), as records")
    require(found.dtype.kind in "biu", "labels", f"of {found.dtype}", "integers >= 0")
    least = found.min()
    require(bool(least >= 0), "labels", f"{found.dtype} from {least}", "integers >= 0")
    return found.astype(np.int64)


def _check_members(membership: Flags, first: int) -> None:
    """Refuse attacked models in which nobody, or everybody, is a member."""
    for model, row in enumerate(membership[first:], first):
        if row.all() or not row.any():
            which = "all true" if row.all() else "all false"
            why = f"must have members and non-members, as model {model} is attacked"
            raise InvalidInput(f"membership[{model}] = {which}: {why}")


def kind_of(scores: Array) -> str:
    """Return what scores are by their range."""
    if (scores < 0).any():
        return "logit"
    return "probability" if (scores <= 1).all() else "loss"


def observed(scores: Array, kind: str) -> Observed:
    """Return scores (models, e) as every attack reads them.

    The probability of the own label p, and 1 - p for all others together: p itself, 1 / (1 +
    e^-logit), or e^-loss. Log-odds are computed from the scores directly, so that none is cut
    off.
    """
    if kind == "probability":
        own, odds = scores, None
    elif kind == "logit":
        own, odds = 1 / (1 + np.exp(-np.clip(scores, -700, 700))), scores
    else:
        loss = np.maximum(scores, LEAST)
        own, odds = np.exp(-loss), -loss - np.log(-np.expm1(-loss))
    y = np.ones(scores.shape[1], dtype=np.int64)
    return Observed(seen=np.stack([1 - own, own], axis=2), y=y, log_odds=odds)


def given_of(signals: Signals, name: str) -> Given:
    """Return signals as they are attacked, under a name."""
    models, e = signals.scores.shape
    first = models - int(signals.targets or 0)
    mine, theirs = (observed(scores, signals.kind) for scores in np.split(signals.scores, [first]))
    reference, membership = np.split(signals.membership, [first])
    return Given(
        name=name,
        kind=signals.kind,
        views=[(SCORES, mine, theirs)],
        reference=reference,
        membership=membership,
        labels=np.zeros(e, dtype=np.int64) if signals.labels is None else signals.labels,
        all_labels=False,
    )


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
    where = f"FILE = '{path}'"
    if not is_file(path):
        raise InvalidInput(f"{where}: must be an existing .npz or .csv file")
    known = path.suffix in (".npz", ".csv")
    require(known, "FILE", str(path), "a file .npz (arrays) or .csv (a line per answer)")
    arrays = _npz(path, where) if path.suffix == ".npz" else _csv(path, where)
    if targets is not None and len(np.shape(arrays["scores"])) == 2:
        models = len(arrays["scores"])
        allowed = f"an integer in 1..{models}, the number of models in '{path}'"
        require(targets <= models, "--models", targets, allowed)
    try:
        signals = Signals(**arrays | ({"kind": kind} if kind else {}), targets=targets)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return signals, {"kind": "signals", "name": str(path), "sha256": digest}


def _npz(path: Path, where: str) -> dict[str, Any]:
    torn = f"{where}: cannot be read as .npz"
    if not zipfile.is_zipfile(path):
        raise InvalidInput(f"{torn}; write it with numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"{torn} ({first_line(str(error))})") from None
    name = _named(arrays, ("membership",), where, "array")
    kind = str(arrays["kind"].tolist()) if "kind" in arrays else ""
    found = {"scores": arrays[name], "membership": arrays["membership"]}
    found |= {"kind": name if name in KINDS else kind}
    return found | ({"labels": arrays["labels"]} if "labels" in arrays else {})


def _csv(path: Path, where: str) -> dict[str, Any]:
    frame = read_frame(path)
    columns = {str(name): frame[name] for name in frame.columns}
    name = _named(columns, ("model", "record", "member"), where, "column")
    import pandas as pd

    model, models = pd.factorize(columns["model"])
    record, records = pd.factorize(columns["record"])
    places = model * len(records) + record
    counts = np.bincount(places, minlength=len(models) * len(records))
    if (counts != 1).any():
        place = int(np.argmax(counts != 1))
        one, other = models[place // len(records)], records[place % len(records)]
        raise InvalidInput(
            f"{where}: has {counts[place]} lines of model {one} and record {other}; must have one "
            "line for every model and record"
        )
    order = np.argsort(places).reshape(len(models), len(records))
    found: dict[str, Any] = {
        "scores": columns[name].to_numpy()[order],
        "membership": columns["member"].to_numpy()[order],
        "kind": name if name in KINDS else "",
    }
    if "label" in columns:
        labels = pd.factorize(columns["label"], sort=True)[0][order]
        if (labels != labels[0]).any():
            which = records[int(np.argmax((labels != labels[0]).any(axis=0)))]
            raise InvalidInput(f"{where}: label: must be the same in all lines of record {which}")
        found["labels"] = labels[0]
    return found


def _named(named: Mapping[str, Any], wanted: tuple[str, ...], where: str, what: str) -> str:
    """Return what the scores are called; refuse a file without one of the wanted besides."""
    found = [name for name in NAMES if name in named]
    if len(found) != 1:
        has = shown(list(named)) if named else "none"
        raise InvalidInput(
            f"{where}: must have one {what} {', '.join(NAMES[:-1])} or {NAMES[-1]}; it has {has}"
        )
    for name in wanted:
        if name not in named:
            raise InvalidInput(
                f"{where}: has no {what} '{name}', which it must have; it has {shown(list(named))}"
            )
    return found[0]
