"""Regression: what has become worse, or better, from one record to another, entry by entry.

An entry is a mechanism, its parameters and a claim about it. Nothing about one entry depends on
which others there are.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from dpassay.claims import Claim, claim_from_json
from dpassay.errors import is_real, require
from dpassay.numerics import DOWN, UP, lower_number, number, percent, upper_number, written
from dpassay.privacy_curves import curve_from_json, usual
from dpassay.record.files import trust_of, witness_file
from dpassay.record.old_records import comparable_searches
from dpassay.record.rebound import (
    bounds_at_alpha,
    bounds_of_cell,
    detectable_at_alpha,
    in_common,
    require_alpha,
)

Raw = Mapping[str, Any]
Kind = Literal[
    "refuted",
    "failed",
    "vanished",
    "repointed",
    "weakened",
    "rose",
    "blinder",
    "elsewhere",
    "fell",
    "tightened",
    "recovered",
    "reworded",
    "new",
    "estimated",
    "moved",
]

REGRESSIONS: dict[str, str] = {
    "refuted": "a claim is refuted",
    "failed": "an entry could not be audited, or a claim that is known to be wrong was not refuted",
    "vanished": "an entry is not there any more",
    "repointed": "an entry's name stands for another target",
    "weakened": "a claim promises less than it did",
    "rose": (
        "the leak rose, at cells that both records have certified, by more than the tolerance and "
        "significantly"
    ),
    "blinder": "the audit lost power: it looks at less or elsewhere, or sees less",
}
"""What turns a pipeline red."""
NEWS: dict[str, str] = {
    "elsewhere": (
        "a cell that the old record had not certified leaks more than those it had; that it rose "
        "is not certified"
    ),
    "fell": (
        "the leak fell, at cells that both records have certified, by more than the tolerance and "
        "significantly"
    ),
    "tightened": "a claim promises more than it did",
    "recovered": "a claim is not refuted any more, or could be audited again",
    "reworded": (
        "a claim's unit or coins are described in other words; if more changed, the bounds cannot "
        "be compared"
    ),
    "new": "an entry was not there before",
}
"""What is worth a line, and nothing else."""

TOLERANCE = 0.05
ALPHA = 5e-4
"""Error probability of every bound of an entry; a constant, so that adding a mechanism changes
nothing for the others.

