"""Replaying a witness: its trials again, its bound again, and its digests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.changes import Change, changed_lines
from dpassay.config.profiles import CONFIDENCE
from dpassay.engine.exact import check_alike, readable
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.tester import Recorded
from dpassay.engine.verdicts import apart
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw, Law
from dpassay.numerics import DOWN, UNIT_ROUNDOFF, loss
from dpassay.record.replay_case import ReplayCase, case_of
from dpassay.record.trust import file_of, foreign, shown
from dpassay.record.witness import witness_fault
from dpassay.stats.betting import GRID
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.divergence import CellLoss
from dpassay.stats.eprocess import log_e_of
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import draw
from dpassay.trials.encoders import Rounded
from dpassay.trials.executors import ExecutorOptions, executor
from dpassay.trials.kept import Matches
from dpassay.trials.tasks import Task, TrialRunner
from dpassay.trials.threads import one_thread

Raw = Mapping[str, Any]
RawParts = Sequence[Raw]
"""Parts of trials as a witness has them: `phase` and `draws`."""
Tally = NDArray[np.int64]
"""How often each symbol was counted."""
Tallied = Callable[[RawParts], tuple[Tally, Tally]]
"""Draws parts of trials on both sides."""

TOLERANCE = 1e-9
"""By how much a leak that is computed again may differ, as a part of it if that is above 1."""
FRESH = "replay"
"""Phase of the trials that certify anew what has coins of its own."""
BEFORE = {"alpha": (1 - CONFIDENCE) / 2, "method": "clopper-pearson"}
"""How a bound is made anew for a witness that does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found."""

    loss: float  # exact, the plug-in of the counts drawn again, or the bound on fresh trials
    reproduced: bool  # the leak within 1e-9, or the same counts; on fresh trials, the same verdict
    refuted: bool
    expected: bool  # whether a refutation is no alarm
    words: str
    change: str = ""
    fresh: bool = False


def replay(
    witness: Raw,
    *,
    file: str | None = None,
    target: AuditTarget | None = None,
    group: PairGroup | None = None,
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


def _replayed(case: ReplayCase) -> Replay:
    """Run a witness again, by the laws or the trials that it was found by."""
    if isinstance(case.coding, Matches):
        with _drawn_there(case) as tally:
            return _judged(case, tally)
    state = case.subject.prepare(case.place.pairs.base)
    neighbour = case.subject.neighbour(case.place.pairs.base, state, case.change)
    if case.witness["trials"] is None:
        return _computed_again(case, state, neighbour)
    return _judged(case, _drawn_here(case, state, neighbour))


def _refuse(witness: Raw, *, given: bool, read: bool) -> None:
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


def _computed_again(case: ReplayCase, state: Any, neighbour: Any) -> Replay:
    """Compute the leak of a witness again."""
    claim, recorded = case.claim, case.recorded
    laws = [_law(case, state, "S"), _law(case, neighbour, "S'")]
    found = _exact(case, laws[::-1] if case.flipped else laws)
    value = float(found.value)
    same = value == recorded or abs(value - recorded) <= TOLERANCE * max(1.0, recorded)
    return Replay(
        loss=value,
        reproduced=same,
        refuted=float(found.certain) > claim.promised and claim.status != "measured",
        expected=claim.expected == "refuted",
        words=f"{claim.quantity} {value:.12g}, recorded {recorded:.12g}",
    )


def _exact(case: ReplayCase, laws: list[Law]) -> CellLoss:
    """Return the leak from the first law to the other, of an event, all events, or a prediction."""
    check_alike(laws[0], laws[1], "S'")
    leaks = readable(case.subject, case.claim, laws[0])
    one, other = (law.table[case.query] for law in laws)
    error = max(law.error for law in laws)
    if isinstance(laws[0], FiniteLaw):
        event = case.weights > 0
        one, other = (
            np.array([logsumexp(log_p[~event]), logsumexp(log_p[event])]) for log_p in (one, other)
        )
        error += UNIT_ROUNDOFF * len(event)
    return leaks.loss(one, other, error)


def _law(case: ReplayCase, state: Any, where: str) -> Law:
    law: Law | None = case.subject.law(state, case.place.queries, where)
    if law is None:
        raise InvalidInput(
            f"{case.subject.name} has no exact law any more for the data of this witness"
        )
    return law


def _judged(case: ReplayCase, tally: Tallied) -> Replay:
    """Hold trials against a witness: the same ones, or fresh ones where its coins are not ours."""
    assert case.trials is not None
    own = case.trials.get("own_coins")
    if own is None and case.subject.seeded:
        return _compared(case, case.trials, tally)
    return _certified(case, own or BEFORE, int(case.trials["draws"]), tally)


def _certified(case: ReplayCase, own: Raw, draws: int, tally: Tallied) -> Replay:
    """Bound the leak of the witness's event anew, on fresh trials, by the test of the record."""
    claim, recorded = case.claim, case.recorded
    one, other = tally([{"phase": FRESH, "draws": draws}])
    cell, seen = _cell(case, own, one, other)
    value = kind_of(claim).lower_again(cell, float(own["alpha"]))
    refuted, before = (
        value > claim.promised,
        recorded > claim.promised or "stopped_early" in case.witness,
    )
    least, allowed = apart(value, claim.promised, DOWN)
    recalled = "" if refuted == before else f", recorded {loss(recorded, DOWN)}"
    limit = "" if claim.status == "measured" else f", the claim allows {allowed}"
    return Replay(
        loss=value,
        reproduced=refuted == before,
        refuted=refuted and claim.status != "measured",
        expected=claim.expected == "refuted",
        words=f"on fresh trials the {claim.quantity} is at least {least}{seen}{recalled}{limit}",
        change=_in_file(case),
        fresh=True,
    )


