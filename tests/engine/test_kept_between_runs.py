"""What is kept between runs makes luck no finding: a refutation comes again in new processes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks.stateful import SERVICES, bit
from dpassay import DP, Scalars, audit
from dpassay.engine.guards import FIRST, Guards, Place, dispersion
from dpassay.errors import TargetError
from dpassay.stats.bounds import Counts as Seen
from dpassay.stats.lower_bounds import lower_bound
from dpassay.stats.scales import Ratio
from dpassay.trials.blocks import BlockCounts
from dpassay.trials.tasks import Shard
from tests.core.toys import flip_group

pytestmark = pytest.mark.usefixtures("few_pairs")

N, CALLS = 2_000, 16
ONE_NUMBER = Scalars(0, 1, size=1, fixed=True)
GROUP = flip_group(records=2, queries=1)
SIDES: tuple[Place, Place] = ((0, None), (0, 0))


class Drawn:
    """Draws lots as an executor does: the event has probability p on each side. With a pool each
    lot draws from so many answers of its own."""

    seeded = False

    def __init__(self, p1: float, p0: float, seed: int, pool: int = 0) -> None:
        self.p, self.rng, self.lots = {SIDES[0]: p1, SIDES[1]: p0}, np.random.default_rng(seed), 0
        self.pool = pool

    def counts(self, side: Place, size: int) -> BlockCounts:
        calls, p = np.diff(np.linspace(0, size, CALLS + 1).astype(int)), self.p[side]
        if self.pool and self.lots:
            p = self.rng.binomial(self.pool, p) / self.pool
        ones = self.rng.binomial(calls, p)
        return BlockCounts(calls=np.stack([calls - ones, ones], axis=1)[:, None], marks=())

    def afresh(self, shards: Sequence[Shard]) -> Iterator[tuple[BlockCounts, ...]]:
        self.lots += len(shards)
        for shard in shards:
            tasks = [each.task for each in shard]
            yield tuple(self.counts((task.group, task.pair), task.size) for task in tasks)


def refutes(counts: Any, alpha: float = 0.001 / 4) -> bool:
    one, other = (counts[side][0] for side in SIDES)
    seen = Seen(x=int(one[1]), n1=int(one.sum()), y=int(other[1]), n0=int(other.sum()))
    return lower_bound("stouffer", seen, scale=Ratio(), alpha=alpha).value > 1.0


def replayed(loss: float, seed: int, pool: int = 0, n: int = N) -> tuple[bool, int]:
    """Whether n trials refute a claim of 1, and after how many processes the replay does too."""
    p0 = 1 / (1 + math.exp(loss))
    there = Drawn(1 - p0, p0, seed, pool)
    certified = {side: there.counts(side, n) for side in SIDES}
    first = refutes({side: each.calls.sum(axis=0) for side, each in certified.items()}, 0.001)
    screened = {side: each.calls.sum(axis=0) for side, each in certified.items()}
    guards = Guards(
        groups=(GROUP,),
        executor=there,  # type: ignore[arg-type]
        lots=(("certify", n, 0),),
        alarm=1e-6,
        screened=screened,
        certified=certified,
        fresh={},
    )
    guards.confirmed(0, 0, 0, refutes)
    return first, there.lots


def test_what_leaks_is_refuted_again_the_sooner_the_more_it_leaks() -> None:
    assert {replayed(4.0, seed) for seed in range(20)} == {(True, FIRST[0])}
    found = [replayed(1.15, seed) for seed in range(60)]
    assert 20 < sum(first for first, _ in found) < 60, "not even the first is always refuted"
    assert {lots for _, lots in found} == {16, 40, 88}


def test_luck_does_not_come_again() -> None:
    told = r"9,[0-9]{3} fresh trials a side, in 88 new processes"
    for seed in range(20):
        with pytest.raises(TargetError, match=told):
            replayed(1.0, seed)


@pytest.mark.parametrize("seed", [61, 112])
def test_luck_that_each_process_keeps_does_not_come_again(seed: int) -> None:
    """Of 120 seeds these two refuted, were trials of a process taken for independent."""
    with pytest.raises(TargetError, match="did not come out again"):
        replayed(1.0, seed, pool=50)


def test_trials_of_a_process_count_as_much_as_they_tell() -> None:
    rng = np.random.default_rng(0)
    p = [rng.binomial(50, 0.3, 400) / 50, np.full(400, 0.3)]
    ones = [rng.binomial(100, each) for each in p]
    lots = [[np.array([[[100 - x, x, 0]]]) for x in each] for each in ones]
    # 100 draws from a pool of 50 answers vary 1 + 99/50 times as much; .3 is 4 standard errors
    found = [dispersion({(0, None): each}, 0) for each in lots]
    assert found == pytest.approx([3 - 1 / 50, 1], rel=0.3)


@pytest.mark.parametrize("name", ["pool of 50 bits", "every bit forty times"])
def test_a_service_that_keeps_its_answers_is_never_refuted(name: str) -> None:
    """Each answer is at its claim; certified alone these were refuted at 99.9 %."""
    make, _ = SERVICES[name]
    random.seed(1)
    result = audit(make(), claim=DP(epsilon=1.0), data=ONE_NUMBER, seed=1, budget=1_000)
    assert result.verdict == "error"
    assert "rng" in result.outcome.reason


def test_its_honest_twin_is_not() -> None:
    result = audit(bit, claim=DP(epsilon=1.0), data=ONE_NUMBER, seed=1, budget=1_000)
    assert result.verdict == "not refuted"
