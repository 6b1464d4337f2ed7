"""Rows are run one by one into a record: `dpassay/theorems/1`.

It is a schema of its own: a sample size, a tail or an excess loss has no pair, query or direction.
What it has in common with a result of a run is called the same and means the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.numerics import lower_number, number, upper_number
from dpassay.record.files import read_document
from dpassay.record.kinds import THEOREMS
from dpassay.record.schemas import fault
from dpassay.targets.groups import Progress, silent
from dpassay.theorems.effort import Effort
from dpassay.theorems.registry import chosen, statements
from dpassay.theorems.roles import role_of
from dpassay.theorems.row import Case, Checked, Measured, Row, keeps
from dpassay.theorems.statement import PAPERS, Statement

WITNESS = "dpassay/theorem-witness/1"
EFFORT = {"seed", "deep"}
"""What a witness says of the run that it is of; those of an earlier version say nothing."""


def check_rows(
    rows: Sequence[Row], effort: Effort, progress: Progress = silent
) -> Iterator[tuple[Row, Checked]]:
    """Check rows in their order; a check that breaks is a verdict, `error`."""
    for done, row in enumerate(rows):
        progress("theorems", done, len(rows))
        try:
            yield row, row.check(effort)
        # whatever breaks a check says nothing of the statement
        except Exception as error:  # noqa: BLE001
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            yield row, Checked(verdict="error", reason=why)
    progress("theorems", len(rows), len(rows))


def make_record(
    found: Sequence[tuple[Row, Checked]], facts: Mapping[str, Any], *, complete: bool
) -> dict[str, Any]:
    """Put rows and what came of them into the published form, valid under the schema `theorems`.

    The facts are JSON values: version, packages, commit, seed, deep, command.
    """
    return {
        "schema": THEOREMS.schema,
        "run": dict(facts) | {"complete": complete},
        "results": [_result(row, checked) for row, checked in found],
    }


def statement_of(row: Row) -> Statement:
    """Return the statement that a row is about."""
    return next(each for each in statements(row.paper) if each.name == row.statement)


def _result(row: Row, checked: Checked) -> dict[str, Any]:
    statement, series = statement_of(row), checked.series
    told = ("number", "place", "printed", "hypotheses", "kind")
    about = ("checks", "quantity", "relation", "method", "domain")
    return {
        "id": row.key,
        "statement": {
            "paper": PAPERS[row.paper].partition(",")[0],
            **{name: getattr(statement, name) for name in told},
        },
        **{name: getattr(row, name) for name in about},
        "role": role_of(row),
        "derivation": row.derivation or None,
        "expected": "refuted" if row.verdict == "refuted" else None,
        "verdict": checked.verdict,
        "reason": checked.reason,
        "cells": checked.cells,
        "worst": _measured(row, checked.worst, checked.case),
        "witness": _measured(row, checked.found, checked.witness),
        "series": series
        and {
            "along": series.along,
            "points": [
                [number(place), *(_bounds(each)[name] for name in ("claimed", "lower", "upper"))]
                for place, each in series.points
            ],
        },
    }


def _bounds(measured: Measured) -> dict[str, Any]:
    """Write down what was measured; bounds never say more than they are."""
    return {
        "claimed": number(measured.claimed),
        "lower": lower_number(measured.lower),
        "upper": upper_number(measured.upper),
    }


def _measured(row: Row, measured: Measured | None, case: Case | None) -> dict[str, Any] | None:
    """Write down a case and what was measured there.

    The factor is the true number as a multiple of the claimed one, on the careful side.
    """
    if measured is None or case is None:
        return None
    claimed, detectable = measured.claimed, measured.detectable
    factor: float | str | None = None
    if 0 < claimed < math.inf:
        cautious = (row.relation == "at most") != keeps(measured, row.relation)
        factor = number((measured.lower if cautious else measured.upper) / claimed)
    return {
        "case": dict(case),
        **_bounds(measured),
        "factor": factor,
        "alpha": number(measured.alpha),
        "detectable": None if detectable is None else number(detectable),
    }


def make_witness(result: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the witness of a result of a record, as a file that `dpassay theorem replay` takes.

    It says which effort its case belongs to: seed and deep, of the run.
    """
    effort = {name: run[name] for name in EFFORT}
    return {"schema": WITNESS, "id": result["id"], **effort, "witness": result["witness"]}


def read_witness(path: Path) -> tuple[Row, Case, dict[str, Any]]:
    """Read a file that `make_witness` made.

    The case is one of the row's cases at the effort that the file says, or the usual one; the
    witness is the case and what was measured there.
    """
    held = read_document(path, "WITNESS", WITNESS)
    wrong = fault(held, "theorem-witness")
    if wrong:
        raise InvalidInput(f"WITNESS = '{path}': is damaged: {wrong}")
    try:
        (row,) = chosen([held["id"]])
    except InvalidInput as error:
        raise InvalidInput(f"WITNESS = '{path}': is damaged: {error}") from None
    effort, wanted = Effort(**{name: held[name] for name in EFFORT & held.keys()}), held["witness"]
    # a number equals a truth value in Python, not here
    written = json.dumps(wanted["case"], sort_keys=True)
    for case in row.cases(effort):
        if json.dumps(dict(case), sort_keys=True) == written:
            return row, case, wanted
    raise InvalidInput(
        f"WITNESS = '{path}': is damaged: its case is none of {row.key}; must be one of a run with "
        f"seed {effort.seed}{' and --deep' if effort.deep else ''}"
    )


def replayed(row: Row, case: Case) -> dict[str, Any]:
    """Measure the case of a witness again, in the form of its file."""
    again = _measured(row, row.measure(**case), case)
    assert again is not None
    return again
