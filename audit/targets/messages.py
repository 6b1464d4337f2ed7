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
from dpassay.targets.calls import named, taken


def with_messages(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose answers hold all that whoever runs it may read.

    A log, a warning or the text of an exception may give away a record that the answer hides. By
    default an audit looks at answers and at the types of exceptions; of programs and services, at
    the text of their errors too.

    Parameters
    ----------
    function : callable
        What `audit` takes, without `queries`.

    Returns
    -------
    callable
        Takes the same. An answer is (answer, warnings, stdout, stderr), the answer an exception
        with its text where one was raised.

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
        return [_heard(lambda: next(iter(function(*one, **rest)))) for _ in range(size)]

    run.__signature__ = signature(function)  # type: ignore[attr-defined]
    return run


def _heard(run: Callable[[], Any]) -> tuple[Any, ...]:
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as warned, redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("always")
        try:
            answer = run()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (what is not ours may do anything)
            answer = Failed(first_line(told(error)), told(error))
    said = tuple(f"{each.category.__name__}: {each.message}" for each in warned)
    return answer, said, out.getvalue(), err.getvalue()