def _cell(case: ReplayCase, own: Raw, one: Tally, other: Tally) -> tuple[Recorded, str]:
    """Return what is bounded anew, and its counts in words."""
    if isinstance(case.coding, Rounded):
        spread = tuple(map(float, own["spreads"]))
        histograms = Histograms(
            one=tuple(one.tolist()),
            other=tuple(other.tolist()),
            spreads=(spread[0], spread[1]),
            limits=(case.coding.low, case.coding.high),
        )
        return Recorded(method=own["method"], counts=None, histograms=histograms), ""
    n, x, y = int(one.sum()), int(one @ case.weights), int(other @ case.weights)
    counts = Counts(x=x, n1=n, y=y, n0=n)
    cell = Recorded(method=own["method"], counts=counts, histograms=None)
    return cell, f" ({x:,} of {n:,} against {y:,} of {n:,})"


def _compared(case: ReplayCase, trials: Raw, tally: Tallied) -> Replay:
    """Hold counts, or sums of grid points, against those of a witness."""
    claim, coding, n = case.claim, case.coding, int(trials["draws"])

    def counted(parts: RawParts) -> tuple[int, int]:
        one, other = tally(parts)
        return int(one @ case.weights), int(other @ case.weights)

    x, y = counted(trials.get("parts") or [{"phase": "certify", "draws": n}])
    same, stopped = (x, y) == (trials["x"], trials["y"]), "stopped_early" in case.witness
    if stopped:
        same &= _refuted_early(case, counted)
    if isinstance(coding, Rounded):
        low, width = coding.low, coding.high - coding.low
        first, second = (low + width * total / (n * GRID) for total in (x, y))
        value, words = (
            max(0.0, first - second),
            f"means {first:.6g} and {second:.6g} of {n} runs each",
        )
    else:
        value = max(0.0, float(scale_of(claim).between(x / n, y / n)))
        words = f"{x} of {n} against {y} of {n}, recorded {trials['x']} against {trials['y']}"
    return Replay(
        loss=value,
        reproduced=same,
        refuted=same and (stopped or case.recorded > claim.promised),
        expected=claim.expected == "refuted",
        words=words,
        change=_in_file(case),
    )


def _refuted_early(case: ReplayCase, counted: Callable[[RawParts], tuple[int, int]]) -> bool:
    """Return whether the trials that an e-process saw come out again, and refute the claim.

    How they were dealt into pairs is taken from the witness.
    """
    early = case.witness["stopped_early"]
    _, only_other, only_one, both = early["pairs"]
    allowed = scale_of(case.claim).allowed(case.claim.promised)
    return (
        counted(early["parts"]) == (only_one + both, only_other + both)
        and float(log_e_of(early["pairs"], allowed)) >= math.log(early["threshold"]) - TOLERANCE
    )


def _in_file(case: ReplayCase) -> str:
    """Tell what was changed by the lines of the file; empty where there is no file."""
    return str(case.change) if changed_lines(case.change) else ""


def _drawn_here(case: ReplayCase, state: Any, neighbour: Any) -> Tallied:
    """Return what draws parts of the trials, and counts the symbols answered on both sides."""
    assert case.trials is not None
    seed = int(case.trials["seed"])
    sides: list[tuple[Any, Change | None]] = [(state, None), (neighbour, case.change)]
    if case.flipped:
        sides.reverse()

    def counted(state: Any, side: Change | None, part: Raw) -> Tally:
        size, phase = int(part["draws"]), part["phase"]
        every: Tally = draw(
            case.subject, state, case.place, side, size, case.coding, phase=phase, seed=seed
        )[case.query]
        return every

    def tally(parts: RawParts) -> tuple[Tally, Tally]:
        one, other = (
            np.sum([counted(state, side, part) for part in parts], axis=0) for state, side in sides
        )
        return one, other

    return tally


@contextmanager
def _drawn_there(case: ReplayCase) -> Iterator[Tallied]:
    """Draw the trials of a learned event where the mechanism runs."""
    told = "trials, as its event was learned"
    require(case.trials is not None, "the witness", "no trials", told)
    assert case.trials is not None
    group = replace(case.place, pairs=replace(case.place.pairs, changes=(case.change,)))
    runner = TrialRunner(case.subject, (group,), (case.coding,), int(case.trials["seed"]))

    with executor(runner, ExecutorOptions()) as opened:

        def tally(parts: RawParts) -> tuple[Tally, Tally]:
            """Count answers outside and inside the event, on both sides, in parts of the trials."""
            tasks = [
                Task(group=0, pair=pair, phase=part["phase"], size=int(part["draws"]))
                for pair in ((0, None) if case.flipped else (None, 0))
                for part in parts
            ]
            found = [counts[case.query] for counts in opened.counts(tasks)]
            return sum(found[1 : len(parts)], found[0]), sum(
                found[len(parts) + 1 :], found[len(parts)]
            )

        yield tally
