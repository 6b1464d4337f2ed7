"""What a run prints and warns, and the text of its exceptions, as a part of its answer."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from inspect import signature
from typing import Any

from dpassay.errors import Failed, InvalidInput, first_line, told
from dpassay.mechanism.function import only
from dpassay.targets.calls import named, taken


def with_messages(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose answers include everything that its caller can read.

    A log, a warning or the text of an exception may give away a record that the answer hides. By
    default an audit reads answers and the types of exceptions. Of programs and services it reads
    the texts of errors too.

    Parameters
    ----------
    function : callable
        What `audit` takes, without `queries`.

    Returns
    -------
    callable
        It takes the same arguments. An answer is (answer, warnings, stdout, stderr). Where the
        function raises, the answer is the exception with all these texts.

    Raises
    ------
    InvalidInput
        If the function is asked queries.
    """
    takes, by_name = taken(function, "function"), named(function)
    if "queries" in takes:
        raise InvalidInput("function: takes queries; with_messages needs one that takes none")
    places = [name for name in takes if name not in by_name]

    @wraps(function)
    def run(*given: Any, **more: Any) -> Any:
        asked = dict(zip(places, given, strict=False)) | more
        size, asked = asked.get("size"), asked | ({"size": 1} if "size" in asked else {})
        one = [asked[name] for name in places[: len(given)]]
        rest = {name: asked[name] for name in more}
        if size is None:
            return _heard(lambda: function(*one, **rest))
        return [_heard(lambda: only(function(*one, **rest))) for _ in range(size)]

    run.__signature__ = signature(function)  # type: ignore[attr-defined]
    return run


def _heard(run: Callable[[], Any]) -> Any:
    out, err, raised = io.StringIO(), io.StringIO(), ""
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("always")
        try:
            answer = run()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (what is not ours may do anything)
            raised = told(error)
    said = tuple(f"{each.category.__name__}: {each.message}" for each in warned)
    heard = out.getvalue(), err.getvalue()
    if raised:  # stays an exception: a function that raises in every run cannot be audited
        return Failed("\n".join(filter(None, (first_line(raised), *said, *heard))), raised)
    return answer, said, *heard
