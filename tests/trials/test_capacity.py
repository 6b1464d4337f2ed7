"""docs/scale.md: what is reckoned and simulated follows from docs/capacity.json."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks import capacity
from benchmarks.scheduler import SHARDS, Cluster, cases, simulated

DOCS = Path(__file__).parents[2] / "docs"
FACTS = json.loads((DOCS / "capacity.json").read_text(encoding="utf-8"))
FREE = Cluster(workers=7, work=2.0, submit=0.0, take=0.0, schedule=0.0, ahead=28)


def test_the_section_is_written_from_the_figures() -> None:
    page = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert page.endswith(capacity.section(FACTS))


@pytest.mark.parametrize("name", ["both, a loss every hour", "the same, the window in order"])
def test_a_simulation_comes_out_again(name: str) -> None:
    found = simulated(cases(capacity.cluster_of(FACTS))[name], SHARDS)
    assert found.again == FACTS["simulated"][name]["again"]
    assert (found.again > 0) == ("loss" in name)
    assert found.seconds == pytest.approx(FACTS["simulated"][name]["seconds"], abs=1e-3)


@pytest.mark.parametrize("shards", [1, 7, 8, 100])
def test_without_overhead_workers_go_in_step(shards: int) -> None:
    assert simulated(FREE, shards).seconds == pytest.approx(2.0 * math.ceil(shards / 7))
