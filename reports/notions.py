"""Both notions: epsilon and gamma of every mechanism whose law is known, whichever of them it promises."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.documents import witness_file
from dpassay.reports.findings import AUDITED, known
from dpassay.reports.numbers import INFINITY, MISSING, clean, exact, loss
from dpassay.reports.tables import Table
from dpassay.reports.words import claim_short, exceeds, promised

Raw = Mapping[str, Any]


def notions_table(results: Sequence[Raw]) -> Table | None:
    """Put the true worst epsilon and gamma of each mechanism side by side; None where no law of labels was known."""
    rows = []
    for same in _by_mechanism(results):
        epsilon, gamma = (_notion(same, kind) for kind in ("DP", "Stability"))
        if epsilon is not None and gamma is not None:
            rows.append((clean(same[0]["mechanism"]), clean(same[0]["claim"]["unit"]), *epsilon, *gamma))
    if not rows:
        return None
    return Table(
        caption="True worst loss ε in nats at δ = 0, and true worst change γ of the probability of one answer, which events of "
        "several answers may exceed, promised or not; '≥' where that is the worst of the audited cells only",
        columns=("mechanism", "unit", "ε promised", "ε", "its witness", "γ promised", "γ", "its witness"),
        numeric=(False, False, True, True, False, True, True, False),
        rows=tuple(rows),
    )


def _by_mechanism(results: Sequence[Raw]) -> list[list[Raw]]:
    """Group results on the same mechanism, parameters, relation and unit; only those with both notions."""
    groups: dict[str, list[Raw]] = {}
    for result in results:
        if result.get("other") is not None:
            claim = result["claim"]
            same = json.dumps([result["mechanism"], result["parameters"], claim["relation"], claim["unit"]], sort_keys=True)
            groups.setdefault(same, []).append(result)
    return list(groups.values())


def _notion(same: Sequence[Raw], kind: str) -> tuple[str, str, str] | None:
    """Return what is promised, what is true, and the witness of one notion; None where neither claim nor measure tells."""
    for result in same:
        claim = result["claim"]
        if claim["kind"] == kind and not claim["delta"] and (found := known(result)) is not None:
            above = result["verdict"] == "refuted" or exceeds(result)
            shown = _least(found[1], exact(found[0], promised(claim), exceeds=above))
            ours = ", corrected" if claim["status"] == "corrected" else ""
            return claim_short(claim, found[0] if above else None) + ours, shown, witness_file(result["id"])
    for result in same:
        other = result["other"]
        if other["kind"] != kind:
            continue
        found = known(other | {"verdict": "", "lower": other["exact"], "mode": result["mode"]})
        if found is not None:
            return MISSING, _least(found[1], loss(found[0])), witness_file(other["id"])
    return None


def _least(scope: str, shown: str) -> str:
    """Say that a number is the worst of the audited cells only; nothing is worse than infinite."""
    return f"≥ {shown}" if scope == AUDITED and shown != INFINITY else shown
