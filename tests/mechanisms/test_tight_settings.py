"""At tight settings a claim that is not refuted is never called exceeded, however one rounds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record.run_record import make_record
from dpassay.reports.run.view import make_view
from dpassay.targets.catalogue import CATALOGUE
from dpassay.targets.resolve import accepts, resolve

EPSILONS = (0.1, 1 / 3, 0.7, 1.3, 5.0)

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "soft-majority": {"epsilon": EPSILONS, "r": (1, 2, 25)},
    "soft-majority-overview": {"epsilon": EPSILONS, "r": (1, 2, 25)},
    "projected-walk": {"epsilon": EPSILONS, "T": (2, 3, 20)},
    "projected-walk-overview": {"epsilon": EPSILONS, "alpha": (0.05, 0.1, 0.3)},
    "averaged": {"r": (1, 3, 7, 33)},
    "stable-laplace": {"epsilon": EPSILONS, "r": (1, 7, 25)},
    "stable-gaussian": {"epsilon": EPSILONS, "r": (3, 25), "delta": (1e-5, 1e-2)},
    "noisy-average": {"epsilon": EPSILONS, "r": (1, 7, 25)},
    "noisy-average-number": {"epsilon": EPSILONS, "r": (1, 7, 25)},
    "erm-laplace": {"epsilon": EPSILONS, "n": (3, 100)},
    "psgd-laplace": {"epsilon": EPSILONS, "n": (3, 7)},
    "interface": {"epsilon": EPSILONS, "m": (1, 3)},
    "group": {"epsilon": EPSILONS, "k": (2, 3, 5)},
    "stable-learner": {"gamma": (0.05, 0.1, 0.3)},
    "subsampled": {"epsilon": (0.3, 0.5, 0.9), "eta": (0.05, 0.2)},
    "bagged": {"r": (1, 3, 7, 25)},
    "label-flip": {"epsilon": (0.5, 1.0), "alpha": (0.1, 0.2)},
    "exponential": {"epsilon": EPSILONS, "points": (3, 10, 61)},
    "histogram": {"alpha": EPSILONS, "n": (40, 400)},
    "pate": {"gamma": EPSILONS, "r": (3, 25), "K": (2, 3)},
    "pate-data-dependent": {"gamma": (0.1, 0.5, 1.0)},
    "pate-gaussian": {"sigma": (1.0, 4.0, 10.0), "r": (5, 25)},
    "private-knn": {"gamma": EPSILONS, "k": (3, 25)},
    "distance-to-instability": {"epsilon": EPSILONS, "r": (3, 25)},
}
"""Parameters that claims are tight at, of entries that know their worst case of any size. One
without a grid is looked at over epsilon, or as it is."""

SLANDERED = {
    "exponential": {"epsilon": 0.5, "points": 61},
    "projected-walk-overview": {"epsilon": 1.0, "alpha": 0.05},
    "noisy-average": {"epsilon": 1.3, "r": 25},
    "erm-laplace": {"epsilon": 0.7, "n": 3},
    "psgd-laplace": {"epsilon": 1 / 3, "n": 7},
    "histogram": {"alpha": 1 / 3, "n": 400},
}
"""One setting each at which a correct claim was called exceeded."""


def settings_of(name: str) -> Iterator[dict[str, Any]]:
    grid = GRIDS.get(name) or ({"epsilon": EPSILONS} if accepts(name, "epsilon") else {})
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def slandered(name: str, parameters: dict[str, Any]) -> list[str]:
    """Results whose report has an excess beside 'not refuted', or a number above the claim."""
    results = list(assay([resolve(name, parameters)], None, Settings(mode="exact")))
    facts: dict[str, Any] = {"seed": 0, "profile": "default", "command": "dpassay run"}
    facts |= {"catalogue": True, "complete": True, "data": None, "budget": 1000, "commit": None}
    record = make_record({"confidence": 0.999, **facts}, results)
    wrong = []
    for raw, shown in zip(
        record["results"],
        sorted(make_view(record).results, key=lambda each: each.place),
        strict=True,
    ):
        assert raw["verdict"] in ("refuted", "not refuted"), (name, parameters, raw["reason"])
        low, high = (raw["exact"] + sign * raw["error"] for sign in (-1, 1))
        assert low <= raw["upper"]
        assert high >= raw["lower"]
        if raw["verdict"] == "refuted":
            continue
        finding = shown.finding
        if raw["claim"]["kind"] != "ScoreStability":
            claimed = float(shown.claim.partition(", δ")[0].removeprefix("γ = "))
            numbers = [shown.lower, shown.top.removeprefix("= ").removeprefix("≥ ")]
            numbers += [] if finding is None else [finding.true.removeprefix("≥ ")]
            if any(float(each) > claimed for each in numbers):
                wrong.append(f"{shown.id} at {parameters}: {numbers} above {shown.claim}")
        if finding is not None and (
            finding.kind == "exceeded" or float(finding.factor.removeprefix("≥ ").split()[0]) > 1
        ):
            wrong.append(f"{shown.id} at {parameters}: {finding.kind}, {finding.factor}")
    return wrong


@pytest.mark.parametrize("name", SLANDERED)
def test_a_correct_theorem_is_not_called_exceeded(name: str) -> None:
    assert slandered(name, SLANDERED[name]) == []


@pytest.mark.slow
def test_no_tight_setting_of_the_catalogue_is_called_exceeded() -> None:
    known = [name for name in CATALOGUE if resolve(name).has_reachable]
    assert set(GRIDS) <= set(known)
    assert [
        each
        for name in known
        for parameters in settings_of(name)
        for each in slandered(name, parameters)
    ] == []
