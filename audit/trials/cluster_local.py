"""Workers of Dask on this machine, of our own: nothing of them is left behind."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import dask
import psutil
from distributed import Scheduler, SpecCluster
from distributed.deploy.subprocess import SubprocessWorker

START = 60.0
"""Seconds after which a worker that finds no scheduler ends."""
END = 5.0
"""Seconds that processes which have been killed are given to be gone."""
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": f"{64 << 20}",
        "MALLOC_MMAP_THRESHOLD_": f"{32 << 20}",
    },
}
"""Dask's own take time from the trials: a profile that nobody looks at, and memory that is given
back after every array, so that each new one costs page faults. Threads are ours to limit."""


DASK = """
import ctypes, os, runpy, sys
parent = int(sys.argv.pop(1))
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() != parent:
        os._exit(1)
runpy.run_module("dask", run_name="__main__", alter_sys=True)
"""
"""`python -m dask` that is killed when we die, even while it starts (PR_SET_PDEATHSIG, SIGKILL)."""


class Worker(SubprocessWorker):
    """A worker in a process of its own, that does not import the user's `__main__`.

    Those of `LocalCluster` would: a script without `if __name__ == "__main__"` would run again.
    """

    async def _start(self) -> None:
        """Start it out of reach of a terminal's Ctrl-C, which is for us."""
        spec = {"cls": self.worker_class, "opts": self.worker_kwargs}
        parent = str(os.getpid())
        words = ["-c", DASK, parent, "spec", self.scheduler, "--spec", json.dumps(spec)]
        settings = dask.config.serialize(dask.config.global_config)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, *words),
            start_new_session=True,
            env=os.environ | {"DASK_INTERNAL_INHERIT_CONFIG": settings},
        )

    async def close(self) -> None:
        """End it and what it started, some of which may end by itself meanwhile."""
        started: list[psutil.Process] = []
        while True:
            try:
                if self.process is not None and self.process.returncode is None:
                    here = psutil.Process(self.process.pid)
                    started += here.children(recursive=True)
                    for each in (here, *started):  # else one complains of those that ended first
                        with suppress(psutil.NoSuchProcess):
                            each.suspend()
                await super().close()
            except psutil.NoSuchProcess:
                await asyncio.sleep(0.01)
            else:
                psutil.wait_procs(started, timeout=END)
                return


@contextmanager
def own_workers(number: int) -> Iterator[Any]:
    """Start a scheduler in this process, on loopback alone, and so many workers of one thread."""
    here = {"host": "127.0.0.1", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    with tempfile.TemporaryDirectory(prefix="dpassay-dask-", ignore_cleanup_errors=True) as folder:
        options = here | {
            "nthreads": 1,
            "memory_limit": 0,
            "local_directory": folder,
            "silence_logs": logging.CRITICAL,
            "death_timeout": START,
        }
        worker = {"cls": Worker, "options": {"worker_kwargs": options}}
        with (
            dask.config.set(SETTINGS),
            SpecCluster(  # type: ignore[no-untyped-call]
                workers=dict.fromkeys(range(number), worker),
                scheduler={"cls": Scheduler, "options": here | {"port": 0}},
                worker=worker,
                silence_logs=logging.CRITICAL,
            ) as cluster,
        ):
            yield cluster
