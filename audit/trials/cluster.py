"""A Dask cluster: somebody's, or one of this machine's processes that is started and ended here.

It is given bytes and answers bytes: no answer is unpickled here.
"""

from __future__ import annotations

import pickle
import queue
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self

from dpassay.errors import ClusterError, TargetError
from dpassay.targets.foreign import Http
from dpassay.trials import cluster_worker
from dpassay.trials.backends import Delegated, Job, Keep
from dpassay.trials.cluster_client import client_of, required
from dpassay.trials.isolation.limits import UNLIMITED, Limits
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.ledger import installed
from dpassay.trials.pool import Question, answers
from dpassay.trials.portable import loaded, portable
from dpassay.trials.tasks import TrialRunner
from dpassay.trials.wire import Garbled, read, unpack
from dpassay.trials.written import INLINE, Outcome

AHEAD = 4
"""Portions of work that are under way for each thread of the cluster."""
LEAST = 16
"""Or so many: an adaptive cluster starts workers when there is work."""
LOOK = 1.0
"""Seconds between two looks whether the cluster is still there, and how large it is."""
PATIENCE = 60.0
"""Seconds that our own workers are given to start."""
HINT = 10.0
"""Seconds after which is said that a cluster has no workers."""
RESUME = (
    "with --out, finished trials and models are in its ledger: go on from there on any executor "
    "(dpassay run with --resume)"
)
DIED = "every worker of the cluster that tried it died"
INSTALL = "install the same dpassay with its extra 'dask' on every worker"


