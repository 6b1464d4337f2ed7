"""The record: the JSON document of one run, the single truth from which every report is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from dpassay.changes import Change, change_key, changed_lines, in_file
from dpassay.claims import Claim
from dpassay.engine.evidence import Cell, Evidence, Stopped
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
from dpassay.record.curves import with_few_profiles
from dpassay.record.kinds import RUNS
from dpassay.record.schemas import read_schema
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
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def make_record(run: Mapping[str, Any], results: Iterable[Result]) -> dict[str, Any]:
    """Put a run and its results into the published form."""
    from dpassay import __version__

    versions = {name: metadata.version(name) for name in PACKAGES}
    facts = {"version": __version__, "packages": versions} | dict(run)
    return {
        "schema": RUNS.schema,
        "run": facts,
        "results": [result_json(result, run["confidence"]) for result in results],
    }


def result_json(result: Result, confidence: float) -> dict[str, Any]:
    """Return the record's entry of one result."""
    entry: dict[str, Any] = {
        "id": result.id,
        "mechanism": result.target.name,
        "parameters": result.target.parameters,
        **_derived(result),
        "claim": result.claim.as_json(),
        "verdict": result.verdict,
        "reason": result.outcome.reason,
        "expected": result.claim.expected,
        "mode": result.mode,
    }
    evidence = result.evidence
    if evidence is None:
        empty = (
            "lower",
            "upper",
            "exact",
            "error",
            "detectable",
            "sight",
            "alpha",
            "spending",
            "confidence",
            "searched",
            "witness",
            "any_size",
            "fixed_n",
            "other",
            "fit",
        )
        return entry | dict.fromkeys(empty) | {"trials": 0, "per_query": []}
    sampled, claimed = evidence.mode == "monte-carlo", result.claim.promised
    found = with_few_profiles(
        entry
        | {
            "lower": lower_number(evidence.lower.value, claimed),
            "upper": upper_number(evidence.upper.value),
            **_computed(evidence.worst.exact),
            "detectable": upper_number(evidence.detectable),
            "sight": evidence.sight.as_json() if sampled else None,
            "alpha": number(evidence.alpha),
            "spending": None
            if evidence.spending is None
            else _numbers(evidence.spending.as_json()),
            "confidence": number(confidence) if sampled else 1,
            "trials": evidence.trials,
            "searched": evidence.searched,
            "witness": make_witness(result),
            "any_size": _any_size(evidence, result.claim),
            "fixed_n": result.target.mechanism.fixed_n,
            "other": _other(result),
            "fit": _fit(evidence),
            "per_query": [_cell(cell, evidence, result.target, claimed) for cell in evidence.cells],
        }
        | ({"stopped_early": _stopped(evidence.stopped)} if evidence.stopped else {})
        | ({"again": list(evidence.again)} if evidence.again else {})
        | ({"findings": told} if (told := _findings(result)) else {})
        | ({"clearest": make_witness(result, cell)} if (cell := clearest(result)) else {})
        | ({"looked_at": part} if (part := result.target.looked_at(result.claim)) else {})
    )
    # the profiles that are kept are written in full
    per_query = [
        told
        if told["profile"] is None or cell.profile is None
        else {**told, "profile": _profile(cell.profile)}
        for told, cell in zip(found["per_query"], evidence.cells, strict=True)
    ]
    return found | {"per_query": per_query}


def _findings(result: Result) -> list[dict[str, Any]]:
    """Write down what refutes a claim where that is certain, or not all; the first is `witness`."""
    found = result.findings
    return [
        {"certain": each.certain, "lower": lower_number(each.lower, each.claim.promised)}
        | ({"witness": make_witness(each)} if number else {})
        for number, each in enumerate(found)
        if result.certain or found[1:]
    ]


