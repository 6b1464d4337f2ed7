"""The data of an experiment: records with canaries or twins, poison behind them, and slices.

A slice is made of the records that were drawn, before any model is trained, and the pairs of the
coins are laid within slices: a right guess at a pair of a slice is about records of that slice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.models import ExperimentData, build_data, one_a_pair
from dpassay.attacks.experiment.poisoning import (
    ADVERSARIES,
    KINDS,
    POISONS,
    balance,
    plant,
    surround,
)
from dpassay.attacks.observed import Flags
from dpassay.config.options import COMMAND_LINE, OPTIONS
from dpassay.csv_files import read_frame, shown
from dpassay.data import BUILT_IN, Labelled, Table
from dpassay.errors import InvalidInput, is_count, is_real, near, require
from dpassay.seeds import stream

if TYPE_CHECKING:
    import pandas as pd

POISONED = 20
"""Records that are surrounded by poison unless told otherwise, or half of all if these are
fewer."""
MOST = 10
"""Categories that are slices of their own; of more, the rarest make one slice together."""
BINS = 4
"""Quantile bins of a column of numbers with more than `MOST` values."""
MISSING, OTHER = "missing", "other"
"""Slices of records without a value, and of the rarest categories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What an experiment asks about, and what its adversary may do."""

    records: int = COMMAND_LINE["records"].default
    copies: int = COMMAND_LINE["copies"].default
    noise: float = COMMAND_LINE["noise"].default  # see `models.build_data`
    canaries: int = COMMAND_LINE["canaries"].default
    planted: str = COMMAND_LINE["planted"].default  # what of a canary is random, see `plant`
    adversary: str = COMMAND_LINE["adversary"].default
    # records that are surrounded by poison; None for the default
    poisoned: int | None = COMMAND_LINE["poisoned"].default
    poison_labels: str = COMMAND_LINE["poison_labels"].default  # one of `POISONS`
    # poisoned records around each; None for the default of their labels
    poison: int | None = COMMAND_LINE["poison"].default
    # column whose value is guessed, instead of membership
    attribute: str | None = COMMAND_LINE["attribute"].default
    slice_by: str | None = COMMAND_LINE["slice_by"].default  # see `slices_by`
    seed: int = OPTIONS["seed"].default

    def __post_init__(self) -> None:
        finite = is_real(self.noise) and 0 <= self.noise < math.inf
        require(is_count(self.records, 2), "--records", self.records, "an integer >= 2")
        require(is_count(self.copies, 0), "--copies", self.copies, "an integer >= 0")
        require(finite, "--noise", self.noise, "a finite number >= 0")
        require(is_count(self.canaries, 0), "--canaries", self.canaries, "an integer >= 0")
        words = {"planted": KINDS, "adversary": ADVERSARIES, "poison_labels": POISONS}
        for option, known in words.items():
            value, name = getattr(self, option), f"--{option.replace('_', '-')}"
            require(value in known, name, value, f"one of {', '.join(known)}")
        twinned = self.attribute is not None
        neighbour = "0 with --attribute: a canary would not be its neighbour's twin"
        require(not (twinned and self.canaries), "--canaries", self.canaries, neighbour)
        line = "left out with --attribute: both records of a pair come from one line"
        sliced = self.slice_by is not None
        require(not (twinned and sliced), "--slice-by", self.slice_by, line)


def lay(table: Table, setting: Scenario) -> tuple[ExperimentData, dict[str, Any]]:
    """Return the data of an experiment, and JSON facts about it for the record."""
    adversary = ADVERSARIES[setting.adversary]
    records, test, rows, columns = _drawn(table, setting)
    canaries = poisoned = np.empty(0, dtype=np.int64)
    slices: dict[str, Flags] = {}
    background = None
    places = np.arange(len(records))
    if setting.canaries:
        kind, seed = setting.planted, setting.seed
        records, canaries = plant(records, setting.canaries, kind=kind, seed=seed)
        slices["canaries"] = np.isin(places, canaries)
    if adversary.poisons:
        rng = stream(setting.seed, "poisoned", records.digest)
        number = min(POISONED, len(records) // 2) if setting.poisoned is None else setting.poisoned
        poisoned = one_a_pair(len(records), number, "--poisoned", rng)
        copies = POISONS[setting.poison_labels] if setting.poison is None else setting.poison
        poison = balance if setting.poison_labels == "balanced" else surround
        background = poison(records, poisoned, copies, seed=setting.seed)
        slices["poisoned"] = np.isin(places, poisoned)
    laid = build_data(
        records,
        test,
        copies=setting.copies,
        noise=setting.noise,
        seed=setting.seed,
        background=background,
        adversarial=adversary.chooses,
        slices=slices,
        columns=columns,
        lines=None if table.lines is None else table.lines[rows],
    )
    facts = {
        "adversary": setting.adversary,
        "attribute": setting.attribute,
        "background": 0 if background is None else len(background),
        "canaries": canaries.tolist(),
        "planted": setting.planted if setting.canaries else None,
        "poison_labels": setting.poison_labels if adversary.poisons else None,
        "poisoned": poisoned.tolist(),
        "slice_by": setting.slice_by,
        "records": len(records),
        "test": len(test),
    }
    return laid, facts


def _drawn(
    table: Table, setting: Scenario
) -> tuple[Labelled, Labelled, NDArray[np.int64], dict[str, Flags]]:
    """Draw an even number of records, at most four fifths of all, and at most as many test records.

    Where an attribute is guessed, half as many are drawn, and their twins are made. The row of the
    table that each record comes from and the slices by a column follow; records of a slice stand
    together then.
    """
    n = len(table.data)
    require(n >= 5, "--data", f"{n} records", "at least 5 records")
    e = min(setting.records, 4 * n // 5) // 2 * 2
    order = stream(setting.seed, "attack", table.source["sha256"]).permutation(n)
    rows, test = order[:e], table.data.take(order[e : 2 * e])
    if setting.attribute is not None:
        guessed = columns_of(table, setting.attribute)
        records = twins(table.data.take(rows[: e // 2]), guessed, seed=setting.seed)
        return records, test, np.repeat(rows[: e // 2], 2), {}
    slices: dict[str, Flags] = {}
    if setting.slice_by is not None:
        values = column_values(table, setting.slice_by)
        # those of a slice stand together, in their order: then at most one pair at each border has
        # records of two slices
        flags = np.stack(list(slices_by(values.iloc[rows], setting.slice_by).values()))
        rows = rows[np.argsort(flags.argmax(axis=0), kind="stable")]
        slices = slices_by(values.iloc[rows], setting.slice_by)
    return table.data.take(rows), test, rows, slices


def columns_of(table: Table, name: str) -> tuple[int, ...] | None:
    """Return the encoded columns of an attribute; None is the label."""
    if name in table.columns:
        return table.columns[name]
    if name in ("label", table.source.get("target")):
        return None
    if name.isdecimal():
        for columns in table.columns.values():
            if int(name) in columns:
                return columns
    few = ", ".join(list(table.columns)[:8]) + ", ..." * (len(table.columns) > 8)
    raise InvalidInput(f"--attribute = '{name}': no such column; there are label, {few}")


def twins(records: Labelled, columns: Sequence[int] | None, *, seed: int) -> Labelled:
    """Put behind every record its twin, with another value of the attribute.

    The twin takes it from a random record that has another one. The columns are those of
    `columns_of`; None is the label.

    So attribute inference is membership inference: the coin of a pair says which value is in
    the training set, and a guess at the coin is a guess at the value, right with probability 1/2
    without the answers. Training sets that differ in a coin differ in one replaced record. About
    half of the values in a training set are made up, so the models are not those of the natural
    data: what is told is the worst case of label privacy rather than its everyday.
    """
    values = records.y[:, None] if columns is None else records.X[:, list(columns)]
    kinds, codes = np.unique(values, axis=0, return_inverse=True)
    codes, one = codes.reshape(-1), "one value in all the records drawn"
    require(len(kinds) >= 2, "--attribute", one, "a column with at least two values")
    rng = stream(seed, "twins", records.digest)
    donors = [int(rng.choice(np.flatnonzero(codes != code))) for code in codes]
    X, y = np.repeat(records.X, 2, axis=0), np.repeat(records.y, 2)
    if columns is None:
        y[1::2] = records.y[donors]
    else:
        X[1::2, list(columns)] = records.X[donors][:, list(columns)]
    return Labelled(X, y)


def column_values(table: Table, column: str) -> pd.Series:
    """Return the values of a column as they stand in the file, one for each record of the table."""
    import pandas as pd

    names = [*table.columns, *([table.source["target"]] if "target" in table.source else [])]
    if table.source["kind"] == "file":
        frame = read_frame(Path(table.source["name"]), missing=True)
        names = [str(name) for name in frame.columns]
        if column in names:
            return frame[column]
    elif table.source["name"] == BUILT_IN and column in table.columns:
        return pd.Series(table.data.X[:, table.columns[column][0]])
    close = near(column, names)
    hint = f"did you mean '{close}'?" if close else f"must be one of {shown(names)}"
    raise InvalidInput(f"--slice-by = '{column}': no such column; {hint}")


def slices_by(values: pd.Series, column: str) -> dict[str, Flags]:
    """Divide records by their values: every record is in exactly one slice, and no slice is empty.

    Categories come from the most frequent on, bins from the smallest on; then follow the other
    categories and the missing values. `column` names the slices.
    """
    missing: NDArray[np.bool_] = values.isna().to_numpy()
    told = values[~missing]
    found: dict[str, Flags] = {}
    if values.dtype.kind in "iuf" and told.nunique() > MOST:
        found = _bins(values.to_numpy(dtype=float), column)
    else:
        order = sorted(told.value_counts().items(), key=lambda each: (-each[1], str(each[0])))
        kept = [value for value, _ in order[: MOST - (len(order) > MOST)]]
        found = {f"{column} = {_text(value)}": (values == value).to_numpy() for value in kept}
        rest = ~missing & ~values.isin(kept).to_numpy()
        found |= {f"{column}: {OTHER}": rest} if rest.any() else {}
    return found | ({f"{column}: {MISSING}": missing} if missing.any() else {})


def _bins(numbers: NDArray[np.float64], column: str) -> dict[str, Flags]:
    """Return quantile bins; inner edges are values of records, and equal values share a bin."""
    inner = np.linspace(0, 1, BINS + 1)[1:-1]
    edges = np.unique(np.nanquantile(numbers, inner, method="higher"))
    least = np.nanmin(numbers)
    edges = edges[edges > least]
    if not len(edges):  # most are equal: the others stand apart
        edges = np.array([np.nanmin(numbers[numbers > least])])
    found = {f"{column} < {_text(float(edges[0]))}": numbers < edges[0]}
    for low, high in pairwise(edges.tolist()):
        name = f"{_text(low)} ≤ {column} < {_text(high)}"
        found[name] = (numbers >= low) & (numbers < high)
    return found | {f"{column} ≥ {_text(float(edges[-1]))}": numbers >= edges[-1]}


def _text(value: object) -> str:
    """Return a value as text: whole numbers of a column with gaps, which pandas holds as floats."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
