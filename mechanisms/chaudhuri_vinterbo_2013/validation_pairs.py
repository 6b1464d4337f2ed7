"""Own worst cases of private validation over trainers on the line.

A search among datasets whose records are nearly all alike.

T is one value of label times feature but for a record that may differ, V another likewise, all
among -1, -1/2, 0, 1/2, 1. The frozen strings are public, so which of these datasets lets them tell
most is too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, Final

import numpy as np

from dpassay.data import points
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation_scores import Scored
from dpassay.mechanisms.chaudhuri_vinterbo_2013.score_mixtures import fresh_log_p

GRID: Final = (-1.0, -0.5, 0.0, 0.5, 1.0)
VALUES: Final = "-1, -1/2, 0, 1/2 or 1 (label times feature)"
COARSE: Final = 0.01
"""Half width of bins in the search."""
MOST_RECORDS: Final = 1000

Place = tuple[float, float, float, float]
"""All records of T but its last, that one; all of V but its last, that one."""
Place3 = tuple[float, float, float]


def found_pairs(mechanism: Any) -> tuple[WorstCase, ...]:
    """Return the pairs of a `Validate` for which a search finds the largest losses.

    A training record changes in the first and a validation record in the second. In a third one all
    records fit, and n is so large, up to 1,000, that V decides the noise.
    """
    trainer = mechanism.trainer
    if not isinstance(trainer, Scored) or trainer.d != 1:
        return ()
    n, m = trainer.own_n, mechanism.m
    cases = []
    for where, (T, V, index, new, found) in zip(
        ("training", "validation"), _searched(mechanism, n, m), strict=True
    ):
        how = f"records on a line, at {VALUES}; one {where} record moves"
        alike = (
            f"all records of T (n = {n}) are equal and all of V (m = {m}) are equal, at {VALUES}"
        )
        coarsely = " (by its law in coarse bins)" if mechanism.coins == "fresh" else ""
        searched = (
            f"a search over datasets where {alike}, and one {where} record moves to another of "
            "these values"
        )
        reason = (
            f"largest loss of the index alone{coarsely} in {searched}"
            if found
            else f"{searched}: its largest loss of the index alone{coarsely} is within the "
            "numerical error"
        )
        cases.append(trainer.case(trainer.line(T, V), index, new, how, reason))
    if trainer.n is None:
        beta1, beta2 = mechanism.betas
        n = min(max(2, math.ceil(m * beta1 / beta2)), MOST_RECORDS)
        larger = (beta1 / n) / (beta2 / m)
        noise = "no larger than" if larger <= 1 else f"only {larger:.3g} times what"
        how = f"{n} equal training records; one validation record moves to the origin"
        reason = (
            f"the noise is {noise} V requires; at the origin a record no longer tells "
            "weights that fit it well from others"
        )
        cases.append(trainer.case(trainer.line([1.0] * n, [1.0] * m), n, 0.0, how, reason))
    return tuple(cases)


@lru_cache(maxsize=64)
def _searched(
    mechanism: Any, n: int, m: int
) -> tuple[tuple[list[float], list[float], int, float, bool], ...]:
    """T, V, index and new value of the best change of a training and of a validation record.

    And whether its loss is above the numerical error.
    """
    line = mechanism.trainer.line
    query = points([[1.0]], "queries")
    states: dict[tuple[float, float], Any] = {}
    laws: dict[tuple[float, float, float, float], Any] = {}

    def law(v: float, last: float, u: float, end: float) -> Any:
        data = line([*[v] * (n - 1), last], [*[u] * (m - 1), end])
        known = states.get((v, last))
        state = states[v, last] = (
            mechanism.prepare(data) if known is None else mechanism.validated_on(known, data)
        )
        if mechanism.coins == "fresh":
            return fresh_log_p(
                mechanism.trainer, data, state.located, mechanism.scale(data), COARSE
            )
        found = mechanism.distribution(state, query)
        return None if found is None else (found.log_p[0], found.error)

    def loss(one: Place, other: Place) -> tuple[float, bool]:
        for each in (one, other):
            laws[each] = laws[each] if each in laws else law(*each)
        first, second = laws[one], laws[other]
        if first is None or second is None:
            return 0.0, False
        found = float(np.abs(first[0] - second[0]).max())
        return found, found > first[1] + second[1]

    def trained(each: Place3) -> tuple[float, bool]:
        v, a, b = each[1], each[1], each[2]
        return loss((v, a, each[0], each[0]), (v, b, each[0], each[0]))

    def validated(each: Place3) -> tuple[float, bool]:
        return loss((each[0], each[0], each[1], each[1]), (each[0], each[0], each[1], each[2]))

    triples = [(v, a, b) for v, a, b in product(GRID, repeat=3) if a != b]
    u, v, new = first = max(triples, key=lambda each: trained(each)[0])
    w, a, b = second = max(triples, key=lambda each: validated(each)[0])
    return (
        ([v] * n, [u] * m, n - 1, new, trained(first)[1]),
        ([w] * n, [a] * m, n + m - 1, b, validated(second)[1]),
    )
