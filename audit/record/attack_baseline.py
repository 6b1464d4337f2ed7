"""The baseline of attacks: the record that a team has accepted, which later ones are held against.

Its rules are counted again by every later attack of the same records, so that the same number is
compared with itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.attack_record import (
    SCHEMA,
    UNEXAMINED,
    UNSEEN,
    read_attack_record,
    told_of_claims,
)
from dpassay.record.files import exists
from dpassay.record.kept import require_same, require_schema

Raw = Mapping[str, Any]

ATTACK_BASELINE = "dpassay-attack-baseline.json"
"""Where it is kept unless another file is named."""
MAY_DIFFER = frozenset(
    {"command", "commit", "complete", "confidence", "probe", "references", "targets", "test"}
)
"""Facts that two records may differ in; by every other they are of different experiments."""
CURVES: dict[str, Any] = {"roc": {"fpr": [0.0], "tpr": [0.0]}, "tpr_per_target": [[], []]}
"""What is never compared, as short as it may be."""


def whole_attack(record: Raw, path: Path, argument: str = "RECORD") -> None:
    """Make sure that a record of attacks holds a finished experiment.

    Raises
    ------
    InvalidInput
        If it was interrupted, or nothing was attacked.
    """
    if not record["run"]["complete"]:
        raise InvalidInput(
            f"{argument} = '{path}': is of an interrupted attack; give its command again with the "
            "same --out to finish it"
        )
    if not record["subjects"] and "service" not in record["run"]:
        raise InvalidInput(f"{argument} = '{path}': nothing was attacked in it")


def comparable_attacks(old: Raw, new: Raw, path: Path, argument: str = "OLD") -> None:
    """Make sure that two records of attacks are of the same experiment.

    Raises
    ------
    InvalidInput
        If a fact but those in `MAY_DIFFER` differs, or they have no subject in common.
    """
    again = (
        "attack with the same options, or look at the new record and run `dpassay baseline accept`"
    )
    require_same(old["run"], new["run"], MAY_DIFFER, f"{argument} = '{path}'", again)
    mine, theirs = ({each["name"] for each in record["subjects"]} for record in (old, new))
    if mine and not mine & theirs:
        raise InvalidInput(
            f"{argument} = '{path}': is stale: it has none of the subjects of the record; {again}"
        )


def read_attack_baseline(path: Path, argument: str = "baseline") -> dict[str, Any]:
    """Read a baseline of attacks.

    Raises
    ------
    InvalidInput
        If there is none, or it is no sound record of a finished attack.
    """
    if not exists(path):
        raise InvalidInput(
            f"{argument} = '{path}': does not exist; create it with `dpassay baseline accept "
            "attack/attack.json`"
        )
    require_schema(path, argument, SCHEMA, "dpassay attack")
    record = read_attack_record(path, argument)
    whole_attack(record, path, argument)
    return record


def acceptable_attack(record: Raw, path: Path) -> dict[str, Any]:
    """Return a record of attacks as it is kept for a baseline: without curves.

    Raises
    ------
    InvalidInput
        If something failed: so nothing could be compared with it.
    """
    failed = [
        each["name"] for each in (*record["subjects"], *record["repeated"]) if each.get("error")
    ]
    if failed:
        raise InvalidInput(
            f"RECORD = '{path}': {failed[0]} could not be attacked; so nothing could be compared "
            "with it"
        )
    subjects = [
        subject | {"outcomes": [each | CURVES | {"slices": []} for each in subject["outcomes"]]}
        for subject in record["subjects"]
    ]
    return dict(record) | {"subjects": subjects}


def unseen(record: Raw) -> list[str]:
    """Return whose claims the attacks could not have broken, so that no gate can fail for them."""
    told = told_of_claims(record)
    return [name for name, word in told.items() if word in (UNSEEN, UNEXAMINED)]
