"""The ground that the options of an experiment lay.

Records with canaries or twins, poison behind them, queries to start from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.attribute import columns_of, twins
from dpassay.attacks.experiment.by_column import column_values, slices_by, within_slices
from dpassay.attacks.experiment.canaries import KINDS, plant
from dpassay.attacks.experiment.coins import one_a_pair
from dpassay.attacks.experiment.models import ExperimentData, build_data
from dpassay.attacks.experiment.poisoning import ADVERSARIES, POISONS, balance, surround
from dpassay.attacks.observed import Flags
from dpassay.config.options import COMMAND_LINE, OPTIONS
from dpassay.data import Labelled, Table
from dpassay.errors import is_count, is_real, require
from dpassay.seeds import stream

POISONED = 20
"""Records that are surrounded by poison unless told otherwise, or half of all if these are
fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What an experiment asks about, and what its adversary may do."""

    records: int = COMMAND_LINE["records"].default
    copies: int = COMMAND_LINE["copies"].default
    noise: float = COMMAND_LINE["noise"].default  # see `models.build_data`
    canaries: int = COMMAND_LINE["canaries"].default
    planted: str = COMMAND_LINE["planted"].default  # what of a canary is random, see `canaries`
    adversary: str = COMMAND_LINE["adversary"].default
    # records that are surrounded by poison; None for the default
    poisoned: int | None = COMMAND_LINE["poisoned"].default
    poison_labels: str = COMMAND_LINE["poison_labels"].default  # one of `POISONS`
    # poisoned records around each; None for the default of their labels
    poison: int | None = COMMAND_LINE["poison"].default
    # column whose value is guessed, instead of membership
    attribute: str | None = COMMAND_LINE["attribute"].default
    slice_by: str | None = COMMAND_LINE["slice_by"].default  # see `by_column`
    seed: int = OPTIONS["seed"].default

    def __post_init__(self) -> None:
        require(is_count(self.records, 2), "--records", self.records, "an integer >= 2")
        require(is_count(self.copies, 0), "--copies", self.copies, "an integer >= 0")
        require(
            is_real(self.noise) and 0 <= self.noise < math.inf,
            "--noise",
            self.noise,
            "a finite number >= 0",
        )
        require(is_count(self.canaries, 0), "--canaries", self.canaries, "an integer >= 0")
        require(self.planted in KINDS, "--planted", self.planted, f"one of {', '.join(KINDS)}")
        require(
            self.adversary in ADVERSARIES,
            "--adversary",
            self.adversary,
            f"one of {', '.join(ADVERSARIES)}",
        )
        require(
            self.poison_labels in POISONS,
            "--poison-labels",
            self.poison_labels,
            f"one of {', '.join(POISONS)}",
        )
        useless = self.attribute is not None and self.canaries > 0
        require(
            not useless,
            "--canaries",
            self.canaries,
            "0 with --attribute: a canary would not be its neighbour's twin",
        )
        both = self.attribute is not None and self.slice_by is not None
        require(
            not both,
            "--slice-by",
            self.slice_by,
            "left out with --attribute: both records of a pair come from one line",
        )


def lay(table: Table, setting: Scenario) -> tuple[ExperimentData, dict[str, Any]]:
    """Return the data of an experiment, and JSON facts about it for the record."""
    adversary = ADVERSARIES[setting.adversary]
    records, test, rows, columns = _drawn(table, setting)
    canaries = poisoned = np.empty(0, dtype=np.int64)
    slices: dict[str, Flags] = {}
    background = None
    if setting.canaries:
        records, canaries = plant(
            records, setting.canaries, kind=setting.planted, seed=setting.seed
        )
        slices["canaries"] = _flags(canaries, len(records))
    if adversary.poisons:
        rng = stream(setting.seed, "poisoned", records.digest)
        number = min(POISONED, len(records) // 2) if setting.poisoned is None else setting.poisoned
        poisoned = one_a_pair(len(records), number, "--poisoned", rng)
        copies = POISONS[setting.poison_labels] if setting.poison is None else setting.poison
        poison = balance if setting.poison_labels == "balanced" else surround
        background = poison(records, poisoned, copies, seed=setting.seed)
        slices["poisoned"] = _flags(poisoned, len(records))
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

    Where an attribute is guessed, half as many are drawn, and their twins are made. Besides, the
    row of the table that each record comes from, and the slices by a column; records of a slice
    stand together then.
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
        rows = rows[within_slices(slices_by(values.iloc[rows], setting.slice_by))]
        slices = slices_by(values.iloc[rows], setting.slice_by)
    return table.data.take(rows), test, rows, slices


def _flags(places: NDArray[np.int64], e: int) -> Flags:
    found = np.zeros(e, dtype=bool)
    found[places] = True
    return found