class Cluster:
    """A cluster and what it is working on.

    Without the address of a scheduler it is `jobs` processes of this machine, started when they
    are needed.
    """

    def __init__(self, scheduler: str | None, jobs: int = 1) -> None:
        self._scheduler = scheduler
        self._jobs = jobs
        self._stack = ExitStack()
        self._under_way: dict[str, Question] = {}
        self._came: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._case: tuple[object, Any] | None = None
        self._ahead, self._threads, self._looked = LEAST, 0, 0.0
        self._began, self._hinted = time.monotonic(), False
        self._client: Any = None
        self._found, self._greeted = "", set[str]()
        required()
        if scheduler is not None:
            self._client = self._connected(scheduler)
            self._look()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._under_way.clear()
        self._case = None
        self._stack.close()

    @property
    def ahead(self) -> int:
        """Return how many portions of work may be under way: more where the cluster has grown."""
        if time.monotonic() - self._looked > LOOK:
            self._look()
        return self._ahead

    def case_of(self, target: Any, limits: Limits) -> Any:
        """Return what stands for a target on the workers, or raise `TargetError`."""
        if self._case is None or self._case[0] is not target:
            foreign = isinstance(target, Isolated)
            written = target.hosts.portable() if foreign else portable(target)
            own = target.hosts.limits if foreign else limits
            service = target.address == f"{Http.__module__}:Http" or isinstance(target.given, Http)
            # a scheduler takes code from whoever reaches it
            own = replace(own, network=service)
            self._case = target, self._new_case("target", written, target.name, own)
        return self._case[1]

    def hold(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have something made that work refers to; Dask makes it again where it is lost."""
        import dask

        # of data there may be much
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self._submit(function, *arguments)

    def ask(self, question: Question) -> Question:
        """Ask something of whichever worker is free, and do not wait for the answer."""
        future = question.held = self._submit(question.operation, *question.arguments)
        self._under_way[future.key] = question
        future.add_done_callback(self._came.put)
        return question

    @property
    def under_way(self) -> int:
        """Return how many answers are waited for."""
        return len(self._under_way)

    def abandon(self, questions: Sequence[Question]) -> None:
        """Stop working on something; what a worker has begun it ends."""
        futures = [each.held for each in questions if self._under_way.pop(each.held.key, None)]
        if futures and not self._lost:
            with suppress(Exception):  # the cluster may be lost by now
                self._client.cancel(futures)

    def stop(self, case: Any) -> None:
        """End the processes of a case on every worker, whatever they are doing."""
        if not self._lost:
            with suppress(Exception):
                self._client.run(cluster_worker.stop, case.key, on_error="ignore")

    def in_order(
        self, name: str, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[Any]:
        """Run a function on each item; yield the results in order.

        As `dpassay.trials.pool.in_order`, but the function is sent to the workers.
        """
        case = self._new_case("function", portable(work), name, replace(UNLIMITED, network=False))
        yield from self.mapped(cluster_worker.run_item, case, items)

    def mapped(
        self, function: Callable[..., bytes], case: Any, items: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield what a function of the workers returns for each item, in order."""
        questions = (
            Question(operation=function, arguments=(case, pickle.dumps(item))) for item in items
        )
        try:
            yield from answers(self, questions)
        except BaseException:
            self.stop(case)
            raise

    def _new_case(
        self, kind: cluster_worker.Kind, written: bytes, name: str, limits: Limits
    ) -> Any:
        key = f"dpassay-{uuid.uuid4().hex}"
        return self.hold(
            cluster_worker.Case, key, kind, written, name, limits, installed(), loaded()
        )

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._client is None:
            from dpassay.trials.cluster_local import own_workers

            self._began = time.monotonic()
            self._client = self._connected(self._stack.enter_context(own_workers(self._jobs)))
        if self._lost:
            raise self._gone()
        key = arguments[0] if function is cluster_worker.Case else f"dpassay-{uuid.uuid4().hex}"
        return self._client.submit(function, *arguments, key=key, pure=False)

    def _connected(self, scheduler: Any) -> Any:
        try:
            return self._stack.enter_context(client_of(scheduler))
        except BaseException:
            self._stack.close()
            raise

    def look(self) -> None:
        """Hand on the answers that are there; wait a moment if there are none.

        If the cluster is lost, or its workers are not as they must be, this is a `ClusterError`.
        """
        try:
            came = [self._came.get(timeout=LOOK)]
        except queue.Empty:
            self._check()
            return
        with suppress(queue.Empty):
            while True:
                came.append(self._came.get_nowait())
        try:
            found = [self._under_way[each.key] for each in came if each.key in self._under_way]
            done = [each for each in found if each.held.status == "finished"]
            for question, answer in zip(done, self._answers(done), strict=True):
                self._end(question, answer)
            for question in found:
                if question not in done:
                    self._without_answer(question)
        except BaseException:
            for each in came:  # what was not reached is handed on the next time
                self._came.put(each)
            raise

    def _answers(self, done: list[Question]) -> list[bytes | None]:
        """Return what has been answered; None where there is no answer, or none that is bytes."""
        if not done:
            return []
        try:
            return list(self._client.gather([each.held for each in done]))
        except Exception:  # noqa: BLE001  (Dask raises what the scheduler says)
            if len(done) == 1:
                return [None]
            return [answer for each in done for answer in self._answers([each])]

    def _end(self, question: Question, answer: bytes | None) -> None:
        """Take in what came of something."""
        if answer is None and question.held.status != "finished":
            self._without_answer(question)
            return
        try:
            outcome = read(Outcome, unpack(answer if isinstance(answer, bytes) else b"")[1])
        except Garbled as error:
            outcome = Outcome(cause=f"a worker sent something that is no answer ({error})")
        if self._lost:
            raise self._gone()
        if outcome.differs:
            raise ClusterError(
                f"{self}: {outcome.differs}; install the same on every worker as here"
            )
        del self._under_way[question.held.key]
        question.take(outcome)

    def _without_answer(self, question: Question) -> None:
        """Wait again for an answer that was lost with its worker; end what killed its workers."""
        status = question.held.status
        if self._lost or status == "cancelled":
            raise self._gone()
        if status != "error":
            question.held.add_done_callback(self._came.put)
            return
        error = question.held.exception()
        if type(error).__name__ == "KilledWorker":
            del self._under_way[question.held.key]
            question.cause, question.lost = DIED, True
            return
        said = " ".join(str(error).split())
        raise ClusterError(
            f"{self}: a worker cannot run dpassay ({type(error).__name__}: {said}); {INSTALL}"
        )

    @property
    def _lost(self) -> bool:
        return self._client is None or self._client.status != "running"

    def _gone(self) -> ClusterError:
        return ClusterError(f"{self}: the connection to its scheduler was lost; {RESUME}")

    def _check(self) -> None:
        """Raise if the cluster is lost."""
        cancelled = any(each.held.status == "cancelled" for each in self._under_way.values())
        if self._lost or cancelled:
            raise self._gone()
        self._look()

    def _look(self) -> None:
        """See how large the cluster is, and say if it has no workers."""
        self._looked = time.monotonic()
        if self._lost:
            return
        try:
            threads = self._client.nthreads()
            found = self._client.scheduler_info()["id"]
        except OSError:
            return
        if self._found not in {"", found}:  # one that was started again knows of no work
            raise self._gone()
        self._found = found
        self._greet(threads.keys() - self._greeted)
        self._greeted, self._threads = set(threads), sum(threads.values())
        self._ahead = max(LEAST, AHEAD * self._threads)
        waited = self._looked - self._began
        if self._threads:
            self._began = self._looked
        elif self._scheduler is None and waited > PATIENCE:
            raise ClusterError(f"{self}: no worker has started within {PATIENCE:g} s")
        elif self._scheduler is not None and waited > HINT and not self._hinted:
            self._hinted = True
            sys.stderr.write(f"dpassay: {self}: has no workers; waiting for one\n")

    def _greet(self, new: Collection[str]) -> None:
        """Look whether workers have dpassay: one that has not dies of what it is sent."""
        if not new or self._scheduler is None:
            return
        told: dict[str, Any] = {}
        with suppress(OSError):  # the scheduler may be lost by now
            told = self._client.run(version, "dpassay", workers=list(new), on_error="return")
        for worker, found in sorted(told.items()):
            if isinstance(found, PackageNotFoundError):
                raise ClusterError(f"{self}: worker {worker} has no dpassay; {INSTALL}")

    def __str__(self) -> str:
        return f"Dask cluster '{self._scheduler}'" if self._scheduler else "local Dask cluster"


class Remote(Delegated):
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
