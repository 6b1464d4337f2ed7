"""The record of an attack experiment: JSON, the single truth that its reports are made from.

Schema `dpassay/attack/1`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.composition import composed
from dpassay.attacks.experiment.certified import NONE, Certified
from dpassay.attacks.experiment.metrics import interval
from dpassay.attacks.experiment.no_leak import best_of
from dpassay.attacks.experiment.one_run import OneRun
from dpassay.attacks.experiment.outcomes import Attacked, Outcome
from dpassay.attacks.experiment.reach import of_guesses, of_one_run
from dpassay.attacks.experiment.renyi import RenyiClaim, of_renyi, renyi_claim
from dpassay.attacks.experiment.slices import Sliced
from dpassay.attacks.observed import Array, Flags
from dpassay.data import Labelled
from dpassay.numerics import lower_number, number
from dpassay.stats.bounds import clopper_pearson_lower

SCHEMA = "dpassay/attack/1"
"""Points of a curve that are kept."""
MOST_EXPOSED = 10
"""Records that are named."""
QUANTILES = 41
"""Evenly spaced quantiles of the separation that are kept, the smallest and the largest
included."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Records:
    """The records that were asked about, with their lines and slices."""

    records: Labelled
    lines: NDArray[np.int64] | None
    columns: Mapping[str, Flags]


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
    data = _Records(records=records, lines=lines, columns=columns or {})
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "subjects": [_subject(each, data) for each in attacked],
        "repeated": [dict(each) for each in repeated],
        "defects": [dict(each) for each in defects],
    }


def _subject(attacked: Attacked, data: _Records) -> dict[str, Any]:
    if attacked.error:
        return {"name": attacked.name, "claim": _claim(attacked), "error": attacked.error}
    return {
        "name": attacked.name,
        "claim": _claim(attacked),
        "error": None,
        "accuracy": _accuracy(attacked.accuracy),
        "no_leak": _no_leak(attacked.outcomes),
        "outcomes": [_outcome(each, attacked) for each in attacked.outcomes],
        "certified": [
            each
            for view, bounds in attacked.certified.items()
            for each in _bounds(attacked, view, bounds, data)
        ],
        "separations": [
            number(float(each))
            for each in np.quantile(attacked.exposure, np.linspace(0, 1, QUANTILES))
        ]
        if attacked.exposure.size
        else [],
        "exposed": _exposed(attacked.exposure, data),
        "slices": _slices(attacked.exposure, data),
    } | _again(attacked)


def _no_leak(outcomes: Sequence[Outcome]) -> dict[str, Any] | None:
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


def _claim(attacked: Attacked) -> dict[str, Any] | None:
    """Return one answer's allowed loss; a curve is named in `source`, `allowed` read off it."""
    return None if attacked.claim is None else replace(attacked.claim, curve=None).as_json()


def _outcome(outcome: Outcome, attacked: Attacked) -> dict[str, Any]:
    curve = outcome.curve
    allowed = None
    if attacked.claim is not None:
        epsilon, delta = composed(attacked.claim, outcome.view.m)
        allowed = {"epsilon": number(epsilon), "delta": number(delta)}
    return {
        "attack": outcome.attack,
        "view": {"name": outcome.view.name, "m": outcome.view.m, "copies": outcome.view.copies},
        "allowed": allowed,
        "auc": number(outcome.auc),
        "auc_low": number(outcome.auc_interval[0]),
        "auc_high": number(outcome.auc_interval[1]),
        "advantage": number(outcome.advantage),
        "operating": [
            None if each is None else _numbers(asdict(each)) for each in outcome.operating
        ],
        "tpr_per_target": [
            [None if math.isnan(rate) else number(rate) for rate in rates]
            for rates in outcome.tpr.tolist()
        ],
        "beyond": None if outcome.beyond is None else number(outcome.beyond),
        "one_run": None if outcome.one_run is None else _one_run(outcome.one_run),
        "roc": {"fpr": _list(curve.fpr), "tpr": _list(curve.tpr)} | _band(outcome),
        "slices": [_sliced(each) for each in outcome.sliced],
    }


def _band(outcome: Outcome) -> dict[str, Any]:
    if outcome.band is None:
        return {}
    return {name: _list(end) for name, end in zip(("low", "high"), outcome.band, strict=True)}


