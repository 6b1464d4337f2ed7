"""Our bounds beside published ones.

Clopper-Pearson limits of the same counts, by us and by statsmodels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.claims import claim_from_json
from dpassay.reports.run.kinds import words_of
from dpassay.reports.shared.numbers import below, clean, count, plural
from dpassay.reports.shared.tables import Table
from dpassay.stats.methods import method_name

Raw = Mapping[str, Any]
Limits = tuple[float, float]

SHOWN = 20
"""Rows of the table."""
SAME = 1e-9
"""Two limits agree that differ by no more than this part of the larger one."""


def published_table(results: Sequence[Raw]) -> Table | None:
    """Compare the headline cell of each sampled result with Clopper-Pearson bounds of its counts.

    The limit of p on S is taken from below and that of p on S' from above, each at half of the
    cell's error probability, so that both hold together (Bonferroni) at that of our bound. The
    proportion of bad random strings has one limit only, at all of it.

    Parameters
    ----------
    results : sequence of mapping
        Of a record.

    Returns
    -------
    Table or None
        None where no result was made from counts. Only then is statsmodels not imported, which
        takes a second.
    """
    cells = [(result, cell) for result in results if (cell := _headline(result)) is not None]
    if not cells:
        return None
    rows, worst = [], 0.0
    for result, cell in cells:
        ours, theirs = _limits(result, cell), _statsmodels_limits(result, cell)
        worst = max(
            worst, *(abs(a - b) / max(a, b, 1e-300) for a, b in zip(ours, theirs, strict=True))
        )
        rows.append(_row(result, cell, ours, theirs))
    agreed = "agree to 9 digits" if worst <= SAME else f"differ by up to {worst:.1g} of their value"
    more = f"; the first {SHOWN} are shown" if len(rows) > SHOWN else ""
    return Table(
        caption=(
            "Certified lower bounds of sampled results, beside Clopper–Pearson bounds from the "
            "same counts at the same error probability: by our code, and by statsmodels "
            f"(proportion_confint, method 'beta'). The limits of the two {agreed} "
            f"({plural(len(rows), 'result')} compared{more})"
        ),
        columns=(
            *("result", "on S", "on S'", "error probability", "certified", "its test"),
            *("Clopper–Pearson", "Clopper–Pearson (statsmodels)"),
        ),
        numeric=(False, True, True, True, True, False, True, True),
        rows=tuple(rows[:SHOWN]),
    )


def _headline(result: Raw) -> Raw | None:
    """Return the sampled cell with the largest certified bound; None where nothing was counted."""
    if result["mode"] != "monte-carlo" or result["verdict"] == "error":
        return None
    counted = [cell for cell in result["per_query"] if cell["counts"] is not None]
    return max(counted, key=lambda cell: float(cell["lower"]), default=None)


def _row(result: Raw, cell: Raw, ours: Limits, theirs: Limits) -> tuple[str, ...]:
    counts, claimed = cell["counts"], words_of(result["claim"]).promised
    return (
        clean(result["id"]),
        f"{count(counts['x'])} of {count(counts['n1'])}",
        f"{count(counts['y'])} of {count(counts['n0'])}",
        f"{cell['alpha']:.3g}",
        below(float(cell["lower"]), claimed),
        method_name(cell["method"]),
        *(below(_leak(result, limits), claimed) for limits in (ours, theirs)),
    )


def _leak(result: Raw, limits: Limits) -> float:
    """Return the leak that two limits make certain, in the units of the claim."""
    from dpassay.stats.scales import scale_of

    claim = claim_from_json(dict(result["claim"]), result["expected"])
    if _single(result):
        return limits[0]
    return max(0.0, float(scale_of(claim).between(*limits)))


def _single(result: Raw) -> bool:
    """Whether the claim is about one proportion, not about two."""
    return words_of(result["claim"]).strings


def _limits(result: Raw, cell: Raw) -> Limits:
    from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper

    alpha, counts = float(cell["alpha"]), cell["counts"]
    if _single(result):
        return float(clopper_pearson_lower(counts["x"], counts["n1"], alpha)), 1.0
    lower = clopper_pearson_lower(counts["x"], counts["n1"], alpha / 2)
    return float(lower), float(clopper_pearson_upper(counts["y"], counts["n0"], alpha / 2))


def _statsmodels_limits(result: Raw, cell: Raw) -> Limits:
    from statsmodels.stats.proportion import proportion_confint

    # its alpha is that of both ends of an interval
    alpha, counts = float(cell["alpha"]), cell["counts"]
    if _single(result):
        return float(
            proportion_confint(counts["x"], counts["n1"], alpha=2 * alpha, method="beta")[0]
        ), 1.0
    lower, _ = proportion_confint(counts["x"], counts["n1"], alpha=alpha, method="beta")
    _, upper = proportion_confint(counts["y"], counts["n0"], alpha=alpha, method="beta")
    return float(lower), float(upper)
