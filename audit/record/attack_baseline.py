"""The baseline of attacks: the record that a team has accepted, which later ones are held against.

Its rules are counted again by every later attack of the same records, so that the same number is
compared with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.attack_record import BROKEN, UNEXAMINED, UNSEEN, told_of_claims
from dpassay.record.kept import require_same

Raw = Mapping[str, Any]

ATTACK_BASELINE = "dpassay-attack-baseline.json"
"""Where it is kept unless another file is named."""
MAY_DIFFER = frozenset(
    {"command", "commit", "complete", "confidence", "probe", "references", "targets", "test"}
)
"""Facts that two records may differ in; by every other they are of different experiments."""
CURVES: dict[str, Any] = {"roc": {"fpr": [0.0], "tpr": [0.0]}, "tpr_per_target": [[], []]}
"""What is never compared, as short as it may be."""


def entries(record: Raw) -> int:
    """Return how many subjects were attacked; a service counts as one."""
    return len(record["subjects"]) or int("service" in record["run"])


def require_same_experiment(old: Raw, new: Raw, path: Path, argument: str = "baseline") -> None:
    """Make sure that two records of attacks are of the same experiment.

    Only facts in `MAY_DIFFER` may differ, and they must have a subject in common.
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


def failed(record: Raw) -> list[str]:
    """Return the names of what could not be attacked."""
    every = (*record["subjects"], *record["repeated"])
    return [each["name"] for each in every if each.get("error")]


def without_curves(record: Raw) -> dict[str, Any]:
    """Return a record as it is kept for a baseline: without curves, which are never compared."""
    subjects = [
        subject | {"outcomes": [each | CURVES | {"slices": []} for each in subject["outcomes"]]}
        for subject in record["subjects"]
    ]
    return dict(record) | {"subjects": subjects}


def unexcused(record: Raw) -> Iterator[str]:
    """Say what no baseline excuses, and which claims no attack could have broken."""
    told = told_of_claims(record)
    for name, word in told.items():
        if word == BROKEN:
            yield f"the claim of {name} is broken: no baseline excuses that"
    for each in record["defects"]:
        yield f"{each.get('name')}: no baseline excuses that defect"
    for name, word in told.items():
        if word in (UNSEEN, UNEXAMINED):
            yield f"the claim of {name} {word}: no leak can fail the gate by breaking it"
