"""What a report says about a run: how it ended, findings, units, and facts that repeat it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.numerics import percent
from dpassay.reports.run.findings import Finding
from dpassay.reports.run.kinds import ERROR as ERROR_UNIT
from dpassay.reports.run.kinds import (
    GaussianWords,
    LossWords,
    PredictionWords,
    ScoreWords,
    StabilityWords,
)
from dpassay.reports.run.search_words import without_data
from dpassay.reports.shared.numbers import MISSING, clean, count, plain, shorten

Raw = Mapping[str, Any]


def ended(run: Raw, of: str = "claims") -> str:
    """Say why a run is not complete; empty where it is."""
    if run["complete"]:
        return ""
    interrupted = f"The run was interrupted; {of} that it did not reach are missing."
    return str(run.get("changed", interrupted))


def findings_words(findings: Sequence[Finding], audited: int) -> tuple[str, ...]:
    """Say what the kinds of findings mean that there are, and which claims have none."""
    texts = []
    if audited and all(finding.kind == "tight" for finding in findings):
        texts.append("No claim was refuted or found to be loose.")
    if any(finding.kind == "exceeded" for finding in findings):
        texts.append("Exceeded: a reachable dataset outside the audited ones violates the claim.")
    if any(finding.kind == "tight" for finding in findings):
        texts.append(
            "Tight: at these parameters the true worst leak is at least 99 % of the claim; if a δ "
            "is claimed, the worst loss at that δ is at least 99 % of the claimed ε."
        )
    if any(finding.kind == "loose" for finding in findings):
        texts.append(
            "Loose: at these parameters it is less than that; at others the same claim may be "
            "tight."
        )
    if findings and audited > len(findings):
        texts.append(
            "Claims missing from this table either ended in an error, or were not refuted and "
            "their worst case, over all datasets and the whole release, is not known."
        )
    return tuple(texts)


def facts_of(record: Raw) -> tuple[tuple[str, str], ...]:
    """Return what is needed to repeat a run, by name."""
    run = record["run"]
    packages = ", ".join(
        f"{clean(name)} {clean(version)}" for name, version in sorted(run["packages"].items())
    )
    return (
        ("version", f"dpassay {clean(run['version'])}"),
        ("commit", MISSING if run["commit"] is None else clean(run["commit"])),
        ("seed", str(run["seed"])),
        ("confidence", percent(run["confidence"])),
        ("profile", clean(run["profile"])),
        ("budget", f"{count(run['budget'])} certification trials per side and finalist"),
        ("data", _data(record)),
        ("packages", packages or MISSING),
        *((name, clean(run[name])) for name in ("protections",) if name in run),
    )


def _data(record: Raw) -> str:
    data = record["run"]["data"]
    if data is None:
        return f"no file; {without_data(record['results'])}"
    rest = {key: entry for key, entry in data.items() if key not in {"name", "kind"}}
    words = ", ".join(f"{clean(key)} {_fact(entry)}" for key, entry in sorted(rest.items()))
    name = clean(data.get("name", "unnamed"))
    return f"{name} ({words})" if words else name


def _fact(entry: object) -> str:
    if isinstance(entry, Mapping):
        return " ".join(f"{clean(key)} {_fact(inner)}" for key, inner in sorted(entry.items()))
    if isinstance(entry, list):
        return "/".join(_fact(inner) for inner in entry)
    if isinstance(entry, float) and math.isfinite(entry):
        return plain(entry)
    return shorten(clean(entry if isinstance(entry, str) else json.dumps(entry)))


def units_words(units: set[str]) -> str:
    """Say what the numbers of a table are measured in, given the units of its rows."""
    words = ["Losses in nats"] if LossWords.unit in units else []
    moved = sorted(units & {StabilityWords.unit, PredictionWords.unit})
    if moved:
        both = "γ is a change of a probability or of a prediction"
        words.append(both if LossWords.unit in units else f"γ is a {' or a '.join(moved)}")
    if GaussianWords.unit in units:
        words.append("μ is a Gaussian distance, in standard deviations")
    if any(unit.endswith(ERROR_UNIT) for unit in units):
        words.append("the unit of the claim says which error is meant")
    if ScoreWords.unit in units:
        words.append(
            "rows with β give the share of bad random strings, to be compared with the claimed δ"
        )
    told = "; ".join(words)
    # a Greek letter names a number and stays small
    return f"{told[:1].upper()}{told[1:]}." if told[:1].isascii() else f"{told}."