What is said of an entry rests on one bound of either record, so it holds with 99.9 %, which is a
run's confidence by default.
"""
PLACES = {"pairs": "pairs", "queries": "query points"}
"""Fields of `searched` that say where an audit looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is different.

    Parameters
    ----------
    id : str
        The result's in the new record; in the old one if it vanished.
    mechanism : str
    kind : str
        A key of `REGRESSIONS` or `NEWS`; of attacks also `estimated`, of theorems also `moved`.
    words : str
        What is different, with numbers.
    witness, replay : str
        Of a refuted claim: the witness in words, and the file that `dpassay replay` takes, with
        `--trust` after it where that is needed; else empty.
    size : float or None
        How bad it is, in the units of the claim, where that is a number: the leak that is certified
        now (refuted, rose), or the smallest that would still be seen (blinder).
    renamed : tuple of (str, str), or None
        Where this looks like a new name and nothing else: the old name and the new one, of the
        mechanism (vanished) or of what it stands for (repointed).
    """

    id: str
    mechanism: str
    kind: Kind
    words: str
    witness: str = ""
    replay: str = ""
    size: float | None = None
    renamed: tuple[str, str] | None = None

    @property
    def is_regression(self) -> bool:
        """Whether it turns a pipeline red."""
        return self.kind in REGRESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class RiseLimit:
    """Which rise of a sampled entry's leak would have been seen.

    Parameters
    ----------
    id : str
        The result's in the new record.
    quantity : str
        What the claim is about, in words.
    cells, of : int
        So many of the cells that the old record lists have fresh counts in the new one.
    before : tuple of float
        Bounds in the old record on the leak of that of those cells which has the highest lower
        bound, in the units of the claim.
    least : float
        The smallest leak of that cell that would have been called a rise with probability 0.9; inf
        where none would.
    searched : bool
        Whether the pairs of the new record were searched for, so that each run may find others.
    noun : str
        What cells are called: `cell`, or of attacks `number`.
    """

    id: str
    quantity: str
    cells: int
    of: int
    before: tuple[float, float]
    least: float
    searched: bool = False
    noun: str = "cell"

    def as_json(self) -> dict[str, Any]:
        """Every field, for programs."""
        before = [lower_number(self.before[0]), upper_number(self.before[1])]
        return asdict(self) | {"before": before, "least": upper_number(self.least)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A record held against an older one.

    Parameters
    ----------
    changes : tuple of Change
        Regressions first, in the order of the new record.
    unchanged : tuple of str
        Ids of the results of the new record that nothing is said of.
    tolerance : float
        Part of the claim by which a bound may move.
    alpha : float
        Error probability of every bound of an entry.
    rise_limits : tuple of RiseLimit
        What would have been seen of each sampled entry that both records hold.
    """

    changes: tuple[Change, ...]
    unchanged: tuple[str, ...]
    tolerance: float
    alpha: float
    rise_limits: tuple[RiseLimit, ...] = ()

    @property
    def blind(self) -> tuple[RiseLimit, ...]:
        """Entries of which no cell of the old record was counted again.

        No rise of theirs could have been seen.
        """
        return tuple(limit for limit in self.rise_limits if not limit.cells)

    @property
    def regressions(self) -> tuple[Change, ...]:
        """What turns a pipeline red."""
        return tuple(change for change in self.changes if change.is_regression)

    @property
    def news(self) -> tuple[Change, ...]:
        """The rest."""
        return tuple(change for change in self.changes if not change.is_regression)

    def as_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "schema": "dpassay/comparison/1",
            "tolerance": self.tolerance,
            "alpha": self.alpha,
            "regressions": [_json(change) for change in self.regressions],
            "news": [_json(change) for change in self.news],
            "unchanged": list(self.unchanged),
            "rise_limits": [limit.as_json() for limit in self.rise_limits],
        }


def _json(change: Change) -> dict[str, Any]:
    size = None if change.size is None else number(change.size)
    renamed = None if change.renamed is None else list(change.renamed)
    return asdict(change) | {"size": size, "renamed": renamed}


def compare(
    old: Raw, new: Raw, *, tolerance: float = TOLERANCE, alpha: float = ALPHA
) -> Comparison:
    """Hold a record against an older one.

    Parameters
    ----------
    old, new : mapping
        Records.
    tolerance : float
        A bound may move by this part of the claim before anything is said.
    alpha : float
        Error probability in (0, 0.25] of each bound that is made anew from the counts of either
        record; the leaks at the cells that both have certified are then ordered as is said with
        probability at least 1 - 2 alpha.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidInput
        If tolerance or alpha are out of range, or a record is not what it should be.
    """
    require(
        is_real(tolerance) and 0 <= tolerance <= 1, "tolerance", tolerance, "a number in [0, 1]"
    )
    require_alpha(alpha)
    before, after = _entries(old["results"]), _entries(new["results"])
    changes: list[Change] = []
    unchanged = []
    for key, result in after.items():
        found = list(
            _new(result) if key not in before else _changes(before[key], result, tolerance, alpha)
        )
        changes += found
        if not found:
            unchanged.append(result["id"])
    names = renamings(old["results"], new["results"])
    changes += [
        _vanished(result, after.values(), names)
        for key, result in before.items()
        if key not in after
    ]
    changes.sort(key=lambda change: not change.is_regression)
    both = [(before[key], result) for key, result in after.items() if key in before]
    rise_limits = tuple(
        _rise_limit(old, new, tolerance, alpha)
        for old, new in both
        if _sampled(old) and _sampled(new)
    )
    return Comparison(
        changes=tuple(changes),
        unchanged=tuple(unchanged),
        tolerance=tolerance,
        alpha=alpha,
        rise_limits=rise_limits,
    )