def _derived(result: Result) -> dict[str, Any]:
    """Return what is in force for parameters that were left out, where the mechanism says it."""
    told = _numbers(result.target.derived)
    return {"derived": told} if told else {}


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) that every record is valid under."""
    return read_schema("record")


def _computed(exact: Computed | None) -> dict[str, Any]:
    """Write a computed leak with its error, rounding included; nothing where it was sampled."""
    value, error = (None, None) if exact is None else computed_number(exact.value, exact.error)
    return {"exact": value, "error": error}


def _cell(cell: Cell, evidence: Evidence, target: AuditTarget, claimed: float) -> dict[str, Any]:
    group = evidence.groups[cell.group]
    change = group.pairs.changes[cell.pair]
    return {
        "group": group.kind,
        "data": group.digest,
        "query": cell.query if group.kind != "domain" else cell.group,
        "point": [float(value) for value in group.queries[cell.query]]
        if group.kind == "domain"
        else None,
        "pair": cell.pair,
        "change": str(in_file(change, None)),
        **_in_file(change),
        "pair_key": change_key(change, group.pairs.pool),
        "direction": cell.direction,
        "event": event_json(cell.event),
        **(
            {"answer": names}
            if (names := answer_names(target, cell.event, group.queries[cell.query]))
            else {}
        ),
        "lower": lower_number(cell.lower.value, claimed),
        "upper": upper_number(cell.upper.value),
        "exact": _computed(cell.exact)["exact"],
        "method": cell.lower.method,
        "estimate": None if cell.estimate is None else number(cell.estimate.value),
        "p1": number(cell.p1),
        "p0": number(cell.p0),
        "alpha": number(cell.lower.alpha),
        "counts": None if cell.lower.counts is None else asdict(cell.lower.counts),
        "histograms": None if cell.lower.histograms is None else asdict(cell.lower.histograms),
        # what tells whether a profile is kept: few are, and all of one takes long
        "profile": None
        if cell.profile is None
        else {"lower": [rounded(each, CURVE_DIGITS, DOWN) for each in cell.profile.lower]},
    }


def _in_file(change: Change) -> dict[str, Any]:
    """Write a change down by the lines of the file that its records come from, if they do."""
    lines = list(changed_lines(change))
    return {"in_file": {"lines": lines, "change": str(change)}} if lines else {}


def _profile(profile: Profile) -> dict[str, Any]:
    """Write a privacy profile and its trade-off function, computed numbers with fewer digits."""
    below, above = trade_off(profile, FALSE_POSITIVE)
    bands = {
        "lower": (profile.lower, DOWN),
        "upper": (profile.upper, UP),
        "trade_off_lower": (below, DOWN),
        "trade_off_upper": (above, UP),
    }
    short = {
        name: [rounded(each, CURVE_DIGITS, way) for each in curve]
        for name, (curve, way) in bands.items()
    }
    where = {"epsilon": profile.epsilon.tolist(), "false_positive": FALSE_POSITIVE.tolist()}
    return where | short | {"alpha": number(profile.alpha)}


def _numbers(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: number(value) if isinstance(value, float) else value for name, value in fields.items()
    }


def _stopped(stopped: Stopped) -> dict[str, Any]:
    """Write down how an e-process refuted the claim before all trials were drawn."""
    return {
        "test": stopped.test,
        "trials": stopped.trials,
        "planned": stopped.of,
        "e_value": lower_number(stopped.e_value, stopped.threshold),
        "threshold": upper_number(stopped.threshold),
    }


def _any_size(evidence: Evidence, claim: Claim | None = None) -> dict[str, Any] | None:
    found = evidence.any_size
    if found is None:
        return None
    exact, error = computed_number(found.loss, found.error)
    known = {} if claim is None else {"exceeds": found.exceeds(claim.promised)}
    return (
        known
        | ({"of": found.of} if found.of else {})
        | {
            "exact": exact,
            "error": error,
            "states": list(found.states),
            "argument": found.argument,
        }
    )


def _other(result: Result) -> dict[str, Any] | None:
    """Write down the notion that was measured beside the claim."""
    measured = result.measured
    if measured is None or measured.evidence is None:
        return None
    evidence, exact = measured.evidence, measured.evidence.worst.exact
    return {
        "id": measured.id,
        "kind": measured.claim.kind,
        **(
            _computed(exact)
            if exact is not None
            else {"exact": lower_number(evidence.lower.value), "error": None}
        ),
        "any_size": _any_size(evidence),
        "witness": make_witness(measured),
    }


def _fit(evidence: Evidence) -> dict[str, Any] | None:
    fit = evidence.fit
    return (
        None
        if fit is None
        else {"draws": fit.draws, "tests": fit.tests, "p_value": number(fit.p_value)}
    )
