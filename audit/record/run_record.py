"""The record: the JSON document of one run, the single truth from which every report is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from dpassay.claims import Claim
from dpassay.engine.evidence import Cell, Evidence
from dpassay.engine.result import Result
from dpassay.numerics import (
    DOWN,
    NEAREST,
    UP,
    computed_number,
    lower_number,
    number,
    rounded,
    upper_number,
)
from dpassay.pairs import change_key, changed_lines, in_file
from dpassay.record.curves import with_few_profiles
from dpassay.record.kinds import RUNS
from dpassay.record.witness import clearest, event_json, make_witness
from dpassay.record.witness_words import answer_names
from dpassay.stats.bounds import Computed
from dpassay.stats.profile import LEVELS, Profile, trade_off
from dpassay.targets.guard import AuditTarget

FALSE_POSITIVE = np.array([rounded(level, 6, NEAREST) for level in LEVELS[::4]])
"""Where the trade-off function is written down."""
CURVE_DIGITS = 6
"""Significant digits of the points of a band; where they belong is written in full, or they would
belong elsewhere."""
EVIDENCE = (
    *("lower", "upper", "exact", "error", "detectable", "sight", "alpha", "spending"),
    *("confidence", "searched", "witness", "any_size", "fixed_n", "other", "fit"),
)
"""Fields that are null where there is no evidence."""
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def make_record(run: Mapping[str, Any], results: Iterable[Result]) -> dict[str, Any]:
    """Put a run and its results into the published form."""
    from dpassay import __version__

    versions = {name: metadata.version(name) for name in PACKAGES}
    return {
        "schema": RUNS.schema,
        "run": {"version": __version__, "packages": versions} | dict(run),
        "results": [result_json(result, run["confidence"]) for result in results],
    }


def result_json(result: Result, confidence: float) -> dict[str, Any]:
    """Return the record's entry of one result."""
    claim, target, evidence = result.claim, result.target, result.evidence
    derived = _numbers(target.derived)
    entry: dict[str, Any] = {
        "id": result.id,
        "mechanism": target.name,
        "parameters": target.parameters,
        # what is in force for parameters that were left out
        **({"derived": derived} if derived else {}),
        "claim": claim.as_json(),
        "verdict": result.verdict,
        "reason": result.outcome.reason,
        "expected": claim.expected,
        "mode": result.mode,
    }
    if evidence is None:
        return entry | dict.fromkeys(EVIDENCE) | {"trials": 0, "per_query": []}
    sampled, spending, fit = evidence.mode == "monte-carlo", evidence.spending, evidence.fit
    entry |= {
        "lower": lower_number(evidence.lower.value, claim.promised),
        "upper": upper_number(evidence.upper.value),
        **_computed(evidence.worst.exact),
        "detectable": upper_number(evidence.detectable),
        "sight": evidence.sight.as_json() if sampled else None,
        "alpha": number(evidence.alpha),
        "spending": None if spending is None else _numbers(spending.as_json()),
        "confidence": number(confidence) if sampled else 1,
        "trials": evidence.trials,
        "searched": evidence.searched,
        "witness": make_witness(result),
        "any_size": _any_size(evidence, claim),
        "fixed_n": target.mechanism.fixed_n,
        "other": _other(result),
        "fit": None if fit is None else _numbers(asdict(fit)),
        "per_query": [_cell(cell, evidence, target, claim.promised) for cell in evidence.cells],
    }
    cell, findings = clearest(result), result.findings
    optional = {
        "again": list(evidence.again),
        # where that is certain, or not all that refutes the claim; the first is `witness`
        "findings": [
            {"certain": each.certain, "lower": lower_number(each.lower, each.claim.promised)}
            | ({"witness": make_witness(each)} if place else {})
            for place, each in enumerate(findings)
            if result.certain or findings[1:]
        ],
        "clearest": cell and make_witness(result, cell),
        "looked_at": target.looked_at(claim),
    }
    entry = with_few_profiles(entry | {name: told for name, told in optional.items() if told})
    # the profiles that are kept are written in full
    for told, each in zip(entry["per_query"], evidence.cells, strict=True):
        if told["profile"] is not None and each.profile is not None:
            told["profile"] = _profile(each.profile)
    return entry