def _entries(results: Sequence[Raw]) -> dict[str, Raw]:
    """Return results by what they are about."""
    return dict(zip(entry_keys(results), results, strict=True))


def entry_keys(results: Iterable[Raw]) -> tuple[str, ...]:
    """Return what each result of a record is known by in every record.

    Of two about the same, the second is the second one; results about other things change nothing.
    """
    seen: Counter[str] = Counter()
    keys = []
    for result in results:
        key = entry_key(result["mechanism"], result["parameters"], result["claim"])
        seen[key] += 1
        keys.append(f"{key} {seen[key]}")
    return tuple(keys)


def entry_key(mechanism: str, parameters: Raw, claim: Raw) -> str:
    """Return what an entry is known by in every record.

    The mechanism, its parameters, and the claim's kind, relation and status; of a privacy curve its
    kind too, not the point that was chosen.

    The unit and the coins of a claim are text for people: they may be reworded, and are no part of
    it.
    """
    about = {name: claim[name] for name in ("kind", "relation", "status")}
    if claim.get("curve"):
        about["curve"] = claim["curve"]["kind"]
    return json.dumps([mechanism, parameters, about], sort_keys=True)


def _change(result: Raw, kind: Kind, words: str, size: float | None = None) -> Change:
    """Describe a change; its size is rounded as it is written.

    So a suppression may quote it.
    """
    if size is not None:
        size = float(upper_number(size) if kind == "blinder" else lower_number(size))
    return Change(id=result["id"], mechanism=result["mechanism"], kind=kind, words=words, size=size)


def _new(result: Raw) -> Iterable[Change]:
    """Say that an entry is new, and what else is to be said of it without an old one."""
    yield from _own(result)
    yield _change(result, "new", f"was not audited before: {_claim(result)}, {result['verdict']}")


def renamings(old: Sequence[Raw], new: Sequence[Raw]) -> dict[str, str]:
    """Return which mechanisms look renamed from one record's results to another's.

    One that is there no more, and one that was not there before, with equal claims and parameters;
    where two could be meant, nobody is.

    Returns
    -------
    dict of str to str
        New names by old ones.
    """
    before, after = _by_mechanism(old), _by_mechanism(new)
    gone = {name: about for name, about in before.items() if name not in after}
    come = {name: about for name, about in after.items() if name not in before}
    takers = {
        name: [other for other, there in come.items() if there == about]
        for name, about in gone.items()
    }
    wanted = Counter(other for others in takers.values() for other in others)
    return {
        name: others[0]
        for name, others in takers.items()
        if len(others) == 1 and wanted[others[0]] == 1
    }


def _by_mechanism(results: Sequence[Raw]) -> dict[str, list[str]]:
    """Return, by mechanism, the parameters and the promises of each of its results."""
    found: dict[str, list[str]] = {}
    for result in results:
        key = entry_key("", result["parameters"], result["claim"])
        found.setdefault(result["mechanism"], []).append(f"{key} {_numbers(result)}")
    return {name: sorted(about) for name, about in found.items()}


def _vanished(result: Raw, others: Iterable[Raw], names: Mapping[str, str]) -> Change:
    mechanism = result["mechanism"]
    same = [other for other in others if other["mechanism"] == mechanism]
    hint = "; the mechanism is there, with other parameters or another claim" if same else ""
    was = f"{_claim(result)} was {result['verdict']}, and is not audited any more{hint}"
    if mechanism not in names:
        return _change(result, "vanished", was)
    words = (
        f"{was}; {names[mechanism]} is new, with equal claims and parameters: if it is the same "
        "under a new name, move the baseline, then run again"
    )
    return replace(_change(result, "vanished", words), renamed=(mechanism, names[mechanism]))