def _sliced(part: Sliced) -> dict[str, Any]:
    low, high = part.auc_interval or (None, None)
    told = part.exposure[~np.isnan(part.exposure)]
    return {
        "slice": part.name,
        "records": part.records,
        "auc": _maybe(part.auc),
        "auc_low": _maybe(low),
        "auc_high": _maybe(high),
        "advantage": _maybe(part.advantage),
        "operating": [None if each is None else _numbers(asdict(each)) for each in part.operating],
        "exposure": {
            "mean": _maybe(float(told.mean()) if told.size else None),
            "highest": number(part.highest),
            "per_target": [
                None if math.isnan(bits) else number(bits) for bits in part.exposure.tolist()
            ],
        },
        "one_run": None if part.one_run is None else _one_run(part.one_run),
    }


def _maybe(value: float | None) -> Any:
    return None if value is None else number(value)


def _bounds(
    attacked: Attacked, name: str, bounds: Sequence[Certified], data: _Records
) -> list[dict[str, Any]]:
    view = next(each.view for each in attacked.outcomes if each.view.name == name)
    claimed, delta = (0.0, 0.0) if attacked.claim is None else composed(attacked.claim, view.m)
    promised = renyi_claim(attacked.claim, view.m)
    return [
        _certified(name, each, claimed, delta)
        | ({} if promised is None else {"renyi": _renyi(each, promised)})
        | _line(each.rule.record, data)
        for each in bounds
    ]


def _renyi(bound: Certified, claim: RenyiClaim) -> dict[str, Any]:
    """The Rényi loss of a record by the guesses of its bound, held against its claim."""
    return {
        "order": claim.order,
        "allowed": number(claim.allowed),
        "lower": lower_number(claim.certified(bound.right, bound.guesses, bound.lower.alpha)),
        **of_renyi(claim, bound.guesses, alpha=bound.lower.alpha).as_json(),
    }


def _again(attacked: Attacked) -> dict[str, Any]:
    """Return the rules of an accepted attack as they did on these targets; nothing without any."""
    told = [
        {"view": view, "rule": _numbers(asdict(rule)), "right": right}
        for view, rules in attacked.again.items()
        for rule, right in rules
    ]
    return {"again": told} if told else {}


def _line(record: int, data: _Records) -> dict[str, Any]:
    return {} if data.lines is None else {"line": int(data.lines[record])}


def _certified(view: str, bound: Certified, claimed: float, delta: float) -> dict[str, Any]:
    counts, guesses = bound.lower.counts, bound.guesses
    reach = of_guesses(guesses, claimed=claimed, delta=delta, alpha=bound.lower.alpha)
    return {
        "view": view,
        **reach.as_json(),
        "record": bound.rule.record,
        "rule": _numbers(asdict(bound.rule)),
        "lower": lower_number(bound.lower.value),
        "gamma": number(bound.gamma),
        "gamma_cap": number(
            max(0.0, 2 * float(clopper_pearson_lower(guesses, guesses, bound.lower.alpha)) - 1)
        ),
        "alpha": number(bound.lower.alpha),
        "method": bound.lower.method,
        "counts": None if counts is None else asdict(counts),
    } | ({} if bound.fresh == NONE else {"fresh": asdict(bound.fresh)})


def _one_run(found: OneRun) -> dict[str, Any]:
    reach = of_one_run(found.r, found.m, delta=found.delta, alpha=found.alpha)
    return _numbers(asdict(found)) | {"epsilon": lower_number(found.epsilon)} | reach.as_json()


def _exposed(exposure: Array, data: _Records) -> list[dict[str, Any]]:
    """The records that move most with their membership, on the reference models; an estimate."""
    order = np.argsort(-exposure, kind="stable")[:MOST_EXPOSED].tolist()
    return [
        {"record": i, "label": int(data.records.y[i]), "separation": number(float(exposure[i]))}
        | _line(i, data)
        for i in order
    ]


def _slices(exposure: Array, data: _Records) -> list[dict[str, Any]]:
    """Mean and 95 % quantile of the same by class, and by the column that was asked for."""
    y, found = data.records.y, []
    parts = {f"label {label}": y == label for label in np.unique(y).tolist()} | dict(data.columns)
    for name, flags in parts.items() if exposure.size else ():
        part = exposure[flags]
        found.append(
            {
                "slice": name,
                "records": int(part.size),
                "mean": number(float(part.mean())),
                "high": number(float(np.quantile(part, 0.95))),
            }
        )
    return found


def _numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: number(value) if isinstance(value, float) else value for name, value in fields.items()
    }


def _list(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
