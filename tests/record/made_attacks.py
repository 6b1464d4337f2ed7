"""Records of attacks on a toy, which tells its label to a chosen extent."""

from __future__ import annotations

import json
from typing import Any

from dpassay.attacks.experiment.certified import Rule
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP
from dpassay.record.files import dumps
from tests.attacks.toys import Toy, floor

Record = dict[str, Any]
FACTS: dict[str, Any] = {
    "adversary": "nat-minq", "attribute": None, "background": 0, "canaries": [],
    "command": "dpassay attack toy", "commit": None, "complete": True, "confidence": 0.95,
    "data": {"kind": "builtin", "name": "toy"}, "learner": "tree", "planted": None, "poisoned": [],
    "records": 8, "references": 16, "seed": 0, "slice_by": None, "targets": 300, "test": 8,
}  # fmt: skip
LOSS = {"loss-threshold": ATTACKS["loss-threshold"]}


def attacked(
    tells: float,
    old: Record | None = None,
    *,
    epsilon: float | None = 3.0,
    models: int = 300,
    seed: int = 0,
    name: str = "toy",
) -> Record:
    """A record about a toy, which counts the guesses of an old one again."""
    again: dict[str, tuple[Rule, ...]] = {}
    for each in [] if old is None else old["subjects"][0]["certified"]:
        again[each["view"]] = (*again.get(each["view"], ()), Rule(**each["rule"]))
    claim = None if epsilon is None else DP(epsilon=epsilon)
    target = Target(name="toy", subject=Toy(tells=tells, name=name), claim=claim, again=again)
    data, design = floor(seed), Design(references=16, targets=models)
    found = list(experiment([target], data, LOSS, design))
    record = make_attack_record(FACTS | {"targets": models}, data.records, found)
    return dict(json.loads(dumps(record)))