def _own(result: Raw) -> Iterable[Change]:
    """What is to be said whatever was before.

    A refuted claim is never excused by having been refuted already.
    """
    claim, expected = _claim(result), result["expected"] == "refuted"
    if result["verdict"] == "refuted" and not expected:
        computed = result["exact"] is not None
        certainty = (
            "computed from the exact law"
            if computed
            else f"certified at {percent(result['confidence'])} confidence"
        )
        witness = result["witness"] or {}
        yield Change(
            id=result["id"],
            mechanism=result["mechanism"],
            kind="refuted",
            words=f"{claim} is refuted: {result['reason']}; {certainty}",
            witness=witness.get("words", ""),
            replay=_replayed(result),
            size=float(result["lower"]),
        )
    elif result["verdict"] == "error":
        yield _change(result, "failed", f"{claim} could not be audited: {result['reason']}")
    elif expected and result["verdict"] != "refuted":
        yield _change(
            result,
            "failed",
            f"{claim} is known to be wrong and was not refuted: the audit is blind",
        )


def _changes(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
    claim, before = _claim(new), _claim(old)
    own = list(_own(new))
    yield from own
    if not own and _bad(old):
        yield _change(new, "recovered", f"{before} was {old['verdict']}: {old['reason']}")
    # from counts a leak at another delta can be made anew
    held = _numbers(new)[1:] == _numbers(old)[1:] or old["exact"] is None
    if _numbers(new) != _numbers(old):
        tighter = all(one <= other for one, other in zip(_numbers(new), _numbers(old), strict=True))
        unheld = (
            ""
            if held
            else (
                "; at another delta a computed loss is another, so whether it rose was NOT looked "
                "at"
            )
        )
        yield _change(
            new,
            "tightened" if tighter else "weakened",
            f"the claim is {claim} and was {before}{unheld}",
        )
    yield from _reworded(old, new)
    if "error" in (old["verdict"], new["verdict"]):
        return
    yield from _target(old, new)
    if new["expected"] == "refuted":
        return
    yield from _power(old, new, tolerance, alpha)
    if held:
        yield from _bounds(old, new, tolerance, alpha)


def _reworded(old: Raw, new: Raw) -> Iterable[Change]:
    """Say that the text which describes what a claim is about is another one."""
    for name in ("unit", "coins"):
        before, after = old["claim"][name], new["claim"][name]
        if before != after:
            yield _change(new, "reworded", f"the claim's {name}: '{after}', and was '{before}'")


def _target(old: Raw, new: Raw) -> Iterable[Change]:
    """Say that a name stands for something else.

    `witness` holds the target of every result that has evidence.
    """
    before, after = ((result["witness"] or {}).get("target") for result in (old, new))
    if before != after:
        words = f"{new['mechanism']} stands for {_shown(after)}, and stood for {_shown(before)}"
        if before is None or after is None:
            yield _change(new, "repointed", words)
            return
        hint = "if it is the same under a new name, move the baseline, then run again"
        yield replace(_change(new, "repointed", f"{words}; {hint}"), renamed=(before, after))


def _shown(target: str | None) -> str:
    return "an object in memory" if target is None else target


def _power(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
    """Say what an audit has lost, judged by what does not move when alpha is shared.

    Shared with another mechanism, that is.

    So for trials neither the recorded detectable leak nor `inconclusive` says anything: what so
    many trials can detect is worked out anew, at the common alpha and at the cells of the old
    record.
    """
    claim, here, there = _read(new), new["searched"], old["searched"]
    draws, before = (_draws(result["per_query"][0]) for result in (new, old))
    # where nothing depends on a query, one will do
    places = PLACES if here.get("asked", True) else {"pairs": PLACES["pairs"]}
    lost = [
        f"{words} {here[name]:,} instead of {there[name]:,}"
        for name, words in places.items()
        if here[name] < there[name]
    ]
    gone, found = _elsewhere(there, here), _elsewhere(here, there)
    if gone:
        lost.append(f"looked elsewhere: {_list(found)} instead of {_list(gone)}")
    if new["exact"] is None and old["exact"] is not None:
        lost.append("sampled, and was computed")
    if 0 < draws < before:
        seen, could = (detectable_at_alpha(old, claim, each, alpha) for each in (draws, before))
        if seen - could > tolerance * claim.promised:
            trials = f"{draws:,} instead of {before:,} trials a side"
            lost.append(
                f"{trials}: detectable {written(seen, 4, UP)} instead of {written(could, 4, UP)} "
                "at one error probability"
            )
    if new["exact"] is not None and new["verdict"] == "inconclusive" != old["verdict"]:
        lost.append(f"inconclusive: {new['reason']}")
    if lost:
        sampled = new["exact"] is None
        size = (
            detectable_at_alpha(new, claim, draws, alpha) if sampled else float(new["detectable"])
        )
        yield _change(new, "blinder", "; ".join(lost), size)


def _elsewhere(one: Raw, other: Raw) -> list[str]:
    """Say, in words, which searches of one record the other has not made."""
    keys, known = comparable_searches(one, other)
    left = Counter(known)
    missing = []
    for key, how in zip(keys, one["how"], strict=True):
        left[key] -= 1
        if left[key] < 0:
            missing.append(how)
    return missing


def _list(how: Iterable[str]) -> str:
    return ", ".join(f"'{each}'" for each in how) or "nowhere"


def _bounds(old: Raw, new: Raw, tolerance: float, alpha: float) -> Iterable[Change]:
    """Say that a leak moved, by more than the tolerance and so that the two intervals do not meet.

    Which cells are certified is chosen by the screening, from noise: only the very same cell tells
    whether the mechanism has changed, or any cell where the law was computed for all of them.
    """
    claim, shared, alike = _read(new), in_common(old, new), _sought_alike(old, new)
    all_shared = len(shared[0]) == len(old["per_query"]) == len(new["per_query"])
    margin = tolerance * claim.promised
    everywhere = before, after = _both(old, new, claim, alpha)

    def spans(*, known: bool) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Return old and new bounds at cells whose leaks may be held against each other."""
        if all_shared or (alike and known):
            return everywhere
        return _both(old, new, claim, alpha, shared) if shared[0] else None

    rise, fall = spans(known=old["exact"] is not None), spans(known=new["exact"] is not None)
    one_by_one = [_cell_spans(old, new, claim, alpha, shared, k) for k in range(len(shared[0]))]
    rises = [
        each
        for each in (*one_by_one, rise)
        if each is not None and _above(each[1], each[0], margin)
    ]
    if rises:
        most = max(rises, key=lambda both: both[1][0] - both[0][1])
        yield _change(new, "rose", _moved(most, old, new, claim), max(after[0], most[1][0]))
    elif _above(after, before, margin):
        words = (
            f"the {claim.quantity} is at least {written(after[0], way=DOWN)} at a cell that the "
            f"old record had not certified, and was at most {written(before[1], way=UP)} at those "
            f"it lists; whether it rose there is not known; the claim allows {claim.promised:g}"
        )
        yield _change(new, "elsewhere", words)
    elif fall is not None and _above(fall[0], fall[1], margin):
        yield _change(new, "fell", _moved(fall, old, new, claim))


def _cell_spans(
    old: Raw,
    new: Raw,
    claim: Claim,
    alpha: float,
    shared: tuple[Sequence[Raw], Sequence[Raw]],
    k: int,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bounds of both records at one of the cells that they share.

    All of these hold together.
    """
    one, other = (
        bounds_of_cell(each, claim, alpha, cells, k)
        for each, cells in zip((old, new), shared, strict=True)
    )
    return one, other


def _both(
    old: Raw,
    new: Raw,
    claim: Claim,
    alpha: float,
    cells: tuple[Sequence[Raw] | None, Sequence[Raw] | None] = (None, None),
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bounds of both records at some of their cells, by default at all they list."""
    return bounds_at_alpha(old, claim, alpha, cells[0]), bounds_at_alpha(
        new, claim, alpha, cells[1]
    )


def _sampled(result: Raw) -> bool:
    """Whether a result has trials that a rise could be seen in.

    A claim that is known to be wrong is not watched.
    """
    return bool(
        result["verdict"] != "error" and result["exact"] is None and result["expected"] != "refuted"
    )


def _rise_limit(old: Raw, new: Raw, tolerance: float, alpha: float) -> RiseLimit:
    """Say which rise would have been seen at the cells that both records have counted."""
    claim, (here, there) = _read(new), in_common(old, new)
    before, least = (0.0, math.inf), math.inf
    if here:
        every = [bounds_of_cell(old, claim, alpha, here, k) for k in range(len(here))]
        worst = max(range(len(here)), key=lambda k: every[k][0])
        before = every[worst]
        must_exceed = max(before[1], before[0] + tolerance * claim.promised)
        least = detectable_at_alpha(
            new,
            claim,
            _draws(there[worst]),
            alpha,
            must_exceed,
            (there[worst], *there[:worst], *there[worst + 1 :]),
        )
    return RiseLimit(
        id=new["id"],
        quantity=claim.quantity,
        cells=len(here),
        of=len(old["per_query"]),
        before=before,
        least=least,
        searched="search" in new["searched"],
    )


def _above(one: tuple[float, float], other: tuple[float, float], margin: float) -> bool:
    """Whether an interval lies above another, and starts by more than the margin higher."""
    return one[0] > other[1] and one[0] - other[0] > margin


def _sought_alike(old: Raw, new: Raw) -> bool:
    """Whether two records have audited the same cells.

    They have if this is so and the data are the same.
    """
    here, there = new["searched"], old["searched"]
    keys, known = comparable_searches(here, there)
    data, before = ({cell.get("data") for cell in result["per_query"]} for result in (new, old))
    return (here["pairs"], here["queries"], keys, data) == (
        there["pairs"],
        there["queries"],
        known,
        before,
    )


def _moved(
    bounds: tuple[tuple[float, float], tuple[float, float]], old: Raw, new: Raw, claim: Claim
) -> str:
    before, after = bounds
    return (
        f"the {claim.quantity} is {_span(after, new)} and was {_span(before, old)}; the claim "
        f"allows {claim.promised:g}"
    )


def _span(bounds: tuple[float, float], result: Raw) -> str:
    if result["exact"] is not None:
        return written(bounds[1])
    return (
        f"between {written(bounds[0], way=DOWN)} and {written(bounds[1], way=UP)} at the cells "
        "that both certified"
    )


def _claim(result: Raw) -> str:
    return str(_read(result))


def _read(result: Raw) -> Claim:
    return claim_from_json(dict(result["claim"]), result["expected"])


def _numbers(result: Raw) -> tuple[float, ...]:
    """Return what a claim promises: the larger, the weaker; of a curve its usual point."""
    if result["claim"].get("curve"):
        return usual(curve_from_json(result["claim"]["curve"]).points())
    names = ("epsilon", "delta", "mu", "gamma", "beta1", "beta2", "bound")
    return tuple(
        float(result["claim"][name]) for name in names if result["claim"].get(name) is not None
    )


def _bad(result: Raw) -> bool:
    return bool(
        result["verdict"] == "error"
        or (result["verdict"] == "refuted") != (result["expected"] == "refuted")
    )


def _draws(cell: Raw) -> int:
    """Return the certification trials per side of a cell; 0 where the law was computed."""
    if cell["counts"] is not None:
        return int(cell["counts"]["n1"])
    return 0 if cell["histograms"] is None else sum(cell["histograms"]["one"])


def _replayed(result: Raw) -> str:
    """Return the file, below the record's folder, that replays a result; with what it needs.

    Empty where its data lived in memory.
    """
    witness = result["witness"]
    if not witness or witness["target"] is None or witness["data"].get("kind") == "memory":
        return ""
    return f"{witness_file(result['id'])}{trust_of(witness)}"
