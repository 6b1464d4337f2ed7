"""Attacks where nobody tossed coins: every number is an estimate, and none is certified.

A guess at a fair coin of ours is right half of the time where nothing leaks. Members that somebody
else has chosen may differ from the others by themselves: by when they were collected, or what they
are. How well the two are told apart without the attacked model stands beside: see `MemberShift`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.attacks.experiment.metrics import auc, auc_interval, delong
from dpassay.attacks.experiment.outcomes import Attacked, AttackOutcome, measured, separation
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.subjects import ModelView
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require
from dpassay.numerics import number

OWN = ("loss-threshold", "single-record", "lira", "lira-offline", "rmia", "rmia-offline")
"""Attacks that read nothing but what is seen of a record's own label."""
ALONE = ("gap", "loss-threshold", "confidence", "entropy", "modified-entropy")
"""Attacks that need no reference models."""
BOTH = ("lira", "rmia")
"""Those that need reference models with every record, and without it; the others without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberShift:
    """How well members and non-members are told apart without the attacked model; an estimate.

    An attack that does no better than this, or than 1 minus this, has shown nothing about the
    model. The source is 'reference models', which were not trained on the record, or
    'features'.
    """

    auc: float  # 0.5 where they are alike
    interval: tuple[float, float]  # 95 %
    source: str

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        low, high = self.interval
        return {
            "auc": number(self.auc),
            "low": number(low),
            "high": number(high),
            "from": self.source,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """What was seen of attacked models, and of the attacker's own."""

    name: str
    kind: str  # what a score is, in words of the record
    # the view, then what reference models and attacked ones showed in it
    views: Sequence[tuple[ModelView, Observed, Observed]]
    reference: Flags  # (models, e): who was in which reference model
    membership: Flags  # (models, e): who was in which attacked model
    labels: Any  # (e,): classes of the records, to tell results apart
    all_labels: bool = True  # whether the shares of all labels are known, not only of the own one
    shift: MemberShift | None = None  # by default what the reference models tell
    accuracy: Array | None = None  # (targets,)


def estimate(given: Given, names: Sequence[str] | None = None) -> tuple[Attacked, dict[str, Any]]:
    """Attack what is given by the named attacks, or all that it allows; nothing is certified.

    The second value holds JSON facts for `run.signals` of the record: `kind`, `left_out`,
    `shift`.
    """
    for name in names or ():
        require(name in ATTACKS, "--attacks", name, f"one of {', '.join(ATTACKS)}")
    why = {name: lacking(name, given) for name in names or ATTACKS}
    for name in names or ():
        if why[name]:
            raise InvalidInput(f"--attacks = {name}: {why[name]}")
    outcomes: list[AttackOutcome] = []
    for view, mine, theirs in given.views:
        for name in (name for name, reason in why.items() if not reason):
            scores = ATTACKS[name](mine, given.reference)(theirs)
            outcomes.append(measured(name, view, scores, given.membership))
    told = len(given.reference) > 0
    attacked = Attacked(
        name=given.name,
        claim=None,
        accuracy=np.empty(0) if given.accuracy is None else given.accuracy,
        outcomes=tuple(outcomes),
        certified={},
        exposure=separation(given.views[0][1], given.reference) if told else np.empty(0),
    )
    shift = given.shift or shift_of(given.views[0][1], given.reference, given.membership)
    facts = {
        "kind": given.kind,
        "left_out": [f"{name}: {reason}" for name, reason in why.items() if reason],
        "shift": None if shift is None else shift.as_json(),
    }
    return attacked, facts


def lacking(name: str, given: Given) -> str:
    """Say what an attack needs that there is not; empty where it can be run."""
    if name not in OWN and not given.all_labels:
        return "needs what was seen of all labels, not only of the record's own"
    if name in ALONE:
        return ""
    if not len(given.reference):
        return "needs reference models"
    for inside, which in ((False, "without"), (True, "with")):
        some = (given.reference == inside).any(axis=0)
        if not some.all() and (name in BOTH or not inside or name == "shadow"):
            return f"needs reference models {which} every record; record {np.argmin(some)} has none"
    return ""


def shift_of(reference: Observed, inside: Flags, membership: Flags) -> MemberShift | None:
    """Return how well reference models without it tell a record's membership, None if too few."""
    outside = ~inside
    told: Flags = np.asarray(outside.any(axis=0))
    if not ((membership & told).any() and (~membership & told).any()):
        return None
    counts = np.maximum(outside.sum(axis=0), 1)
    scores = np.where(outside, reference.phi, 0.0).sum(axis=0) / counts
    return shift_by(np.broadcast_to(scores, membership.shape), membership, told, "reference models")


def shift_by(scores: Array, membership: Flags, told: Flags, source: str) -> MemberShift:
    """Return how well scores that do not depend on the attacked models tell who is in.

    Scores and membership are (targets, e); `told` selects records (e,).
    """
    one, other = scores[membership & told], scores[~membership & told]
    many = len(scores) > 1
    between = auc_interval(scores, membership, told) if many else delong(one, other)
    return MemberShift(auc=auc(one, other), interval=between or (0.0, 1.0), source=source)


def record_of(run: Mapping[str, Any], given: Given, attacked: Attacked) -> dict[str, Any]:
    """Return the record of such attacks, of schema `dpassay/attack/1`.

    `run` holds facts: command, commit, confidence, data, seed, signals.
    """
    e = given.membership.shape[1]
    facts = dict(run) | {
        "complete": True,
        "records": e,
        "references": len(given.reference),
        "targets": len(given.membership),
    }
    records = Labelled(np.zeros((e, 1)), np.asarray(given.labels))
    return make_attack_record(facts, records, [attacked])
