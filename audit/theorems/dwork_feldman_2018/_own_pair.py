"""What the predictors of section 4.4 do at a pair of neighbouring datasets."""

from __future__ import annotations

from typing import Any

from dpassay.mechanisms.dwork_feldman_2018.erm import ERM
from dpassay.mechanisms.dwork_feldman_2018.psgd import PSGD


def own_change(mechanism: ERM | PSGD, which: int = 0) -> tuple[float, float]:
    """Change of the (mean) prediction at one of the mechanism's own pairs, and its error."""
    case = mechanism.pairs()[which]
    (change,) = case.pairs.changes
    found, error = [], 0.0
    for data in (case.pairs.base, change.apply(case.pairs.base)):
        state: Any = mechanism.prepare(data)
        law = mechanism.distribution(state, case.queries)
        if law is None and isinstance(mechanism, PSGD):
            found.append(float(mechanism.predictions_by_order(state, case.queries).mean()))
            error += mechanism.rounding(state)
        elif law is not None:
            found.append(float(law.values[0]))
            error += law.error
    return abs(found[0] - found[1]), error
