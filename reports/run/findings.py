"""Findings: where the promised constant and the true one differ, by what factor; both notions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from dpassay.numerics import DOWN
from dpassay.record.files import witness_file
from dpassay.reports.run.bound_parts import below_claim
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.scope_parts import everywhere
from dpassay.reports.run.search_words import one_output
from dpassay.reports.run.words import (
    blurred,
    claim_short,
    exceeds,
    looked_at,
    nothing_found,
    promised,
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
Kind = Literal["refuted", "exceeded", "loose", "tight"]

KINDS: tuple[Kind, ...] = ("refuted", "exceeded", "loose", "tight")
TIGHT = 0.99
"""A claim whose true worst loss is at least this share of it is called tight."""

AUDITED = "the audited cells"
ANY_SIZE = "datasets of any size"
WITNESS_NOTE = (
    "A witness file replays the worst audited cell; where that cell leaks less than the number in "
    "the table, its own number follows the file name."
)


class Finding(NamedTuple):
    """A claimed constant beside the true one; its fields but the first are a row of the table."""

    kind: Kind  # 'exceeded' by a reachable dataset that was not audited; 'tight' within 1 %
    result: str
    told: str  # what the finding is
    claimed: str
    true: str
    factor: str  # true over claimed
    unit: str
    scope: str  # what the true leak is the worst over
    witness: str  # the file of the worst audited cell, with its number where that is another
    source: str


def finding_of(result: Raw) -> Finding | None:
    """Compare the claim of a result with the best that is known about the truth.

    None if that is not enough to say.
    """
    claimed = promised(result["claim"])
    found = known(result)
    if found is None:
        return None
    true, scope = found
    kind, part = _kind(result, true, scope), looked_at(result)
    # what was not looked at may leak all that is claimed
    if kind is None or (kind == "loose" and part):
        return None
    broken = kind in ("refuted", "exceeded")
    if below_claim(result):
        numbers = f"> {loss(claimed, DOWN)}", "> 1 ×"
    elif scope == AUDITED or part or (scope != ANY_SIZE and blurred(result)):
        certain = floor(result, scope)
        numbers = at_least(below(certain, claimed)), at_least(factor(certain, claimed, DOWN))
    else:
        numbers = exact(true, claimed, exceeds=broken), factor(true, claimed, exceeds=broken)
    return Finding(
        kind,
        clean(result["id"]),
        _told(kind, result["claim"], true),
        claim_short(result["claim"], true if broken else None),
        *numbers,
        unit_words(result),
        everywhere(result, result["any_size"]) if scope == ANY_SIZE else scope,
        witness_words(result, scope),
        clean(result["claim"]["source"]),
    )


def unit_words(result: Raw) -> str:
    """Say what is released, and what of it was looked at where that is not all."""
    unit, part = clean(result["claim"]["unit"]), looked_at(result)
    unit = "all that one run returns" if one_output(result) else unit
    return f"{unit}; looked at: {part}" if part else unit


def witness_words(result: Raw, scope: str) -> str:
    """Name the file of a witness.

    Where the number beside it is of all datasets and the worst audited cell has less, that too.
    """
    if nothing_found(result):
        return MISSING
    file, audited = witness_file(result["id"]), value(result["exact"])
    if (
        scope != ANY_SIZE
        or audited is None
        or loss(audited) == loss(value(result["any_size"]["exact"]))
    ):
        return file
    return f"{file} (audited: {loss(audited)})"


def floor(result: Raw, scope: str) -> float:
    """Return what the leak that `known` tells is at least, for certain."""
    if scope == ANY_SIZE:
        return float(result["any_size"]["exact"]) - float(result["any_size"]["error"])
    return value(result["lower"]) or 0.0


def at_least(number: str) -> str:
    """Mark a written number as a lower bound; nothing is larger than infinity."""
    return number if number.startswith(INFINITY) else f"≥ {number}"


def findings_table(findings: Iterable[Finding]) -> TextTable:
    """Put the findings into a table: refuted and exceeded claims, then loose and tight ones."""
    caption = (
        "Claimed and true leak. The leak is a loss in nats, at the claimed δ if there is "
        "one; for a claim of γ it is a change of a probability or prediction, for one of μ "
        "the μ of Gaussian differential privacy, for an error that error (see the unit), "
        "for β the share of bad random strings, to be compared with δ. The factor is "
        "true / claimed. '≥' marks a lower bound: only the audited cells, or only a part of "
        f"the release, were examined, and the true leak may be larger. {WITNESS_NOTE}"
    )
    titles = "result | finding | claimed: | true: | factor: | unit | worst over | witness | source"
    in_order = sorted(findings, key=lambda finding: KINDS.index(finding.kind))
    return TextTable.of(caption, titles, (finding[1:] for finding in in_order))


def known(result: Raw) -> tuple[float, str] | None:
    """Return the true leak and over what it is the worst."""
    if result["verdict"] == "error":
        return None
    found = result["any_size"]
    lower, exact = value(result["lower"]), value(result["exact"])
    if found is not None:
        true, error = float(found["exact"]), float(found["error"])
        if lower is None or true + error >= lower:
            return true, ANY_SIZE
    if lower is None:
        return None
    scope = "the enumerated domain" if result["mode"] == "exhaustive" else AUDITED
    return (lower if exact is None or blurred(result) else exact), scope


def _kind(result: Raw, true: float, scope: str) -> Kind | None:
    """Say what a finding is.

    The verdict and the audit's word on datasets of any size decide, no number is compared again.
    """
    if result["verdict"] == "refuted":
        return "refuted"
    if exceeds(result):
        return "exceeded"
    if scope == AUDITED:  # a small loss there says nothing about the worst case
        return None
    return "tight" if true >= TIGHT * promised(result["claim"]) else "loose"


def _told(kind: Kind, claim: Raw, true: float) -> str:
    """Name a finding; of a loss at a delta epsilon alone was compared, at this delta."""
    if not words_of(claim).slack or kind in ("refuted", "exceeded"):
        return kind
    return f"{kind} in ε at this δ" if true > 0 else "loose in ε: at this δ the loss is 0"


def notions_table(results: Sequence[Raw]) -> TextTable:
    """Put the true worst epsilon and gamma of each mechanism with a known law side by side."""
    rows = []
    for same in _by_mechanism(results):
        epsilon, gamma = (_notion(same, kind) for kind in ("DP", "Stability"))
        if epsilon is not None and gamma is not None:
            rows.append((clean(same[0]["mechanism"]), unit_words(same[0]), *epsilon, *gamma))
    caption = (
        "True worst loss ε in nats at δ = 0, and true worst change γ of a probability, "
        "whether claimed or not. '≥' marks a lower bound: only the audited cells, only an "
        "enumerated domain or only a part of the release were examined, or, for γ, only "
        "single answers, while an event of several answers may change more. A claim marked "
        f"'corrected' or 'own' is not printed in a paper. {WITNESS_NOTE}"
    )
    titles = "mechanism | unit | ε claimed: | ε: | witness of ε | γ claimed: | γ: | witness of γ"
    return TextTable.of(caption, titles, rows)


def _by_mechanism(results: Sequence[Raw]) -> list[list[Raw]]:
    """Group results on the same mechanism, parameters, relation and unit.

    Only those with both notions.
    """
    groups: dict[str, list[Raw]] = {}
    for result in results:
        if result.get("other") is not None:
            claim = result["claim"]
            same = json.dumps(
                [result["mechanism"], result["parameters"], claim["relation"], claim["unit"]],
                sort_keys=True,
            )
            groups.setdefault(same, []).append(result)
    return list(groups.values())


def _notion(same: Sequence[Raw], kind: str) -> tuple[str, str, str] | None:
    """Return what is promised, what is true, and the witness of one notion.

    None where neither claim nor measure tells.
    """
    for result in same:
        claim = result["claim"]
        if claim["kind"] == kind and not claim["delta"] and (found := known(result)) is not None:
            above = result["verdict"] == "refuted" or exceeds(result)
            if _least(result, found[1], kind, result["witness"]):
                shown = _least_words(floor(result, found[1]), promised(claim))
            else:
                shown = exact(found[0], promised(claim), exceeds=above)
            ours = "" if claim["status"] == "printed" else f", {claim['status']}"
            return (
                claim_short(claim, found[0] if above else None) + ours,
                shown,
                witness_words(result, found[1]),
            )
    for result in same:
        other = result["other"]
        if other["kind"] != kind:
            continue
        exactly = value(other["exact"])
        lower = None if exactly is None else exactly - (value(other.get("error")) or 0.0)
        beside = other | {"verdict": "", "lower": lower, "mode": result["mode"]}
        found = known(beside)
        if found is not None:
            least = _least(result, found[1], kind, other["witness"])
            return (
                MISSING,
                _least_words(floor(beside, found[1])) if least else loss(found[0]),
                witness_words(other, found[1]),
            )
    return None


def _least(result: Raw, scope: str, kind: str, witness: Raw | None) -> bool:
    """Whether a number is a lower bound only.

    Of audited cells, of a domain, of a part of the release, or a change of single answers.
    """
    single = kind == "Stability" and witness is not None and len(witness["labels"] or ()) > 2
    return scope != ANY_SIZE or bool(looked_at(result)) or single


def _least_words(number: float, claimed: float = math.inf) -> str:
    return at_least(below(number, claimed))
