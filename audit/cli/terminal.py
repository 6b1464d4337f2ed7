"""What commands print, and streams on which that never costs what was found."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Sequence
from typing import Any

from dpassay.errors import OutputError


class _Lasting(io.FileIO):
    """A stream whose reader may leave (`| head`): what is written after that goes nowhere.

    The exit code still tells what was found. What else goes wrong with stdout is an error, once.
    """

    def write(self, data: Any) -> int:
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])  # somebody made it non-blocking, and it is full
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self.fileno() == 1 and not isinstance(error, BrokenPipeError):
                raise OutputError(f"stdout: cannot be written ({error.strerror})") from None
            return len(data)
        return written


def open_streams() -> None:
    """Make stdout and stderr such that no work is lost to them, closed ones too.

    A file of ours would else get the number of one that is closed, and what is printed with it.
    Streams that are not the process's own are left as they are.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for number, name in enumerate(("stdout", "stderr"), 1):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__"):
            lasting = io.TextIOWrapper(
                io.BufferedWriter(_Lasting(number, "w", closefd=False)),
                encoding=getattr(stream, "encoding", "utf-8"),
                errors=getattr(stream, "errors", "replace"),
                line_buffering=True,
            )
            setattr(sys, name, lasting)


def console() -> Any:
    """Return a rich console on stdout."""
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal loses a symbol, not the report
    return Console()


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
