"""What a Dask worker does: our processes there run the user's code, and it passes on their answers.

The worker itself imports nothing of the user's. What it returns is bytes of `dpassay.trials.wire`.
"""

from __future__ import annotations

import importlib
import pickle
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from dpassay.claims import Claim
from dpassay.errors import InvalidInput, TargetError
from dpassay.trials.backends import Local, forget
from dpassay.trials.isolation.host import Host
from dpassay.trials.isolation.hosts import Hosts, LostProcess, asked
from dpassay.trials.isolation.limits import Limits, Lost
from dpassay.trials.isolation.server import MechanismServer, Server
from dpassay.trials.ledger import PACKAGES, installed
from dpassay.trials.portable import read
from dpassay.trials.tasks import Shard, ShardBrief
from dpassay.trials.wire import Garbled, pack
from dpassay.trials.wire import read as checked
from dpassay.trials.written import ANSWERS, Outcome, outcome_of

BUILD = 60.0
"""Seconds that building a mechanism may take at least: what it needs is imported then."""

Kind = Literal["target", "function"]


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
        kind: Kind,
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
                    importlib.import_module(module)
        build = partial(read, written, address())
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

    def __del__(self) -> None:
        for hosts in self._hosts.values():
            hosts.close()


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
        return checked(Outcome, answer).result()

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
