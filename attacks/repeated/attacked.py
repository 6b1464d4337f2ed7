"""Repeated queries of what an experiment attacks.

At the worst of a mechanism's own pairs, or at pairs made of the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.boundary import transcripts_for
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Protected
from dpassay.attacks.repeated.run import bounds_of, failed, repeated
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.pairs import replace_one
from dpassay.targets.groups import Group, Progress, groups_for, silent

TRANSCRIPTS, MOST_TRANSCRIPTS = 20_000, 100_000
"""A side, unless something else is said: at least, and at most."""
TRIED = 20
"""Pairs and queries made of the data, where a mechanism brings none of its own to be asked at
repeatedly."""


def can_be_repeated(target: Target) -> bool:
    """Return whether repeated answers can test a claim: labels, with an epsilon > 0."""
    protected = isinstance(target.subject, Protected)
    return protected and target.claim is not None and target.claim.epsilon > 0


def enough_transcripts(claim: DP, alpha: float) -> int:
    """Return the transcripts a side that certify 85 % of a claim that is just kept.

    The answer is for the median on randomised response: at least 20,000, and 20,000 if it takes
    more than 100,000. `alpha` is that of the whole ladder of repeated answers, with two pairs
    each.
    """
    each = alpha / bounds_of(claim.epsilon)
    epsilon, delta = composed(claim, 1)
    needed = transcripts_for(epsilon, delta=delta, alpha=each)
    return max(TRANSCRIPTS, needed) if needed <= MOST_TRANSCRIPTS else TRANSCRIPTS


def attack_repeatedly(
    target: Target,
    data: ExperimentData,
    *,
    transcripts: int | None = None,
    alpha: float,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Ask at the worst of a mechanism's own pairs again and again, or of the data's if it has none.

    The result is JSON for the record's list `repeated`, with an error if the mechanism fails.
    `transcripts` is a side, by default `enough_transcripts`.
    """
    assert isinstance(target.subject, Protected)
    assert target.claim is not None
    attacked = target.subject.target
    try:
        groups = groups_for(attacked, None) or (few_pairs(data.records, data.test, data.seed),)
        found = repeated(
            attacked,
            target.claim,
            groups,
            transcripts=transcripts or enough_transcripts(target.claim, alpha),
            alpha=alpha,
            seed=data.seed,
            name=target.name,
            progress=progress,
        )
    except TargetError as error:
        return failed(target.name, target.claim, str(error))
    return found.as_json()


def few_pairs(records: Labelled, test: Labelled, seed: int) -> Group:
    """Replace a few records of a half by test records, or flip labels; ask at both kinds."""
    S = records.take(slice(0, len(records) // 2))
    pairs = replace_one(
        S.X,
        S.y,
        pool=test,
        neighbours="one+flip" if set(S.y.tolist()) <= {0, 1} else "one",
        seed=seed,
    )
    pairs = replace(
        pairs, changes=tuple(change for change in pairs.changes if change.index < TRIED)
    )
    queries = np.concatenate([S.X[:TRIED], test.X[:TRIED]])
    queries.flags.writeable = False
    return Group(pairs=pairs, queries=queries, kind="data", reason=pairs.how)
