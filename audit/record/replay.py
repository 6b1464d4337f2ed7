"""Replaying a witness: its trials again, its bound again, and its digests."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.replaying.case import Case, case_of
from dpassay.record.replaying.found import Replay
from dpassay.record.replaying.judged import judged
from dpassay.record.replaying.laws import computed_again
from dpassay.record.replaying.trials import drawn_here, drawn_there
from dpassay.record.trust import file_of, foreign, shown
from dpassay.record.witness import witness_fault
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget
from dpassay.trials.kept import Matches
from dpassay.trials.threads import one_thread

__all__ = ["Replay", "replay"]


def replay(
    witness: Mapping[str, Any],
    *,
    file: str | None = None,
    target: AuditTarget | None = None,
    group: Group | None = None,
    trusted: bool = False,
) -> Replay:
    """Run one witness from `make_witness` again, alone.

    `file` is where the witness's CSV file lies now; its contents are compared by their SHA-256.
    `target` and `group` are what to run, and on what, if the witness cannot name or carry it. A
    `trusted` witness may run the code, and read the file, that it names: one from somebody else
    could name any. What does not come with dpassay runs in a process of its own.

    Raise InvalidInput if the witness is damaged, or the data are missing or are not the ones it was
    made from.
    """
    wrong = witness_fault(witness)
    if wrong:
        raise InvalidInput(f"the witness is damaged: {wrong}")
    with ExitStack() as stack:
        if not trusted:
            _refuse(witness, given=target is not None, read=file is None and group is None)
        case = case_of(witness, file, target, group, stack)
        with one_thread():
            return _replayed(case)


def _replayed(case: Case) -> Replay:
    """Run a witness again, by the laws or the trials that it was found by."""
    if isinstance(case.coding, Matches):
        with drawn_there(case) as tally:
            return judged(case, tally)
    state = case.subject.prepare(case.place.pairs.base)
    neighbour = case.subject.neighbour(case.place.pairs.base, state, case.change)
    if case.witness["trials"] is None:
        return computed_again(case, state, neighbour)
    return judged(case, drawn_here(case, state, neighbour))


def _refuse(witness: Mapping[str, Any], *, given: bool, read: bool) -> None:
    """Raise `InvalidInput` if a witness runs, or reads, what only its author has chosen."""
    code, path = foreign(witness), file_of(witness)
    if code and not given:
        raise InvalidInput(
            f"the witness runs {', '.join(code)}, which does not come with dpassay; if you know "
            "it, allow it with --trust (trusted=True)"
        )
    if path and read:
        raise InvalidInput(
            f"the witness reads the file {shown(path)}; say which one it is with --data FILE "
            "(file=...), or allow it with --trust (trusted=True)"
        )
