"""Calls: which arguments a user's function takes, and all that a call of it says."""

from __future__ import annotations

import inspect
import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from typing import Any

from dpassay.errors import Failed, InvalidInput, first_line, told
from dpassay.mechanism import ORDER
from dpassay.mechanism.function import only

CALLED = f"({', '.join(ORDER)})"
"""What a function is called with."""
SHORTER = {3: ("data", "size", "rng"), 2: ("data", "rng")}
"""What it is called with if it takes fewer arguments, of whatever names."""
POINTS = ("q", "query", "point", "points", "x", "xs", "test")
"""Names for query points, of the second of three arguments."""
CALLS = f"{CALLED}, (data, queries, rng), (data, size, rng), (data, rng), or one without rng"


def taken(function: Any, what: str) -> tuple[str, ...]:
    """Return what a function is to be called with, some of `ORDER`.

    The names of its parameters say it, or else their number; keyword-only ones count if their
    names are those of `ORDER` (see `named`). A function whose arguments cannot be known is
    called with all four. Without `rng` it tosses coins of its own. Messages call it `what`.
    """
    parameters = _parameters(function)
    if parameters is None:
        return ORDER
    names = _names(parameters)
    needed = [
        each.name
        for each in parameters
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ORDER
    known = tuple(name for name in names if name in ORDER[1:])
    if "rng" in known and names[1 : 1 + len(known)] == list(known) and _ordered(known):
        wanted: tuple[str, ...] = ("data", *known)
    elif len(names) >= len(ORDER):
        wanted = ORDER
    elif len(names) == 3 and names[1].lower() in POINTS and known in ((), ("rng",)):
        wanted = ("data", "queries", "rng")
    elif names[1:] == list(known) and len(names) > 0 and _ordered(known):
        wanted = ("data", *known)
    else:
        wanted = SHORTER.get(len(names), ()) if known in ((), ("rng",)) else ()
    shown = _shown(parameters)
    if not wanted or len(needed) > len(wanted):
        raise InvalidInput(f"{what}: takes {shown}; must take {CALLS}")
    if set(known) == set(ORDER[1:]) and not _ordered(known):
        raise InvalidInput(f"{what}: takes {shown}; must take {CALLED}, in this order")
    return wanted


def named(function: Any) -> tuple[str, ...]:
    """Return what of `ORDER` a function takes by name alone: its keyword-only parameters."""
    known = _parameters(function) or []
    return tuple(
        each.name for each in known if each.kind is each.KEYWORD_ONLY and each.name in ORDER
    )


def _names(parameters: list[inspect.Parameter]) -> list[str]:
    """Return the names of parameters in the order of `ORDER`, keyword-only ones among them."""
    names = [each.name for each in parameters if each.kind in POSITIONAL]
    alone = [
        each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in ORDER
    ]
    rest = names[1:] if "data" not in alone else names
    if not alone or not (set(rest) <= set(ORDER) and _ordered(tuple(rest))):
        return names + sorted(alone, key=ORDER.index)
    return names[: len(names) - len(rest)] + sorted(rest + alone, key=ORDER.index)


def _shown(parameters: list[inspect.Parameter]) -> str:
    """Write parameters as in a definition, without defaults."""
    stars = ("VAR_POSITIONAL", "VAR_KEYWORD")
    marks = {getattr(inspect.Parameter, kind): "*" * (1 + k) for k, kind in enumerate(stars)}
    shown = [f"{marks.get(each.kind, '')}{each.name}" for each in parameters]
    kinds = [each.kind for each in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return f"({', '.join(shown)})"


POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001  (what is not ours may do anything)
        return None
    return list(signature.parameters.values())


def _ordered(names: tuple[str, ...]) -> bool:
    return list(names) == [name for name in ORDER if name in names]


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

    run.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
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
