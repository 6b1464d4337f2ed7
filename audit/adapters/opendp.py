"""OpenDP: the claim of a measurement, its neighbouring datasets, and its releases.

A measurement says all three: the privacy map what it claims, domain and metric what its datasets
are and which of them are neighbours. Its coins come from OpenDP's own generator, which nobody
seeds: fresh trials in new processes are held against the first instead of the same ones again.

What domain and metric say is read as follows; a search draws a part of the neighbours, never more.

==========================================  ====================================================
domain and metric                           space
==========================================  ====================================================
vector; symmetric or insert-delete          records: `add-remove` for d_in = 1, `replace-k` for
                                            d_in = 2 k
vector; change-one or Hamming               records: `replace-k` for d_in = k
vector; L1, L2 or L-infinity                `Answers`: one number moves by d_in, or all by d_in
                                            in L-infinity unless that is monotonic
number; absolute                            `Answers` of size 1
number, text or truth value; discrete       one record, which is replaced
==========================================  ====================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.adapters import library
from dpassay.claims import DP, RDP, Profile, zCDP
from dpassay.errors import InvalidInput, as_real, is_count, require
from dpassay.privacy_curves import DELTAS
from dpassay.relations import ADD_REMOVE, replace_relation
from dpassay.search.proposals.proposal import Space
from dpassay.search.spaces import Answers
from dpassay.search.tables import Tables
from dpassay.targets.measurements import (
    FLOATS,
    INTEGERS,
    WHOLE,
    atom_of,
    element_of,
    is_measurement,
    plain,
)

TEXTS = ("", "a", "b", "c")
"""Texts of a domain that does not say which there are."""
RECORDS, NUMBERS = 10, 5
"""Records, and numbers of a vector, where neither the domain nor the user says how many."""
ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0)
"""Orders at which a curve of Renyi divergences is read."""
EDITED, REPLACED = (
    ("SymmetricDistance", "InsertDeleteDistance"),
    ("ChangeOneDistance", "HammingDistance"),
)
NORMS = {"L1Distance": 1.0, "L2Distance": 2.0, "LInfDistance": math.inf}
ALLOWED = (
    "a vector of numbers, texts or truth values under the symmetric, insert-delete, change-one or "
    "Hamming distance, a vector of numbers under L1, L2 or L-infinity, a number under the absolute "
    "distance, or a number, text or truth value under the discrete distance"
)
"""What can be described."""


def claim(measurement: Any, d_in: float) -> DP:
    """Return what a measurement claims, by its privacy map.

    `d_in` is the distance of neighbouring datasets in the measurement's input metric. A max
    divergence claims epsilon; a zero-concentrated one `zCDP`; an approximate one epsilon and delta;
    a smoothed one a `Profile` of points; Renyi divergences claim `RDP` at some orders. The
    neighbour relation is that of the data it is audited on. Raise InvalidInput if the map refuses
    d_in, what it says is no claim, or the measure is another one.
    """
    _check(measurement)
    try:
        found = measurement.map(d_in)
    except Exception as error:  # noqa: BLE001  (whatever the foreign library raises)
        said = " ".join(str(error).split())[:200]
        raise InvalidInput(f"d_in = {d_in!r}: the privacy map refuses it: {said}") from None
    measure = plain(measurement.output_measure.type)
    approximate = measure.startswith("Approximate<")
    name = measure.removeprefix("Approximate<").removesuffix(">")
    number, delta = found if approximate else (found, 0.0)
    told: dict[str, Any] = {"source": "the privacy map of an OpenDP measurement"}
    try:
        if name in ("MaxDivergence", "FixedSmoothedMaxDivergence"):
            epsilon, delta = number if isinstance(number, tuple) else (number, delta)
            return DP(epsilon=epsilon, delta=delta, **told)
        if name == "SmoothedMaxDivergence":
            return Profile(_points(number, delta), **told)
        if name == "ZeroConcentratedDivergence":
            return _shifted(zCDP(number, **told), delta)
        if name == "RenyiDivergence":
            return _shifted(RDP({order: number(order) for order in ORDERS}, **told), delta)
    except InvalidInput as error:
        raise InvalidInput(f"d_in = {d_in!r}: the privacy map says {found}: {error}") from None
    raise InvalidInput(
        f"measure = {measurement.output_measure}: must be a max, smoothed max, zero-concentrated "
        "or Renyi divergence, or one of these approximated"
    )


def neighbours(
    measurement: Any,
    d_in: float,
    *,
    size: int | None = None,
    data: Sequence[Any] | None = None,
    limits: tuple[float, float] | None = None,
    values: Sequence[Any] | None = None,
    relation: str | None = None,
    moved: int | None = None,
) -> Space:
    """Return what the datasets of a measurement look like, and which of them are neighbours.

    `d_in` is the one that `claim` was given. A dataset has `size` records or numbers; by default
    what the domain says, else 10 records or 5 numbers. Smaller datasets of records are searched too
    unless the domain says the size. `data` are records of your own, made up by default; not for
    vectors under a norm. `limits` are the least and greatest number, by default the bounds of the
    domain, else those of its type; `values` are texts that records may be.

    `relation` is 'add-remove', 'replace-one' or 'replace-k', for records; what d_in says by
    default. Under the symmetric distance d_in = 2 k has `replace-k` and `add-remove`: both are
    right, and each is a part of it. So many numbers of a vector as `moved` move between neighbours,
    each by as much as the norm allows to all of them; by default one, or all under L-infinity.
    """
    _check(measurement)
    domain, metric = measurement.input_domain, measurement.input_metric
    kind = plain(metric.type).partition("<")[0]
    element, vector = element_of(domain)
    atom = atom_of(element)
    distance = as_real(d_in)
    require(0 < distance < math.inf, "d_in", d_in, "a finite number > 0")
    known = getattr(domain, "size", None) if vector else 1
    of_records = kind in (*EDITED, *REPLACED) if vector else kind == "DiscreteDistance"
    of_numbers = kind in NORMS if vector else kind == "AbsoluteDistance"
    of_numbers = of_numbers and atom in (*INTEGERS, *FLOATS)
    if not (atom and (of_records or of_numbers)):
        raise InvalidInput(
            f"measurement: has the domain {domain} and the metric {metric}; must be {ALLOWED}"
        )
    if of_records:
        _left_out(metric, "a vector under a norm", moved=moved)
        edited, replaced = (kind in EDITED, d_in) if vector else (False, 1)
        return _records(
            element,
            _size(size, known, RECORDS),
            data,
            limits,
            values,
            _relation(replaced, relation, edited=edited, sized=known is not None),
            fixed=known is not None,
        )
    _left_out(metric, "records", data=data, values=values, relation=relation)
    count = _size(size, known, NUMBERS)
    together = NORMS.get(kind) == math.inf and "monotonic" not in str(metric)
    most = 1 if "monotonic" in str(metric) else count
    some = (count if together else 1) if moved is None else moved
    require(is_count(some) and some <= most, "moved", moved, f"an integer from 1 to {most}")
    by = distance / some ** (1 / NORMS.get(kind, math.inf))
    if atom in INTEGERS:
        by = math.floor(by * (1 + 1e-12))  # the square root of 9 / 9 may come out below 1
        require(by >= 1, "d_in", d_in, f"so large that {some} integers can move by 1")
    low, high = _limits(element, limits, by_type=atom in INTEGERS)
    return Answers(count, by, low, high, moved=None if some == count else some)


def _left_out(metric: Any, where: str, **given: Any) -> None:
    """Raise `InvalidInput` if something is given that does not go with a metric."""
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(f"{name}: goes with {where}, not with {metric}")


def _check(measurement: Any) -> None:
    library("opendp.mod", "opendp")
    known = is_measurement(measurement)
    require(known, "measurement", type(measurement).__name__, "a Measurement of OpenDP")


def _limits(
    element: Any, given: tuple[float, float] | None, *, by_type: bool
) -> tuple[float, float]:
    """Return limits of numbers: those given, the domain's, or those of its type if `by_type`."""
    atom = atom_of(element)
    least, most = (INTEGERS | FLOATS)[atom] if by_type else (-math.inf, math.inf)
    if element.bounds is not None:
        least, most = map(float, element.bounds)
    if atom in INTEGERS:
        least, most = max(least, -WHOLE), min(most, WHOLE)
    if given is None:
        return least, most
    low, high = map(as_real, given)
    fine = least <= low < high <= most
    require(fine, "limits", given, f"two numbers in [{least:g}, {most:g}], the first below")
    return low, high


