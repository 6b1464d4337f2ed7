"""docs/scale.md: what is reckoned and simulated follows from docs/capacity.json."""

from __future__ import annotations

import json
import math
from dataclasses import replace
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


def test_one_of_the_simulations_comes_out_again() -> None:
    name = "both, a loss every hour"
    found = simulated(cases(capacity.cluster_of(FACTS))[name], SHARDS)
    assert found.again == FACTS["simulated"][name]["again"] > 0
    assert found.seconds == pytest.approx(FACTS["simulated"][name]["seconds"], abs=1e-3)


@pytest.mark.parametrize("shards", [1, 7, 8, 100])
def test_without_overhead_workers_go_in_step(shards: int) -> None:
    assert simulated(FREE, shards).seconds == pytest.approx(2.0 * math.ceil(shards / 7))


def test_shards_too_short_keep_the_deciding_process_busy() -> None:
    found = simulated(replace(FREE, submit=0.5, take=0.5, work=1e-3), 200)
    assert found.seconds == pytest.approx(200, rel=0.01)
    assert found.deciding == pytest.approx(1, abs=0.01)


def test_every_shard_comes_back_whatever_is_lost() -> None:
    cluster = replace(FREE, lost_every=20.0, noticed=3.0, back=5.0, slow=0.1)
    found = simulated(cluster, 300, seed=3)
    assert found.again > 10
    assert 0 < found.efficiency < simulated(replace(cluster, lost_every=math.inf), 300).efficiency


def test_a_window_in_order_waits_for_the_slow() -> None:
    cluster = replace(FREE, slow=0.05, times=20.0)
    counted, ordered = (simulated(replace(cluster, in_order=x), 1000) for x in (False, True))
    assert counted.seconds < ordered.seconds
