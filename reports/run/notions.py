"""Both notions: epsilon and gamma of every mechanism with a known law.

Whichever of them it promises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.reports.run.findings import (
    ANY_SIZE,
    WITNESS_NOTE,
    at_least,
    floor,
    known,
    unit_words,
    witness_words,
)
from dpassay.reports.run.words import claim_short, exceeds, looked_at, promised
from dpassay.reports.shared.numbers import MISSING, below, clean, exact, loss, value
from dpassay.reports.shared.tables import Table

Raw = Mapping[str, Any]


def notions_table(results: Sequence[Raw]) -> Table | None:
    """Put the true worst epsilon and gamma of each mechanism side by side.

    None where no law of labels was known.
    """
    rows = []
    for same in _by_mechanism(results):
        epsilon, gamma = (_notion(same, kind) for kind in ("DP", "Stability"))
        if epsilon is not None and gamma is not None:
            rows.append((clean(same[0]["mechanism"]), unit_words(same[0]), *epsilon, *gamma))
    if not rows:
        return None
    return Table(
        caption=(
            "True worst loss ε in nats at δ = 0, and true worst change γ of a probability, "
            "whether claimed or not. '≥' marks a lower bound: only the audited cells, only an "
            "enumerated domain or only a part of the release were examined, or, for γ, only "
            "single answers, while an event of several answers may change more. A claim marked "
            f"'corrected' or 'own' is not printed in a paper. {WITNESS_NOTE}"
        ),
        columns=(
            "mechanism",
            "unit",
            "ε claimed",
            "ε",
            "witness of ε",
            "γ claimed",
            "γ",
            "witness of γ",
        ),
        numeric=(False, False, True, True, False, True, True, False),
        rows=tuple(rows),
    )


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
                shown = _at_least(floor(result, found[1]), promised(claim))
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
                _at_least(floor(beside, found[1])) if least else loss(found[0]),
                witness_words(other, found[1]),
            )
    return None


def _least(result: Raw, scope: str, kind: str, witness: Raw | None) -> bool:
    """Whether a number is a lower bound only.

    Of audited cells, of a domain, of a part of the release, or a change of single answers.
    """
    single = kind == "Stability" and witness is not None and len(witness["labels"] or ()) > 2
    return scope != ANY_SIZE or bool(looked_at(result)) or single


def _at_least(number: float, claimed: float = math.inf) -> str:
    return at_least(below(number, claimed))
