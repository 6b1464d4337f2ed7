"""What commands print, and what they do when nobody reads it any more."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO


def console() -> Any:
    """Return a rich console on stdout."""
    from rich.console import Console

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            """Print no more; rich would leave with exit code 1, which means 'refuted'."""
            self.quiet = True
            _discard(sys.stdout)

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal loses a symbol, not the report
    return Patient()


@contextmanager
def readers_may_leave(stream: TextIO | None = None) -> Iterator[None]:
    """Go on when whoever reads our output, stdout by default, has gone (`| head`).

    The exit code still tells what was found.
    """
    try:
        yield
    except BrokenPipeError:
        _discard(sys.stdout if stream is None else stream)


def _discard(stream: TextIO) -> None:
    """Send to nowhere what else is written to a stream, what it still holds included."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_json(value: Sequence[Any]) -> None:
    """Print JSON."""
    sys.stdout.write(json.dumps(value, indent=2, sort_keys=True) + "\n")


def plain_table(*columns: str, justify: str = "right") -> Any:
    """Return a table without lines."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    return table
