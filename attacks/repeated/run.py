"""Repeated queries: what m = 1, 2, 4, ... answers at the worst point tell about the worst pair.

On each side N transcripts of m answers are drawn, each answer with fresh coins. The event is a
threshold on the log-likelihood ratio of the transcript (for two labels, on the count of one of
them), chosen on one half of the transcripts and counted on the other; the engine of the audit turns
the counts into a certified bound on what a transcript loses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.power import composed, transcripts_to_certify
from dpassay.attacks.experiment.record import encoded
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Protected
from dpassay.attacks.repeated.transcript_tests import (
    TranscriptLimits,
    TranscriptTest,
    likelihood_scores,
    limits,
    on_pairs,
    run_tests,
    test_json,
)
from dpassay.attacks.repeated.worst_cell import TranscriptCell, candidates, worst_cells
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError, is_count, require
from dpassay.pairs import replace_one
from dpassay.targets.groups import PairGroup, Progress, groups_for, silent
from dpassay.targets.guard import AuditTarget

MOST_LOSS = 8.0
"""The ladder ends where m epsilon would exceed this, in nats."""
MOST_ANSWERS = 64
"""The ladder ends here in any case."""
LEAST_TRANSCRIPTS = 20
TRANSCRIPTS, MOST_TRANSCRIPTS = 20_000, 100_000
"""A side, unless something else is said: at least, and at most."""
TRIED = 20
"""Pairs and queries made of the data, where a mechanism brings none of its own to be asked at
repeatedly."""
STICKY = "sticky: the answers of a transcript never change, so that m of them tell what one does"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A ladder of budgets."""

    name: str
    epsilon: float  # claimed of one answer
    delta: float  # claimed of one answer
    # the pair where the loss of the most answers was certified; a rung may name another
    reason: str = ""
    transcripts: int = 0  # a side; one half of them is counted
    alpha: float = 0.0  # of all rungs together
    tests: tuple[TranscriptTest, ...] = ()
    sticky: bool = False  # transcripts of two or more answers never varied, but the sides differed
    why: str = ""  # why the loss does not grow, or is above the claim

    def as_json(self) -> dict[str, Any]:
        """Return JSON values for the record's list `repeated`."""
        found: dict[str, Any] = encoded(replace(self, tests=()))
        del found["tests"]
        return found | {"error": None, "rungs": list(map(test_json, self.tests))}


def ladder(epsilon: float, most: int = MOST_ANSWERS) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to 8 / epsilon and to `most`; 1 in any case."""
    found = [1]
    while 2 * found[-1] <= min(most, MOST_LOSS / epsilon * (1 + 1e-12)):
        found.append(2 * found[-1])
    return tuple(found)


def bounds_of(epsilon: float) -> int:
    """Return how many bounds share the error probability of a ladder at most."""
    return 2 * len(ladder(epsilon))


def repeated(
    target: AuditTarget,
    claim: DP,
    groups: tuple[PairGroup, ...],
    *,
    transcripts: int,
    alpha: float,
    seed: int,
    name: str | None = None,
    progress: Progress = silent,
) -> Repeated:
    """Attack a mechanism that answers labels by repeated queries of its worst cells.

    The claim is about a single answer with fresh coins. There are at least 20 `transcripts` a
    side for each m. `alpha` is shared evenly by the rungs, and by the certified cells of a
    rung.
    """
    enough = f"an integer >= {LEAST_TRANSCRIPTS}"
    require(is_count(transcripts, LEAST_TRANSCRIPTS), "--transcripts", transcripts, enough)
    ms = tuple(m for m in ladder(claim.epsilon) if composed(claim, m)[1] < 1)
    cells = candidates(target, groups, progress=progress)
    shown = worst_cells(target, cells, ms, trials=transcripts // 2, delta=claim.delta, seed=seed)
    called, tests, constant = name or target.name, [], []

    def test(
        cell: TranscriptCell, m: int, most: TranscriptLimits | None, cells: int
    ) -> TranscriptTest:
        one, other = cell.draw(target, transcripts, m, phase=f"repeated {m}", seed=seed)
        constant.append(m == 1 or is_sticky(one, other))
        scores = None if cell.rows is None else likelihood_scores(*cell.rows)
        share = alpha / len(ms) / cells
        return run_tests(one, other, claim, len(target.labels), share, scores=scores, limits=most)

    for done, (m, worst) in enumerate(zip(ms, shown, strict=True), start=1):
        most, certified = limits(cells, target.reachable(), m, claim), len(worst.certified)
        found = test(worst.losing, m, most, certified)
        told = found if worst.telling is worst.losing else test(worst.telling, m, most, certified)
        tests.append(on_pairs(found, told, worst))
        progress(f"{called}: repeated queries", done, len(ms))
    sticky = len(ms) > 1 and all(constant)
    return Repeated(
        name=called,
        reason=str(shown[-1].losing),
        epsilon=claim.epsilon,
        delta=claim.delta,
        transcripts=transcripts,
        alpha=alpha,
        tests=tuple(tests),
        sticky=sticky,
        why=STICKY if sticky else "",
    )


def is_sticky(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Return whether all transcripts are constant, on both sides, but not all the same."""
    both = np.concatenate([one, other])
    constant = both.shape[1] > 1 and bool((both == both[:, :1]).all())
    return constant and len(np.unique(both[:, 0])) > 1


def failed(name: str, claim: DP, error: str) -> dict[str, Any]:
    """Return what is recorded of an attack that could not be made."""
    found = Repeated(name=name, epsilon=claim.epsilon, delta=claim.delta)
    return found.as_json() | {"error": error}


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
    needed = transcripts_to_certify(epsilon, delta=delta, alpha=each)
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


def few_pairs(records: Labelled, test: Labelled, seed: int) -> PairGroup:
    """Replace a few records of a half by test records, or flip labels; ask at both kinds."""
    S = records.take(slice(0, len(records) // 2))
    binary = set(S.y.tolist()) <= {0, 1}
    kinds: Literal["one", "one+flip"] = "one+flip" if binary else "one"
    pairs = replace_one(S.X, S.y, pool=test, neighbours=kinds, seed=seed)
    few = tuple(change for change in pairs.changes if change.index < TRIED)
    pairs = replace(pairs, changes=few)
    queries = np.concatenate([S.X[:TRIED], test.X[:TRIED]])
    queries.flags.writeable = False
    return PairGroup(pairs=pairs, queries=queries, kind="data", reason=pairs.how)
