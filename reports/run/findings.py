"""Findings: where the promised constant and the true one differ, by what factor; both notions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dpassay.numerics import DOWN
from dpassay.record.files import witness_file
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.scope import everywhere
from dpassay.reports.run.words import (
    blurred,
    claim_short,
    exceeds,
    looked_at,
    nothing_found,
    unit_words,
)
from dpassay.reports.shared.numbers import (
    INFINITY,
    MISSING,
    below,
    clean,
    exact,
    factor,
    loss,
    value,
)
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]
KINDS = ("refuted", "exceeded", "loose", "tight")
TIGHT = 0.99  # a claim whose true worst loss is at least this share of it is called tight
AUDITED = "the audited cells"
ANY_SIZE = "datasets of any size"
WITNESS_NOTE = (
    "A witness file replays the worst audited cell; where that cell leaks less than the number in "
    "the table, its own number follows the file name."
)
FINDINGS = (
    "Claimed and true leak. The leak is a loss in nats, at the claimed δ if there is one; for a "
    "claim of γ it is a change of a probability or prediction, for one of μ the μ of Gaussian "
    "differential privacy, for an error that error (see the unit), for one of β₁ and β₂ the "
    "share δ of bad random strings. The factor is true / claimed. '≥' marks a lower bound: only "
    "the audited cells, or only a part of the release, were examined, and the true leak may be "
    f"larger. {WITNESS_NOTE}"
)
NOTIONS = (
    "True worst loss ε in nats at δ = 0, and true worst change γ of a probability, whether claimed "
    "or not. '≥' marks a lower bound: only the audited cells, only an enumerated domain or only a "
    "part of the release were examined, or, for γ, only single answers, while an event of several "
    "answers may change more. A claim marked 'corrected' or 'own' is not printed in a paper. "
    f"{WITNESS_NOTE}"
)


class Finding(NamedTuple):
    """A claimed constant beside the true one; its fields but the first are a row of the table."""

    kind: str  # of KINDS: 'exceeded' by a reachable dataset not audited; 'tight' within 1 %
    result: str
    told: str  # what the finding is
    claimed: str
    true: str
    factor: str  # true over claimed
    unit: str
    scope: str  # what the true leak is the worst over
    witness: str  # the file of the worst audited cell, with its number where that is another
    source: str


def finding_of(r: ResultView) -> Finding | None:
    """Compare a claim with the best that is known about the truth; None if that is too little."""
    claimed, found = r.promised, known(r.raw)
    if found is None:
        return None
    true, scope = found
    # the verdict and the audit's word on datasets of any size decide; no number is compared again
    broken = r.refuted or r.exceeds
    if broken:
        kind = told = "refuted" if r.refuted else "exceeded"
    elif scope == AUDITED:  # a small loss there says nothing about the worst case
        return None
    else:
        kind = told = "tight" if true >= TIGHT * claimed else "loose"
        if kind == "loose" and r.looked_at:  # what was not looked at may leak all that is claimed
            return None
        if r.words.slack:  # of a loss at a delta epsilon alone was compared, at this delta
            told = f"{kind} in ε at this δ" if true > 0 else "loose in ε: at this δ the loss is 0"
    if scope == AUDITED or r.looked_at or (scope != ANY_SIZE and r.blurred):
        certain = _floor(r.raw, scope)
        numbers = _at_least(below(certain, claimed)), _at_least(factor(certain, claimed, DOWN))
    else:
        numbers = exact(true, claimed, exceeds=broken), factor(true, claimed, exceeds=broken)
    return Finding(
        kind,
        r.id,
        told,
        claim_short(r.raw["claim"], true if broken else None),
        *numbers,
        unit_words(r.raw),
        everywhere(r.raw, r.raw["any_size"]) if scope == ANY_SIZE else scope,
        _witness(r.raw, scope),
        r.source,
    )


def known(raw: Raw) -> tuple[float, str] | None:
    """Return the true leak and over what it is the worst."""
    if raw["verdict"] == "error":
        return None
    found, lower, exact = raw["any_size"], value(raw["lower"]), value(raw["exact"])
    if found is not None:
        true, error = float(found["exact"]), float(found["error"])
        if lower is None or true + error >= lower:
            return true, ANY_SIZE
    if lower is None:
        return None
    scope = "the enumerated domain" if raw["mode"] == "exhaustive" else AUDITED
    return (lower if exact is None or blurred(raw) else exact), scope


def _floor(raw: Raw, scope: str) -> float:
    """Return what the leak that `known` tells is at least, for certain."""
    if scope == ANY_SIZE:
        return float(raw["any_size"]["exact"]) - float(raw["any_size"]["error"])
    return value(raw["lower"]) or 0.0


def _at_least(number: str) -> str:
    """Mark a written number as a lower bound; nothing is larger than infinity."""
    return number if number.startswith(INFINITY) else f"≥ {number}"


def _witness(raw: Raw, scope: str) -> str:
    """Return the file of a witness, and its number where the one beside it is of all datasets."""
    if nothing_found(raw):
        return MISSING
    file, audited = witness_file(raw["id"]), value(raw["exact"])
    if scope != ANY_SIZE or audited is None:
        return file
    same = loss(audited) == loss(value(raw["any_size"]["exact"]))
    return file if same else f"{file} (audited: {loss(audited)})"


def findings_table(findings: Iterable[Finding]) -> TextTable:
    """Put the findings into a table: refuted and exceeded claims, then loose and tight ones."""
    titles = "result | finding | claimed: | true: | factor: | unit | worst over | witness | source"
    in_order = sorted(findings, key=lambda finding: KINDS.index(finding.kind))
    return TextTable.of(FINDINGS, titles, (finding[1:] for finding in in_order))


def findings_words(findings: Sequence[Finding], audited: int) -> tuple[str, ...]:
    """Return what the kinds of findings mean that there are, and which claims have none."""
    kinds = {finding.kind for finding in findings}
    told = (
        (audited and kinds <= {"tight"}, "No claim was refuted or found to be loose."),
        (
            "exceeded" in kinds,
            "Exceeded: a reachable dataset outside the audited ones violates the claim.",
        ),
        (
            "tight" in kinds,
            (
                "Tight: at these parameters the true worst leak is at least 99 % of the claim; if "
                "a δ is claimed, the worst loss at that δ is at least 99 % of the claimed ε."
            ),
        ),
        (
            "loose" in kinds,
            (
                "Loose: at these parameters it is less than that; at others the same claim may be "
                "tight."
            ),
        ),
        (
            findings and audited > len(findings),
            (
                "Claims missing from this table either ended in an error, or were not refuted and "
                "their worst case, over all datasets and the whole release, is not known."
            ),
        ),
    )
    return tuple(words for needed, words in told if needed)


def notions_table(results: Sequence[Raw]) -> TextTable:
    """Put the true worst epsilon and gamma of each mechanism with a known law side by side."""
    groups: dict[str, list[Raw]] = {}
    for raw in results:
        if raw.get("other") is not None:
            names = ("relation", "unit")
            same = [raw["mechanism"], raw["parameters"], *(raw["claim"][name] for name in names)]
            groups.setdefault(json.dumps(same, sort_keys=True), []).append(raw)
    rows = []
    for group in groups.values():
        epsilon, gamma = (_notion(group, kind) for kind in ("DP", "Stability"))
        if epsilon is not None and gamma is not None:
            rows.append((clean(group[0]["mechanism"]), unit_words(group[0]), *epsilon, *gamma))
    titles = "mechanism | unit | ε claimed: | ε: | witness of ε | γ claimed: | γ: | witness of γ"
    return TextTable.of(NOTIONS, titles, rows)


def _notion(group: Sequence[Raw], kind: str) -> tuple[str, str, str] | None:
    """Return what is promised, what is true, and the witness of one notion; None where unknown."""

    def shown(raw: Raw, found: tuple[float, str], part: Any, claimed: float, broken: Any) -> str:
        """Write a number; a lower bound of cells, of a domain, of a part, of single answers."""
        single = kind == "Stability" and raw["witness"] is not None
        single = single and len(raw["witness"]["labels"] or ()) > 2
        if found[1] != ANY_SIZE or part or single:
            return _at_least(below(_floor(raw, found[1]), claimed))
        return loss(found[0]) if broken is None else exact(found[0], claimed, exceeds=broken)

    for raw in group:
        claim = raw["claim"]
        if claim["kind"] == kind and not claim["delta"] and (found := known(raw)) is not None:
            above = raw["verdict"] == "refuted" or exceeds(raw)
            ours = "" if claim["status"] == "printed" else f", {claim['status']}"
            return (
                claim_short(claim, found[0] if above else None) + ours,
                shown(raw, found, looked_at(raw), words_of(claim).promised, above),
                _witness(raw, found[1]),
            )
    for raw in group:
        other = raw["other"]
        if other["kind"] == kind:
            exactly = value(other["exact"])
            lower = None if exactly is None else exactly - (value(other.get("error")) or 0.0)
            beside = other | {"verdict": "", "lower": lower, "mode": raw["mode"]}
            if (found := known(beside)) is not None:
                number = shown(beside, found, looked_at(raw), math.inf, None)
                return MISSING, number, _witness(other, found[1])
    return None
