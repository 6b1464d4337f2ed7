"""A Dask cluster: somebody's, or threads of this process that each ask a process for its answers.

It is given bytes and answers bytes: no answer is unpickled here. A worker imports nothing of the
user's: our processes there run the user's code, and it passes on their answers.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import pickle
import queue
import sys
import threading
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, Self

from dpassay.claims import Claim
from dpassay.errors import ClusterError, InvalidInput, TargetError
from dpassay.targets.foreign import Http
from dpassay.trials.backends import Delegated, Job, Keep, Local, Question, answers, forget
from dpassay.trials.isolation.host import Host, Hosts, LostProcess, asked
from dpassay.trials.isolation.limits import UNLIMITED, Limits, Lost
from dpassay.trials.isolation.target import Isolated, MechanismServer, Server
from dpassay.trials.ledger import PACKAGES, installed
from dpassay.trials.portable import loaded, portable
from dpassay.trials.portable import read as unpickled
from dpassay.trials.tasks import Shard, ShardBrief, TrialRunner
from dpassay.trials.wire import Garbled, pack, read, unpack
from dpassay.trials.written import ANSWERS, INLINE, Outcome, outcome_of

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
EXTRA = "pip install 'dpassay[dask]'"
CONNECT = 10.0
"""Seconds for a scheduler to answer."""
INSTALL = "install the same dpassay with its extra 'dask' on every worker"
BUILD = 60.0
"""Seconds that building a mechanism may take at least: what it needs is imported then."""


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

    def __exit__(self, *_: object) -> None:
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
                self._client.run(stop, case.key, on_error="ignore")

    def in_order(
        self, name: str, work: Callable[[Any], Any], items: Iterable[Any]
    ) -> Iterator[Any]:
        """Run a function on each item; yield the results in order.

        As `dpassay.trials.backends.in_order`, but the function is sent to the workers.
        """
        case = self._new_case("function", portable(work), name, replace(UNLIMITED, network=False))
        yield from self.mapped(run_item, case, items)

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
        self, kind: Literal["target", "function"], written: bytes, name: str, limits: Limits
    ) -> Any:
        key = f"dpassay-{uuid.uuid4().hex}"
        return self.hold(Case, key, kind, written, name, limits, installed(), loaded())

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._client is None:
            from dpassay.trials.cluster_local import own_workers

            self._began = time.monotonic()
            self._client = self._connected(self._stack.enter_context(own_workers(self._jobs)))
        if self._lost:
            raise self._gone()
        key = arguments[0] if function is Case else f"dpassay-{uuid.uuid4().hex}"
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
        self._sent: Any = cluster.hold(brief_from, written)

    def _job(self, shard: Shard, keep: Keep, fresh: bool) -> Job:
        message = pickle.dumps((shard, self._part, fresh), protocol=5)
        arguments = self._case, self._sent, message
        return Job(operation=run_shard, arguments=arguments, fresh=fresh, shard=shard, keep=keep)

    def abandon(self, job: Job) -> None:
        """Stop working on a shard."""
        self._abandoned |= not job.ended
        super().abandon(job)

    def close(self) -> None:
        """Let go of what the workers hold."""
        self._closed = True
        if self._abandoned:
            self._asks.stop(self._case)
        self._case = self._sent = None


def required() -> Any:
    """Return the library, or say that it is not installed."""
    try:
        import distributed
    except ImportError as error:
        raise InvalidInput(
            f"executor = 'dask': requires the extra 'dask' ({error}); {EXTRA}"
        ) from None
    return distributed


@contextmanager
def client_of(scheduler: Any) -> Iterator[Any]:
    """Open a client, to an address or our own cluster, that unpickles only Dask's own objects."""
    distributed = required()
    logged = [(each, each.level) for each in logging.getLogger("distributed").handlers]
    for handler, _ in logged:  # what matters is told in one line
        handler.setLevel(logging.CRITICAL + 1)
    try:
        try:
            if isinstance(scheduler, str):
                _check(scheduler)
            with warnings.catch_warnings():
                # of other versions; those that matter are told of in one line
                warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
                client = distributed.Client(
                    scheduler,
                    timeout=CONNECT,
                    set_as_default=False,
                    deserializers=["dask", "msgpack"],
                )
        except (OSError, ValueError, TypeError, ImportError) as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise InvalidInput(
                f"scheduler = '{scheduler}': no Dask scheduler answers there ({said})"
            ) from None
        with client:
            yield client
    finally:
        for handler, level in logged:
            handler.setLevel(level)


def _check(address: str) -> None:
    """Ask whoever is at an address what it is, and raise if it is no scheduler.

    A client would wait for ever for one that takes a connection and says nothing, and leave a
    traceback where there can be no connection.
    """
    found: Future[dict[str, Any]] = Future()

    async def identity() -> dict[str, Any]:
        distributed = required()
        secure = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, timeout=CONNECT, connection_args=secure) as asked:
            told: dict[str, Any] = await asked.identity()
            return told

    def ask() -> None:
        try:
            found.set_result(asyncio.run(asyncio.wait_for(identity(), CONNECT)))
        except BaseException as error:  # noqa: BLE001  (told in the thread that waits)
            found.set_exception(error)

    # of its own: in a notebook this thread has a loop already, and Ctrl-C shall not wait
    threading.Thread(target=ask, daemon=True).start()
    try:
        kind = found.result().get("type")
    except TimeoutError as error:
        raise OSError(str(error) or f"nothing was said within {CONNECT:g} s") from None
    if kind != "Scheduler":
        raise ValueError(f"it is a {kind}")


