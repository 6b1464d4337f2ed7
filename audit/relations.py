"""Relations: which datasets, or vectors of true answers, are neighbours."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from dpassay.errors import require

REPLACE_ONE = "replace-one"
"""Two datasets of the same size that differ in one record, which keeps its place."""

ADD_REMOVE, ZERO_OUT = "add-remove", "zero-out"
REPLACE_USER, ADD_REMOVE_USER, OWN = "replace-user", "add-remove-user", "own"
OF_ROWS = (ADD_REMOVE, ZERO_OUT, REPLACE_USER, ADD_REMOVE_USER, OWN)
"""Relations of datasets that may differ in size or in several records; see `dpassay.edits`."""

RELATIONS = (
    f"'{REPLACE_ONE}', 'replace-k' with an integer k >= 2, {', '.join(map(repr, OF_ROWS))}, or "
    "'answers-D' with a number D > 0, 'answers-D-in-m' with an integer m >= 1 besides"
)
"""What a relation may be; `replace-k`: two datasets of the same size that differ in at most k
records; `answers-D`: two vectors of as many true answers, each answer of the one within D of that
of the other; `answers-D-in-m`: and at most m of them differ."""

DONE = {
    ADD_REMOVE: ("adding or removing one record", "one record added or removed"),
    ZERO_OUT: ("zeroing one record out", "one record zeroed out"),
    REPLACE_USER: ("replacing one user's records", "one user's records replaced"),
    ADD_REMOVE_USER: ("adding or removing one user", "one user added or removed"),
    OWN: ("a change of the user's own", "one change of the user's own made"),
}
"""What makes a neighbour of datasets that may differ in size: as it is done, and done."""

_RECORDS = r"replace-(one|[2-9]|[1-9][0-9]+)"
_ANSWERS = r"answers-((?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-][0-9]+)?)(?:-in-([1-9][0-9]*))?"


def records_replaced(relation: str) -> int:
    """Return in how many records neighbours may differ at most; refuse other relations."""
    number = _number(_RECORDS, relation)
    allowed = f"about records here: '{REPLACE_ONE}', or 'replace-k' with an integer k >= 2"
    require(number is not None, "relation", relation, allowed)
    return 1 if number is None or number == "one" else int(number)


def replace_relation(k: int) -> str:
    """Return the relation of datasets that differ in at most k >= 1 records."""
    return REPLACE_ONE if k == 1 else f"replace-{k}"


def answers_moved(relation: str) -> float | None:
    """Return D of `answers-D`, the most that a true answer may differ; None for records."""
    number = _number(_ANSWERS, relation)
    moved = 0.0 if number is None else float(number)
    return moved if 0 < moved < math.inf else None


def answers_among(relation: str) -> int | None:
    """Return m of `answers-D-in-m`, the most true answers that differ; None without a limit."""
    number = _number(_ANSWERS, relation, 2)
    return None if number is None else int(number)


def answers_relation(sensitivity: float, among: int | None = None) -> str:
    """Return the relation of answers that differ by so much, in at most `among` of them."""
    relation = f"answers-{float(sensitivity)!r}".removesuffix(".0")
    return relation if among is None else f"{relation}-in-{among}"


def check_relation(relation: str) -> None:
    """Raise `InvalidInput` unless there is such a relation."""
    known = _number(_RECORDS, relation) is not None or answers_moved(relation) is not None
    known = known or relation in OF_ROWS
    require(known, "relation", relation, RELATIONS)


def within(narrow: str, wide: str) -> bool:
    """Return whether all neighbours under one relation are neighbours under another too."""
    if narrow in OF_ROWS or wide in OF_ROWS:
        return wide in (narrow, OWN)
    moved, most = answers_moved(narrow), answers_moved(wide)
    if moved is None or most is None:
        return moved is most and records_replaced(narrow) <= records_replaced(wide)
    few, many = answers_among(narrow), answers_among(wide)
    return moved <= most and (many is None or (few is not None and few <= many))


def _number(pattern: str, relation: object, place: int = 1) -> str | None:
    return _parsed(pattern, relation, place) if isinstance(relation, str) else None


@lru_cache(maxsize=64)
def _parsed(pattern: str, relation: str, place: int) -> str | None:
    found = re.fullmatch(pattern, relation)
    return None if found is None else found[place]
