"""Trials on the workers of a Dask cluster: the same shards, the same answers as `Local`'s."""

from __future__ import annotations

import pickle
from typing import Any

from dpassay.errors import TargetError
from dpassay.trials import cluster_worker
from dpassay.trials.backends import Elsewhere, Job, Keep
from dpassay.trials.cluster import Cluster
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.pool import Question
from dpassay.trials.tasks import TrialRunner
from dpassay.trials.written import INLINE


class Remote(Elsewhere):
    """Has shards run by a cluster.

    A worker that is lost costs a rerun. Workers try a shard twice by themselves; one that loses one
    worker after the other is tried again piece by piece, then reported.
    """

    final = True

    def __init__(self, cluster: Cluster, runner: TrialRunner, keep: Keep, limits: Limits) -> None:
        super().__init__(cluster, runner.brief, keep)
        target = runner.target
        self._part = target.part if isinstance(target, Isolated) else None
        self._abandoned = False
        self._case: Any = cluster.case_of(target, limits)
        try:
            written = pickle.dumps(runner.brief, protocol=5)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise TargetError(
                f"its data cannot be sent to a worker ({' '.join(str(error).split())}); {INLINE}"
            ) from None
        self._sent: Any = cluster.hold(cluster_worker.brief_from, written)

    def _question(self, job: Job) -> Question:
        message = pickle.dumps((job.shard, self._part, job.fresh), protocol=5)
        return Question(
            operation=cluster_worker.run_shard, arguments=(self._case, self._sent, message)
        )

    def abandon(self, job: Job) -> None:
        """Stop working on a shard."""
        self._abandoned |= not self.ended(job)
        super().abandon(job)

    def close(self) -> None:
        """Let go of what the workers hold."""
        self._closed = True
        if self._abandoned:
            self._asks.stop(self._case)
        self._case = self._sent = None