def _size(size: int | None, known: int | None, default: int) -> int:
    """Return how many a dataset has."""
    require(size is None or is_count(size), "size", size, "an integer >= 1")
    if known is not None:
        require(size in (None, known), "size", size, f"{known}, as the domain says")
        return int(known)
    return default if size is None else int(size)


def _relation(d_in: float, given: str | None, *, edited: bool, sized: bool) -> str:
    """Return the relation of records at a distance: the one that is given, if that is within it.

    Where datasets are `edited`, to replace a record is to remove one and add one.
    """
    require(is_count(d_in), "d_in", d_in, "an integer >= 1, a number of records")
    replaced = int(d_in) // 2 if edited else int(d_in)
    known = [replace_relation(k) for k in range(replaced, 0, -1)]
    known += [ADD_REMOVE] if edited and not sized else []
    require(bool(known), "d_in", d_in, "at least 2, as the domain fixes the size of a dataset")
    require(given is None or given in known, "relation", given, " or ".join(map(repr, known)))
    return known[0] if given is None else given


def _records(
    element: Any,
    size: int,
    data: Sequence[Any] | None,
    limits: tuple[float, float] | None,
    values: Sequence[Any] | None,
    relation: str,
    *,
    fixed: bool,
) -> Tables:
    """Return a space of records that are single values."""
    atom = atom_of(element)
    if data is not None:
        right = len(data) == size if fixed else len(data) > 0
        wanted = f"{size}, as the domain says" if fixed else "at least one record"
        require(right, "data", f"{len(data)} records", wanted)
    if atom in INTEGERS or atom in FLOATS:
        require(values is None, "values", values, "left out: the records are numbers")
        low, high = _limits(element, limits, by_type=True)
        made = _made(low, high, size, whole=atom in INTEGERS)
        told: dict[str, Any] = {"limits": {"value": (low, high)}}
        told |= {"values": {"value": [None]}} if element.nan else {}
    else:
        require(limits is None, "limits", limits, "left out: the records are no numbers")
        texts = atom == "String"
        require(values is None or texts, "values", values, "left out: there are two truth values")
        known = list(values or TEXTS) if texts else [False, True]
        made = [known[k % len(known)] for k in range(size)]
        told = {"values": {"value": known}}
    return Tables(made if data is None else list(data), relation=relation, fixed=fixed, **told)


def _made(low: float, high: float, size: int, *, whole: bool) -> list[Any]:
    """Return numbers between two limits: evenly spread, near 0 where the limits are far."""
    low, high = max(low, -100.0) if high > -100 else low, min(high, 100.0) if low < 100 else high
    spread = np.linspace(low, high, size).tolist()
    return [math.floor(each) for each in spread] if whole else spread


def _points(profile: Any, more: float) -> list[tuple[float, float]]:
    """Return (epsilon, delta) of a privacy profile."""
    known = ((profile.epsilon(delta), delta + more) for delta in DELTAS)
    return [(epsilon, delta) for epsilon, delta in known if delta < 1 and math.isfinite(epsilon)]


def _shifted(found: DP, more: float) -> DP:
    """Return a curve with so much added to delta, as an approximate divergence allows."""
    if more == 0:
        return found
    points = [(each.epsilon, each.delta + more) for each in found.points]
    return Profile([each for each in points if each[1] < 1], source=found.source)
