"""The record of an attack experiment: JSON, the single truth that its reports are made from.

Schema `dpassay/attack/1`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.certified import NONE, Certified
from dpassay.attacks.experiment.metrics import best_of, interval
from dpassay.attacks.experiment.one_run import OneRun
from dpassay.attacks.experiment.outcomes import Attacked, AttackOutcome, Estimates, Sliced
from dpassay.attacks.experiment.power import GuessClaim, RunClaim, composed, reach, renyi_claim
from dpassay.attacks.observed import Array, Flags
from dpassay.data import Labelled
from dpassay.numerics import lower_number, number
from dpassay.stats.bounds import clopper_pearson_lower

SCHEMA = "dpassay/attack/1"
MOST_EXPOSED = 10
"""Records that are named."""
QUANTILES = 41
"""Evenly spaced quantiles of the separation that are kept, the smallest and the largest
included."""


def make_attack_record(
    run: Mapping[str, Any],
    records: Labelled,
    attacked: Sequence[Attacked],
    repeated: Sequence[Mapping[str, Any]] = (),
    defects: Sequence[Mapping[str, Any]] = (),
    *,
    lines: NDArray[np.int64] | None = None,
    columns: Mapping[str, Flags] | None = None,
) -> dict[str, Any]:
    """Return the record of an experiment.

    `run` holds facts: command, seed, data source, sizes, whether it is complete. `repeated` is
    what repeated queries of the worst pair showed, `defects` what is wrong with an interface;
    both are JSON values. `lines` and `columns` are as in `ExperimentData`.
    """
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "subjects": [_subject(each, records, lines, columns or {}) for each in attacked],
        "repeated": [dict(each) for each in repeated],
        "defects": [dict(each) for each in defects],
    }


def _subject(
    attacked: Attacked,
    records: Labelled,
    lines: NDArray[np.int64] | None,
    columns: Mapping[str, Flags],
) -> dict[str, Any]:
    # a curve is named in the claim's source, and what one answer may lose is read off it
    claim = None if attacked.claim is None else replace(attacked.claim, curve=None).as_json()
    named: dict[str, Any] = {"name": attacked.name, "claim": claim}
    if attacked.error:
        return named | {"error": attacked.error}
    found = named | {
        "error": None,
        "accuracy": _accuracy(attacked.accuracy),
        "no_leak": _no_leak(attacked.outcomes),
        "outcomes": [_outcome(each, attacked) for each in attacked.outcomes],
        "certified": [
            each
            for view, bounds in attacked.certified.items()
            for each in _bounds(attacked, view, bounds)
        ],
        **_exposure(attacked.exposure, records.y, columns),
    }
    if lines is not None:
        for each in (*found["certified"], *found["exposed"]):
            each["line"] = int(lines[each["record"]])
    # rules of an accepted attack as they did on these targets
    again = [
        {"view": view, "rule": _numbers(asdict(rule)), "right": right}
        for view, rules in attacked.again.items()
        for rule, right in rules
    ]
    return found | ({"again": again} if again else {})


def _no_leak(outcomes: Sequence[AttackOutcome]) -> dict[str, Any] | None:
    again = [each.again for each in outcomes if each.again is not None]
    if not again:
        return None
    best = best_of(again)
    return {"attacks": best.attacks, "middle": number(best.middle), "high": number(best.high)}


def _accuracy(shares: Array) -> dict[str, Any] | None:
    """Mean of the target models; None where it is unknown, or labels are not what is predicted."""
    if not shares.size:
        return None
    low, high = interval(shares) if shares.size > 1 else (0.0, 1.0)
    return {"mean": number(float(shares.mean())), "low": number(low), "high": number(high)}


def _outcome(outcome: AttackOutcome, attacked: Attacked) -> dict[str, Any]:
    curve, allowed = outcome.curve, None
    if attacked.claim is not None:
        epsilon, delta = composed(attacked.claim, outcome.view.m)
        allowed = {"epsilon": number(epsilon), "delta": number(delta)}
    roc = {"fpr": _list(curve.fpr), "tpr": _list(curve.tpr)}
    if outcome.band is not None:
        roc |= {"low": _list(outcome.band[0]), "high": _list(outcome.band[1])}
    return {
        "attack": outcome.attack,
        "view": asdict(outcome.view),
        "allowed": allowed,
        **_estimates(outcome),
        "tpr_per_target": [list(map(_known, rates)) for rates in outcome.tpr.tolist()],
        "beyond": _known(outcome.beyond),
        "one_run": _one_run(outcome.one_run),
        "roc": roc,
        "slices": [_sliced(each) for each in outcome.sliced],
    }


def _estimates(found: Estimates) -> dict[str, Any]:
    low, high = found.auc_interval or (None, None)
    return {
        "auc": _known(found.auc),
        "auc_low": _known(low),
        "auc_high": _known(high),
        "advantage": _known(found.advantage),
        "operating": [None if each is None else _numbers(asdict(each)) for each in found.operating],
    }


def _sliced(part: Sliced) -> dict[str, Any]:
    told = part.exposure[~np.isnan(part.exposure)]
    return {
        "slice": part.name,
        "records": part.records,
        **_estimates(part),
        "exposure": {
            "mean": _known(float(told.mean()) if told.size else None),
            "highest": number(part.highest),
            "per_target": list(map(_known, part.exposure.tolist())),
        },
        "one_run": _one_run(part.one_run),
    }


def _known(value: float | None) -> Any:
    """Return a number as it is written, or None where it is not known."""
    return None if value is None or math.isnan(value) else number(value)


def _bounds(attacked: Attacked, name: str, bounds: Sequence[Certified]) -> Iterator[dict[str, Any]]:
    """Yield the bounds of a view, each with its Rényi loss where one is claimed."""
    view = next(each.view for each in attacked.outcomes if each.view.name == name)
    claimed, delta = (0.0, 0.0) if attacked.claim is None else composed(attacked.claim, view.m)
    claim, promised = GuessClaim(allowed=claimed, delta=delta), renyi_claim(attacked.claim, view.m)
    for each in bounds:
        guesses, alpha, counts = each.guesses, each.lower.alpha, each.lower.counts
        gamma_cap = 2 * float(clopper_pearson_lower(guesses, guesses, alpha)) - 1
        found = {
            "view": name,
            **reach(claim, guesses, alpha=alpha).as_json(),
            "record": each.rule.record,
            "rule": _numbers(asdict(each.rule)),
            "lower": lower_number(each.lower.value),
            "gamma": number(each.gamma),
            "gamma_cap": number(max(0.0, gamma_cap)),
            "alpha": number(alpha),
            "method": each.lower.method,
            "counts": None if counts is None else asdict(counts),
        }
        if each.fresh != NONE:
            found["fresh"] = asdict(each.fresh)
        if promised is not None:
            found["renyi"] = {
                "order": promised.order,
                "allowed": number(promised.allowed),
                "lower": lower_number(promised.certified(each.right, guesses, alpha)),
                **reach(promised, guesses, alpha=alpha).as_json(),
            }
        yield found


def _one_run(found: OneRun | None) -> dict[str, Any] | None:
    if found is None:
        return None
    claim = RunClaim(delta=found.delta, coins=found.m)
    shown = reach(claim, found.r, alpha=found.alpha).as_json()
    return _numbers(asdict(found)) | {"epsilon": lower_number(found.epsilon)} | shown


def _exposure(
    exposure: Array, y: NDArray[np.int64], columns: Mapping[str, Flags]
) -> dict[str, list[Any]]:
    """How far records move with their membership on the reference models; estimates.

    Quantiles over all records, the records that move most, and the mean and the 95 % quantile
    by class and by the column that was asked for. All are empty without reference models.
    """
    if not exposure.size:
        return {"separations": [], "exposed": [], "slices": []}
    order = np.argsort(-exposure, kind="stable")[:MOST_EXPOSED].tolist()
    quantiles = np.quantile(exposure, np.linspace(0, 1, QUANTILES))
    parts = {f"label {label}": y == label for label in np.unique(y).tolist()} | dict(columns)
    return {
        "separations": [number(each) for each in quantiles.tolist()],
        "exposed": [
            {"record": i, "label": int(y[i]), "separation": number(float(exposure[i]))}
            for i in order
        ],
        "slices": [
            {
                "slice": name,
                "records": int(flags.sum()),
                "mean": number(float(exposure[flags].mean())),
                "high": number(float(np.quantile(exposure[flags], 0.95))),
            }
            for name, flags in parts.items()
        ],
    }


def _numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: number(value) if isinstance(value, float) else value for name, value in fields.items()
    }


def _list(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
