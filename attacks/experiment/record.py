"""The record of an attack experiment: JSON, the single truth that its reports are made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
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
    """Return the record of an experiment; `repeated` and `defects` are JSON values already."""
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "subjects": [_subject(each, records, lines, columns or {}) for each in attacked],
        "repeated": [dict(each) for each in repeated],
        "defects": [dict(each) for each in defects],
    }


def encoded(value: Any) -> Any:
    """Return a value of ours as JSON: numbers as they are written, NaN as None."""
    if isinstance(value, float):
        return None if math.isnan(value) else number(value)
    if isinstance(value, np.ndarray):
        return encoded(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: encoded(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: encoded(each) for name, each in value.items()}
    return [encoded(each) for each in value] if isinstance(value, list | tuple) else value


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
    shares, accuracy = attacked.accuracy, None
    if shares.size:
        low, high = interval(shares) if shares.size > 1 else (0.0, 1.0)
        accuracy = {"mean": float(shares.mean()), "low": low, "high": high}
    tossed = [each.again for each in attacked.outcomes if each.again is not None]
    found = named | {
        "error": None,
        "accuracy": encoded(accuracy),
        "no_leak": encoded(best_of(tossed)) if tossed else None,
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
        {"view": view, "rule": encoded(rule), "right": right}
        for view, rules in attacked.again.items()
        for rule, right in rules
    ]
    return found | ({"again": again} if again else {})


def _outcome(outcome: AttackOutcome, attacked: Attacked) -> dict[str, Any]:
    allowed = None
    if attacked.claim is not None:
        epsilon, delta = composed(attacked.claim, outcome.view.m)
        allowed = encoded({"epsilon": epsilon, "delta": delta})
    curve = {"fpr": outcome.curve.fpr, "tpr": outcome.curve.tpr}
    if outcome.band is not None:
        curve |= {"low": outcome.band[0], "high": outcome.band[1]}
    return {
        "attack": outcome.attack,
        "view": encoded(outcome.view),
        "allowed": allowed,
        **_estimates(outcome),
        "tpr_per_target": encoded(outcome.tpr),
        "beyond": encoded(outcome.beyond),
        "one_run": _one_run(outcome.one_run),
        "roc": {
            name: [float(f"{value:.6g}") for value in values.tolist()]
            for name, values in curve.items()
        },
        "slices": [_sliced(each) for each in outcome.sliced],
    }


def _estimates(found: Estimates) -> dict[str, Any]:
    low, high = found.auc_interval or (None, None)
    names = ("auc", "advantage", "operating")
    told = {name: getattr(found, name) for name in names} | {"auc_low": low, "auc_high": high}
    written: dict[str, Any] = encoded(told)
    return written


def _sliced(part: Sliced) -> dict[str, Any]:
    told = part.exposure[~np.isnan(part.exposure)]
    mean = float(told.mean()) if told.size else None
    exposure = {"mean": mean, "highest": part.highest, "per_target": part.exposure}
    return {
        "slice": part.name,
        "records": part.records,
        **_estimates(part),
        "exposure": encoded(exposure),
        "one_run": _one_run(part.one_run),
    }


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
            "rule": encoded(each.rule),
            "lower": lower_number(each.lower.value),
            "gamma": number(each.gamma),
            "gamma_cap": number(max(0.0, gamma_cap)),
            "alpha": number(alpha),
            "method": each.lower.method,
            "counts": encoded(counts),
        }
        if each.fresh != NONE:
            found["fresh"] = encoded(each.fresh)
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
    written: dict[str, Any] = encoded(found)
    return written | {"epsilon": lower_number(found.epsilon)} | shown


def _exposure(
    exposure: Array, y: NDArray[np.int64], columns: Mapping[str, Flags]
) -> dict[str, list[Any]]:
    """Return how far records move with their membership on the reference models; estimates."""
    if not exposure.size:
        return {"separations": [], "exposed": [], "slices": []}
    order = np.argsort(-exposure, kind="stable")[:MOST_EXPOSED].tolist()
    quantiles = np.quantile(exposure, np.linspace(0, 1, QUANTILES))
    parts = {f"label {label}": y == label for label in np.unique(y).tolist()} | dict(columns)
    found = {
        "separations": quantiles,
        "exposed": [
            {"record": i, "label": int(y[i]), "separation": float(exposure[i])} for i in order
        ],
        "slices": [
            {
                "slice": name,
                "records": int(flags.sum()),
                "mean": float(exposure[flags].mean()),
                "high": float(np.quantile(exposure[flags], 0.95)),
            }
            for name, flags in parts.items()
        ],
    }
    written: dict[str, Any] = encoded(found)
    return written
