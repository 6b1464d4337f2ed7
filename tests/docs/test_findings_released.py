"""docs/findings.md on what is made of released weights: every number recomputed."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.mechanisms.output_perturbation import OutputPerturbation
from dpassay.pairs import FlipLabel
from dpassay.targets import resolve
from tests.docs.test_findings import PAGE

SECTION = PAGE.split("\n## What is made of released weights\n")[1].split("\n## ")[0]
RELEASES = ("vector", "prediction", "auc", "index")
ROWS = re.findall(
    r"^\| ([a-z-]+) \| ([13]) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+|–) \|$", SECTION, re.MULTILINE
)


def test_the_page_has_its_rows() -> None:
    assert len(ROWS) == 12


@pytest.mark.slow
@pytest.mark.parametrize(("name", "d", "claimed", "certified"), [(row[0], row[1], row[2], row[3:]) for row in ROWS])
def test_certified(name: str, d: str, claimed: str, certified: tuple[str, ...]) -> None:
    for release, said in zip(RELEASES, certified, strict=True):
        if said == "–":
            continue
        parameters = {"m": 10, "base": f"output-perturbation,loss=huber,lambdas=0.1;1,d={d}", "release": release}
        if "perturbation" in name:
            parameters = {"loss": "huber", "d": int(d), "n": 400, "m": 0, "release": release}
        mechanism = resolve(name, parameters).mechanism
        claim = next(each for each in mechanism.claims if isinstance(each, DP))
        result = audit(mechanism, claim=claim, mode="monte-carlo")
        assert f"{claim.epsilon:.2f}" == claimed
        assert f"{result.lower:.2f}" == said, release
        assert result.verdict in ("not refuted", "inconclusive")


@pytest.mark.slow
def test_a_corner_leaks_more_than_half_spaces() -> None:
    parameters = {"m": 10, "base": "output-perturbation,loss=huber,lambdas=0.1;1,d=3"}
    losses = []
    for release in ("auc", "vector"):
        mechanism: Any = resolve("random-choice", parameters | {"release": release}).mechanism
        one = Labelled(np.ones((12, 3)), np.array([1, 0, *[1] * 10]))  # two records of T of unlike labels, ten of V
        draws = [
            mechanism.sample(mechanism.prepare(data), one.X[:1], 100_000, np.random.default_rng(1))[:, 0]
            for data in (one, FlipLabel(0).apply(one))
        ]
        thresholds = np.quantile(draws[0], np.linspace(0.02, 0.98, 97)) if release == "vector" else [0.1, 0.9]
        above = np.array([[(side > t).mean() for t in thresholds] for side in draws])
        losses.append(max(np.abs(np.log(each[0] / each[1])).max() for each in (above, 1 - above)))
    assert losses[0] > losses[1] + 0.05


def test_prediction_on_the_line_by_hand() -> None:
    loss = math.log(2 * math.exp(0.5) - 1)
    assert f"{math.exp(-0.5) / 2:.4f}" == "0.3033"
    assert f"{loss:.3f}" == "0.832"
    assert "e^(−1/2)/2 = 0.3033" in SECTION
    assert "ln(2e^(1/2) − 1) = 0.832" in SECTION
    mechanism = OutputPerturbation(n=400, m=0, loss="huber", release="prediction")
    assert audit(mechanism, mode="exact").exact == pytest.approx(loss, abs=1e-6)
