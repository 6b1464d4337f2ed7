"""Trials on the workers of a Dask cluster: the same shards, the same answers as `Local`'s."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from dpassay.errors import InvalidInput, TargetError
from dpassay.trials import cluster_worker
from dpassay.trials.blocks import Counts
from dpassay.trials.cluster import Asked, Cluster
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.processes import Keep, forget, twice
from dpassay.trials.tasks import Shard, ShardResult, TrialRunner
from dpassay.trials.wire import Garbled
from dpassay.trials.written import INLINE, Outcome, shard_result_from

DIED = "every worker of the cluster that tried it died"
GARBLED = "a worker sent counts that are none"


@dataclass(slots=True, eq=False)
class Receipt:
    """A shard that the cluster works on, and what came of it."""

    shard: Shard
    keep: Keep
    asked: Asked | None = None
    done: ShardResult | None = None


class Remote:
    """Runs shards on a cluster.

    A worker that is lost costs a rerun. A shard that loses one worker after the other is tried
    again piece by piece, then reported.
    """

    def __init__(self, cluster: Cluster, runner: TrialRunner, keep: Keep, limits: Limits) -> None:
        target = runner.target
        self._cluster = cluster
        self._brief = runner.brief
        self._part = target.part if isinstance(target, Isolated) else None
        self._keep = keep
        self._abandoned = self._closed = False
        self._case = cluster.case_of(target, limits)
        try:
            written = pickle.dumps(runner.brief, protocol=5)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise TargetError(
                f"its data cannot be sent to a worker ({' '.join(str(error).split())}); {INLINE}"
            ) from None
        self._sent = cluster.hold(cluster_worker.brief_from, written)

    @property
    def ahead(self) -> int:
        """More where the cluster is larger."""
        return self._cluster.ahead

    def start(self, shard: Shard) -> Receipt:
        """Take a shard."""
        return self._started(shard, self._keep)

    def finish(self, receipt: Receipt) -> ShardResult:
        """Wait for a shard; pieces of one whose workers died are tried once more, one by one."""
        if self._wait(receipt):
            assert receipt.done is not None
            return receipt.done
        counts: list[Counts] = []
        for piece in receipt.shard:
            one = self._started((piece,), receipt.keep)
            if not self._wait(one):
                failure = twice(DIED, self._brief, one.shard), ""
                return ShardResult(counts=tuple(counts), failure=failure)
            assert one.done is not None
            counts += one.done.counts
            if one.done.failure is not None:
                return ShardResult(counts=tuple(counts), failure=one.done.failure)
        return ShardResult(counts=tuple(counts))

    @property
    def under_way(self) -> int:
        """Return how many answers are waited for."""
        return self._cluster.under_way

    def look(self) -> None:
        """Wait a moment for any answer."""
        self._cluster.take()

    def ended(self, receipt: Receipt) -> bool:
        """Return whether an answer to a shard, or the news that there is none, has come."""
        return receipt.asked is None or receipt.asked.ended

    def abandon(self, receipt: Receipt) -> None:
        """Stop working on a shard."""
        if receipt.asked is not None and not receipt.asked.ended:
            self._abandoned = True
            self._cluster.cancel([receipt.asked])

    def afresh(self, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Yield what comes of each shard, in a process that has done nothing else."""
        at_work: deque[Receipt] = deque()
        try:
            for shard in shards:
                at_work.append(self._started(shard, forget, fresh=True))
                if len(at_work) >= self.ahead:
                    yield self.finish(at_work.popleft())
            while at_work:
                yield self.finish(at_work.popleft())
        finally:
            for receipt in at_work:
                self.abandon(receipt)

    def close(self) -> None:
        """Let go of what the workers hold."""
        if self._abandoned:
            self._cluster.stop(self._case)
        self._case = self._sent = None
        self._closed = True

    def _started(self, shard: Shard, keep: Keep, *, fresh: bool = False) -> Receipt:
        receipt = Receipt(shard, keep)
        receipt.asked = self._cluster.ask(
            cluster_worker.run_shard,
            self._case,
            self._sent,
            pickle.dumps((shard, self._part, fresh), protocol=5),
            arrived=partial(self._take, receipt),
        )
        return receipt

    def _wait(self, receipt: Receipt) -> bool:
        """Wait for a shard; return whether there is an answer."""
        assert receipt.asked is not None
        self._cluster.wait(receipt.asked)
        return receipt.done is not None

    def _take(self, receipt: Receipt, told: Outcome) -> None:
        """Read what came of a shard; of one that was left when this ended, nothing."""
        if self._closed:
            return
        try:
            receipt.done = shard_result_from(told.result(), self._brief, receipt.shard)
        except TargetError as error:
            receipt.done = ShardResult(counts=(), failure=(error.cause, error.detail))
        except (InvalidInput, Garbled) as error:
            receipt.done = ShardResult(counts=(), failure=(f"{GARBLED} ({error})", ""))
        else:
            receipt.keep(receipt.shard, receipt.done)
