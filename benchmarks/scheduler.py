"""A simulation of a large run: one deciding process, one scheduler, many workers that fail.

It is of what `dpassay.trials.executors` does with shards. The deciding process submits them in
their order, at most `ahead` beyond the first that has not come back, and takes results one by one;
the scheduler hands them to free workers. A worker may be lost in the middle of a shard, which is
then noticed and run again; some shards take several times as long as the others.

`python -m benchmarks.scheduler` prints a table.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a run is done with, and what happens to it; times in seconds.

    Parameters
    ----------
    workers : int
    work : float
        Of a shard, on a worker that is neither slow nor lost.
    submit, take : float
        Of the deciding process, for each shard: until it is sent, and for its result.
    schedule : float
        Of the scheduler, for each shard.
    ahead : int
        Shards that are submitted beyond the oldest that has not come back (`in_order`), or that
        have not come back (else).
    in_order : bool
        What `ahead` counts.
    slow, times : float
        A share of the shards takes so many times as long.
    lost_every : float
        Mean time between two losses of one worker; inf without any.
    noticed, back : float
        After which a loss is noticed, and the worker is replaced.
    """

    workers: int = 1000
    work: float = 10.0
    submit: float = 0.002
    take: float = 0.002
    schedule: float = 0.001
    ahead: int = 4000
    in_order: bool = False
    slow: float = 0.0
    times: float = 10.0
    lost_every: float = math.inf
    noticed: float = 30.0
    back: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run went.

    Parameters
    ----------
    seconds : float
        From the first submission to the last result.
    efficiency : float
        Useful work over workers times seconds, in [0, 1].
    deciding, scheduling : float
        Share of the time in which the deciding process, or the scheduler, was busy.
    again : int
        Shards that were run again.
    """

    seconds: float
    efficiency: float
    deciding: float
    scheduling: float
    again: int


class Simulation:
    """Runs `shards` on a cluster, event by event."""

    def __init__(self, cluster: Cluster, shards: int, seed: int = 0) -> None:
        self.cluster, self.shards = cluster, shards
        self.now = self.deciding = self.scheduling = 0.0
        self.again = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._rng = np.random.default_rng(seed)
        slow = self._rng.random(shards) < cluster.slow
        self._length = np.where(slow, cluster.times, 1.0) * cluster.work
        self._next = self._back = self._first = 0
        self._came = np.zeros(shards, dtype=bool)
        self._results: deque[int] = deque()
        self._sent: deque[int] = deque()
        self._ready: deque[int] = deque()
        self._free = cluster.workers
        self._decider_busy = self._scheduler_busy = False

    def run(self) -> Outcome:
        """Return how it went."""
        self._decide()
        while self._events:
            self.now, _, happens = heapq.heappop(self._events)
            happens()
        useful = float(self._length.sum())
        return Outcome(
            seconds=self.now,
            efficiency=useful / (self.cluster.workers * self.now),
            deciding=self.deciding / self.now,
            scheduling=self.scheduling / self.now,
            again=self.again,
        )

    def _after(self, seconds: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), happens))

    def _decide(self) -> None:
        """Take a result, else submit a shard, if the deciding process is idle."""
        if self._decider_busy:
            return
        if self._results:
            self._decider_busy = True
            shard = self._results.popleft()
            self.deciding += self.cluster.take
            self._after(self.cluster.take, partial(self._taken, shard))
        elif self._next < self.shards and self._under_way() < self.cluster.ahead:
            self._decider_busy = True
            shard, self._next = self._next, self._next + 1
            self.deciding += self.cluster.submit
            self._after(self.cluster.submit, partial(self._submitted, shard))

    def _under_way(self) -> int:
        return self._next - (self._first if self.cluster.in_order else self._back)

    def _taken(self, shard: int) -> None:
        self._decider_busy = False
        self._came[shard], self._back = True, self._back + 1
        while self._first < self.shards and self._came[self._first]:
            self._first += 1
        self._decide()

    def _submitted(self, shard: int) -> None:
        self._decider_busy = False
        self._sent.append(shard)
        self._schedule()
        self._decide()

    def _schedule(self) -> None:
        if self._sent and not self._scheduler_busy:
            self._scheduler_busy = True
            shard = self._sent.popleft()
            self.scheduling += self.cluster.schedule
            self._after(self.cluster.schedule, partial(self._scheduled, shard))

    def _scheduled(self, shard: int) -> None:
        self._scheduler_busy = False
        self._ready.append(shard)
        self._hand_out()
        self._schedule()

    def _hand_out(self) -> None:
        while self._ready and self._free:
            self._free -= 1
            shard = self._ready.popleft()
            length, lost = float(self._length[shard]), self._loss()
            if lost < length:
                self._after(lost + self.cluster.noticed, partial(self._lost, shard))
                self._after(lost + self.cluster.back, self._replaced)
            else:
                self._after(length, partial(self._done, shard))

    def _loss(self) -> float:
        """Return when the worker that begins a shard is lost: its losses have no memory."""
        every = self.cluster.lost_every
        return math.inf if math.isinf(every) else float(self._rng.exponential(every))

    def _lost(self, shard: int) -> None:
        self.again += 1
        self._sent.appendleft(shard)
        self._schedule()

    def _replaced(self) -> None:
        self._free += 1
        self._hand_out()

    def _done(self, shard: int) -> None:
        self._free += 1
        self._results.append(shard)
        self._decide()
        self._hand_out()


def simulated(cluster: Cluster, shards: int, seed: int = 0) -> Outcome:
    """Return how a run of so many shards went."""
    return Simulation(cluster, shards, seed).run()


SHARDS = 40_000
"""Of a simulated run: forty for each of a thousand workers."""
HOUR = 3600.0


def cases(cluster: Cluster) -> dict[str, Cluster]:
    """Return what is simulated with a thousand workers and the measured overheads of a cluster."""
    stragglers = replace(cluster, slow=0.01, times=10.0)
    return {
        "nothing happens": cluster,
        "1 % of the shards take 10 times as long": stragglers,
        "the same, the window in order": replace(stragglers, in_order=True),
        "a worker is lost every 10 hours": replace(cluster, lost_every=10 * HOUR),
        "both": replace(stragglers, lost_every=10 * HOUR),
        "both, a loss every hour": replace(stragglers, lost_every=HOUR),
        "shards of 1 s": replace(cluster, work=1.0),
    }


def main() -> None:
    """Print how the cases go."""
    print("| case | seconds | efficiency | deciding | scheduling | again |")
    print("|---|---|---|---|---|---|")
    for name, cluster in cases(Cluster()).items():
        found = simulated(cluster, SHARDS)
        print(
            f"| {name} | {found.seconds:,.0f} | {found.efficiency:.2f} | {found.deciding:.2f} | "
            f"{found.scheduling:.2f} | {found.again:,} |"
        )


if __name__ == "__main__":
    main()
