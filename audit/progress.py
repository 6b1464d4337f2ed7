"""How far a run is, and how long it will take; all of it on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from dpassay.errors import printable
from dpassay.targets.groups import Progress, silent

LONG = 600.0
"""A stage of a run that takes more seconds than this is told of, once."""
WATCHED, VERY_LONG = 10.0, 3600.0
"""What will take more than this is told of before it begins: where somebody watches, and in a log.
"""
SOON = 1.0
"""Seconds of a stage before which no pace is told; it is taken from its first report on."""
TICK = 1.0
"""Seconds after which a line in a notebook is written anew."""
ANSWER = 30e-9
"""Seconds that no answer takes less than."""
SMALLER = (
    "fewer with --budget, --queries, --train, --neighbours or --profile quick, faster with --jobs"
)
"""What makes `dpassay run` shorter."""


class StagePace:
    """Tells on stderr, from its first pairs or datasets, that a stage of a run will take long."""

    def __init__(
        self,
        shown: Progress,
        clock: Callable[[], float] = time.monotonic,
        smaller: str = SMALLER,
        least: float = VERY_LONG,
    ) -> None:
        self._shown, self._clock, self._smaller, self._least = shown, clock, smaller, least
        self._last = self._began = clock()
        self._what, self._done, self._told = "", 0, False
        self._first: tuple[float, int] | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note of the progress of a stage."""
        what = printable(what)
        if not total:
            if done > self._least:
                sys.stderr.write(
                    f"dpassay: {what}, about {duration(done)}; a gross leak shows much sooner; "
                    f"{self._smaller}\n"
                )
            return
        self._shown(what, done, total)
        now = self._clock()
        if what != self._what or done < self._done:  # or it begins anew: the next group of pairs
            self._what, self._began, self._told, self._first = what, self._last, False, None
        self._last, self._done = now, done
        if self._first is None:  # what came before it was set-up too, so it tells no pace
            self._first = now, done
            return
        since, before = self._first
        left = (now - since) / max(done - before, 1) * (total - done)
        if not self._told and now - self._began >= SOON and left > LONG:
            self._told = True
            sys.stderr.write(
                f"dpassay: {what}: {done:,} of {total:,} took {duration(now - self._began)}, "
                f"about {duration(left)} to go at this pace; {self._smaller}\n"
            )


def duration(seconds: float) -> str:
    """Write a time in the unit that it is a few of."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.1f} seconds"


def announce(name: str, answers: int, smaller: str = SMALLER) -> None:
    """Say on stderr, before a run, that its answers alone take long, however fast they come.

    Nothing where they need not.
    """
    if (least := answers * ANSWER) > LONG:
        sys.stderr.write(
            f"dpassay: {name}: {answers:,} answers take {duration(least)} at the very least; "
            f"{smaller}\n"
        )


@contextmanager
def bars(*, quiet: bool, smaller: str = SMALLER) -> Iterator[Progress]:
    """Show in one line of a terminal or notebook what runs, how far it is and for how long.

    Wherever it goes, what will take long is told there.
    """
    if not quiet and "ipykernel" in sys.modules:
        with _line_of_notebook() as show:
            yield StagePace(show, smaller=smaller, least=WATCHED)
        return
    if quiet or not sys.stderr.isatty():
        yield silent if quiet else StagePace(silent, smaller=smaller)
        return
    from rich import progress as live
    from rich.console import Console
    from rich.markup import escape

    columns = (*live.Progress.get_default_columns(), live.TimeElapsedColumn())
    with live.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        line, names = shown.add_task("starting"), set[str]()

        def show(what: str, done: int, total: int) -> None:
            names.add(what.partition(":")[0])
            text = escape(f"{len(names)} · {what}")
            shown.update(line, description=text, completed=done, total=total)

        yield StagePace(show, smaller=smaller, least=WATCHED)


@contextmanager
def _line_of_notebook() -> Iterator[Progress]:
    """Show it in a line below the cell, which is gone at the end."""
    from IPython.display import display

    first = {"text/plain": "starting"}
    line: Any = display(first, raw=True, display_id=True)  # type: ignore[no-untyped-call]
    now, began, ended = ["starting"], time.monotonic(), Event()

    def show(what: str, done: int, total: int) -> None:
        now[0] = f"{what}: {done:,} of {total:,}"

    def tell() -> None:
        while not ended.wait(TICK):
            told = f"{now[0]} · {duration(time.monotonic() - began)}"
            line.update({"text/plain": told}, raw=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield show
    finally:
        ended.set()
        teller.join()
        line.update({"text/plain": ""}, raw=True)
