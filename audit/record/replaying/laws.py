"""A leak that was computed from two exact laws, computed again."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpassay.engine.exact import check_alike, readable
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw, Law
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.record.replaying.case import Case
from dpassay.record.replaying.found import TOLERANCE, Replay
from dpassay.stats.divergence import Loss


def computed_again(case: Case, state: Any, neighbour: Any) -> Replay:
    """Compute the leak of a witness again."""
    claim, recorded = case.claim, case.recorded
    laws = [_law(case, state, "S"), _law(case, neighbour, "S'")]
    found = _exact(case, laws[::-1] if case.flipped else laws)
    value = float(found.value)
    same = value == recorded or abs(value - recorded) <= TOLERANCE * max(1.0, recorded)
    return Replay(
        loss=value,
        reproduced=same,
        refuted=float(found.certain) > claim.promised and claim.status != "measured",
        expected=claim.expected == "refuted",
        words=f"{claim.quantity} {value:.12g}, recorded {recorded:.12g}",
    )


def _exact(case: Case, laws: list[Law]) -> Loss:
    """Return the leak from the first law to the other, of an event, all events, or a prediction."""
    check_alike(laws[0], laws[1], "S'")
    leaks = readable(case.subject, case.claim, laws[0])
    one, other = (law.table[case.query] for law in laws)
    error = max(law.error for law in laws)
    if isinstance(laws[0], FiniteLaw):
        event = case.weights > 0
        one, other = (
            np.array([logsumexp(log_p[~event]), logsumexp(log_p[event])]) for log_p in (one, other)
        )
        error += UNIT_ROUNDOFF * len(event)
    return leaks.loss(one, other, error)


def _law(case: Case, state: Any, where: str) -> Law:
    law: Law | None = case.subject.law(state, case.place.queries, where)
    if law is None:
        raise InvalidInput(
            f"{case.subject.name} has no exact law any more for the data of this witness"
        )
    return law
