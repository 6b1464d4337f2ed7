"""A pilot: some trials of a mechanism that may answer anything, on which its encoder is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import Failed, TargetError, first_line, printable
from dpassay.search.declared import fails
from dpassay.search.outputs import Encoder, fit_encoder
from dpassay.seeds import stream
from dpassay.targets.faults import guarded, hint

WHERE = "a pilot dataset"
Pilot = tuple[Any, NDArray[np.float64], tuple[str | float, ...]]
"""A dataset, what is asked there, and the key of the random stream."""


def fitted(
    target: Any,
    pilots: Sequence[Pilot],
    size: int,
    own: str = "",
    *,
    failures: bool = False,
) -> Encoder:
    """Fit the encoder of a mechanism's answers on a pilot of `size` trials each.

    The target is an `AuditTarget`, which is made with this. One that fails every time on the
    dataset with the digest `own`, if there is one, or on all of them, raises `TargetError`. With
    `failures` a run may raise an exception, also if the pilot does not show one.
    """
    drawn = _drawn(target, pilots, size, own)
    _check_failures(target.name, drawn, "every pilot dataset")
    bits = bool(getattr(target.mechanism, "bits", False))
    failures = failures or any(map(fails, drawn))
    return guarded(
        target.name,
        "sample",
        WHERE,
        lambda: fit_encoder(drawn, bits=bits, output=target.output, failures=failures),
    )


def _drawn(target: Any, pilots: Sequence[Pilot], size: int, own: str) -> list[NDArray[Any]]:
    """Return the answers, those at each query by themselves where they come query by query."""
    drawn, failed = list[NDArray[Any]](), list[TargetError]()
    for data, queries, key in pilots:
        try:
            found = target.sample(target.prepare(data), queries, size, stream(*key), WHERE)
        except TargetError as error:  # a dataset that it does not take; the search passes it
            if error.fatal:
                raise
            failed.append(error)
        else:
            if data.digest == own:
                _check_failures(target.name, [found], "the data given")
            drawn += list(found.T) if target.by_query else [found]
    if not drawn:
        raise failed[0]
    return drawn


def _check_failures(name: str, drawn: Sequence[NDArray[Any]], where: str) -> None:
    """Raise `TargetError` if every run raised an exception."""
    if any(each.dtype.kind != "O" for each in drawn):
        return
    answers = [answer for each in drawn for answer in each.ravel().tolist()]
    if answers and all(isinstance(answer, Failed) for answer in answers):
        first = answers[0]
        said = hint(name, first.kind, first_line(first.detail))
        kind = printable(" ".join(first.kind.split())[:300])
        raise TargetError(f"sample on {where} raised {kind}{said} in every run", first.detail)