def _computed(exact: Computed | None) -> dict[str, Any]:
    """Write a computed leak with its error, rounding included; nothing where it was sampled."""
    value, error = (None, None) if exact is None else computed_number(exact.value, exact.error)
    return {"exact": value, "error": error}


def _cell(cell: Cell, evidence: Evidence, target: AuditTarget, claimed: float) -> dict[str, Any]:
    group, lower = evidence.groups[cell.group], cell.lower
    change, query = group.pairs.changes[cell.pair], group.queries[cell.query]
    domain, lines = group.kind == "domain", list(changed_lines(change))
    names = answer_names(target, cell.event, query)
    return {
        "group": group.kind,
        "data": group.digest,
        "query": cell.group if domain else cell.query,
        "point": [float(value) for value in query] if domain else None,
        "pair": cell.pair,
        "change": str(in_file(change, None)),
        # by the lines of the file that its records come from, if they do
        **({"in_file": {"lines": lines, "change": str(change)}} if lines else {}),
        "pair_key": change_key(change, group.pairs.pool),
        "direction": cell.direction,
        "event": event_json(cell.event),
        **({"answer": names} if names else {}),
        "lower": lower_number(lower.value, claimed),
        "upper": upper_number(cell.upper.value),
        "exact": _computed(cell.exact)["exact"],
        "method": lower.method,
        "estimate": None if cell.estimate is None else number(cell.estimate.value),
        "p1": number(cell.p1),
        "p0": number(cell.p0),
        "alpha": number(lower.alpha),
        "counts": None if lower.counts is None else asdict(lower.counts),
        **({} if lower.joint is None else {"joint": lower.joint.as_json()}),
        "histograms": None if lower.histograms is None else asdict(lower.histograms),
        # what tells whether a profile is kept: few are, and all of one takes long
        "profile": None
        if cell.profile is None
        else {"lower": [rounded(each, CURVE_DIGITS, DOWN) for each in cell.profile.lower]},
    }


def _profile(profile: Profile) -> dict[str, Any]:
    """Write a privacy profile and its trade-off function, computed numbers with fewer digits."""
    below, above = trade_off(profile, FALSE_POSITIVE)
    bands = {
        "lower": (profile.lower, DOWN),
        "upper": (profile.upper, UP),
        "trade_off_lower": (below, DOWN),
        "trade_off_upper": (above, UP),
    }
    return {
        "epsilon": profile.epsilon.tolist(),
        "false_positive": FALSE_POSITIVE.tolist(),
        **{
            name: [rounded(each, CURVE_DIGITS, way) for each in curve]
            for name, (curve, way) in bands.items()
        },
        "alpha": number(profile.alpha),
    }


def _numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: number(value) if isinstance(value, float) else value for name, value in fields.items()
    }


def _any_size(evidence: Evidence, claim: Claim | None = None) -> dict[str, Any] | None:
    found = evidence.any_size
    if found is None:
        return None
    exact, error = computed_number(found.loss, found.error)
    return {
        **({} if claim is None else {"exceeds": found.exceeds(claim.promised)}),
        **({"of": found.of} if found.of else {}),
        "exact": exact,
        "error": error,
        "states": list(found.states),
        "argument": found.argument,
    }


def _other(result: Result) -> dict[str, Any] | None:
    """Write down the notion that was measured beside the claim."""
    measured = result.measured
    if measured is None or measured.evidence is None:
        return None
    evidence, exact = measured.evidence, measured.evidence.worst.exact
    sampled = {"exact": lower_number(evidence.lower.value), "error": None}
    return {
        "id": measured.id,
        "kind": measured.claim.kind,
        **(sampled if exact is None else _computed(exact)),
        "any_size": _any_size(evidence),
        "witness": make_witness(measured),
    }