class Case:
    """Code that a cluster runs.

    Each thread of a worker has a process of ours for it.

    Dask holds one in every worker that runs it, makes it anew where it is lost, and drops it
    when the client lets go of it or is gone: the processes end then.

    `written` is an `AuditTarget` or a function of one item, by `dpassay.trials.portable`;
    `known` is what is installed on the client, `modules` what it has loaded.
    """

    def __init__(
        self,
        key: str,
        kind: Literal["target", "function"],
        written: bytes,
        name: str,
        limits: Limits,
        known: tuple[str, ...],
        modules: tuple[str, ...],
    ) -> None:
        self._given = (key, kind, written, name, limits, known, modules)
        self._hosts: dict[int, Hosts] = {}
        self.stopped = key in _ended
        self.differs = difference(known, installed())
        _cases[key] = self

    def hosts(self) -> Hosts:
        """Return the one process of this thread; raise `TargetError` once the client has let go."""
        thread = threading.get_ident()
        if thread not in self._hosts:
            self._hosts[thread] = self._made()
        if self.stopped:  # perhaps in the meantime; they have no process yet
            raise TargetError("the client has gone")
        return self._hosts[thread]

    def _made(self) -> Hosts:
        _, kind, written, name, limits, _, modules = self._given
        with _importing:
            for module in modules:
                with suppress(ImportError, KeyError):  # the latter where another thread imports it
                    importlib.import_module(module)  # noqa: TID251  (see `portable.loaded`)
        build = partial(unpickled, written, address())
        server = Server(build) if kind == "function" else MechanismServer(build, limits.memory)
        return Built(name, server, limits, bare=True)

    def stop(self) -> None:
        """End its processes, whatever they are doing."""
        self.stopped = True
        for hosts in list(self._hosts.values()):
            hosts.kill()

    def __reduce__(self) -> tuple[Any, ...]:
        return Case, self._given

    def __sizeof__(self) -> int:
        return len(self._given[2])

    def close(self) -> None:
        """End its processes once nobody waits for them."""
        for hosts in self._hosts.values():
            hosts.close()

    __del__ = close


_importing = threading.Lock()
"""No process is forked while another thread imports: it would wait for ever for that import."""
_cases: weakref.WeakValueDictionary[str, Case] = weakref.WeakValueDictionary()
"""Those of this worker."""
_ended: set[str] = set()
"""Keys of those that the client has stopped; Dask may bring one here only then."""


class Built(Hosts):
    """Processes that have built what they serve before they are asked for anything else."""

    def several(self, number: int) -> list[Host]:
        """Return so many of them; see `Hosts.several`."""
        try:
            return self._several(number)
        except LostProcess:  # perhaps Dask itself was importing when it was forked
            return self._several(number)

    def _several(self, number: int) -> list[Host]:
        known = list(self._open)
        with _importing:
            found = super().several(number)
        for host in found:
            if host not in known:
                self._build(host)
        return found

    def _build(self, host: Host) -> None:
        host.limits = replace(self.limits, seconds=max(self.limits.seconds, BUILD))
        try:
            asked(host, None, f"importing {self.name}", "ready", None)
        except TargetError:
            host.close()
            raise
        host.limits = self.limits


def brief_from(written: bytes) -> ShardBrief:
    """Read what trials are about: data and codings, nothing of the user's code."""
    brief: ShardBrief = pickle.loads(written)  # noqa: S301  (by the client of this run)
    return brief


def run_shard(case: Case, brief: ShardBrief, message: bytes) -> bytes:
    """Run a shard; `message` says which, for which claim, and whether in a process of its own."""
    shard: Shard
    part: Claim | None
    shard, part, fresh = pickle.loads(message)  # noqa: S301

    def work() -> Any:
        here = Local(brief, forget, case.hosts(), part)
        try:
            done = next(here.afresh([shard])) if fresh else here.finish(here.start(shard))
        finally:
            here.close()
        return done

    return _answered(case, work)


def run_laws(case: Case, message: bytes) -> bytes:
    """Compute the exact laws of some datasets at some queries."""
    arguments = pickle.loads(message)  # noqa: S301

    def work() -> Any:
        where = arguments[0][0][1]
        what = f"distribution on {where}"
        host = case.hosts().first()
        return asked(host, ANSWERS["laws"], what, "laws", None, *arguments)

    return _answered(case, work)


def run_item(case: Case, message: bytes) -> bytes:
    """Call a function on an item."""

    def work() -> Any:
        answer = case.hosts().first().call("__call__", pickle.loads(message))  # noqa: S301
        return read(Outcome, answer).result()

    return _answered(case, work)


def stop(key: str) -> None:
    """End the processes of a case in this worker, and let none begin."""
    _ended.add(key)
    if key in _cases:
        _cases[key].stop()


def _answered(case: Case, work: Callable[[], Any]) -> bytes:
    def safe() -> Any:
        try:
            return work()
        except (InvalidInput, Lost, Garbled) as error:
            raise TargetError(str(error)) from None

    if case.differs:
        return pack(0, {"differs": f"worker {address()} has {case.differs}"})
    return pack(0, outcome_of(safe))


def difference(known: tuple[str, ...], here: tuple[str, ...]) -> str:
    """Describe what is installed here and not at the client, both as `ledger.installed` says it."""
    names = ("Python", "dpassay's source", *PACKAGES)
    for name, theirs, ours in zip(names, known, here, strict=True):
        if theirs != ours:
            short = [
                text[:12] if name.startswith("dpassay") else text.split(" ")[0]
                for text in (ours, theirs)
            ]
            if short[0] == short[1]:
                short = [" ".join(text.split()) for text in (ours, theirs)]
            return f"{name} {short[0]}, not {short[1]}"
    return ""


def address() -> str:
    """Return where this worker is."""
    from distributed import get_worker

    return str(get_worker().address)
