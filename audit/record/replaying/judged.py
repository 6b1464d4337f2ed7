"""What trials drawn again show: the same counts, or a bound certified anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dpassay.changes import changed_lines
from dpassay.config.profiles import CONFIDENCE
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.interface import Recorded
from dpassay.engine.verdicts import apart
from dpassay.numerics import DOWN, loss
from dpassay.record.replaying.case import Case
from dpassay.record.replaying.found import TOLERANCE, Replay
from dpassay.record.replaying.trials import RawParts, Tallied, Tally
from dpassay.stats.betting import GRID
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.eprocess import log_e_of
from dpassay.stats.scales import scale_of
from dpassay.trials.encoders import Rounded

Raw = Mapping[str, Any]

FRESH = "replay"
"""Phase of the trials that certify anew what has coins of its own."""
BEFORE = {"alpha": (1 - CONFIDENCE) / 2, "method": "clopper-pearson"}
"""How a bound is made anew for a witness of before 0.2, which does not say it."""


def judged(case: Case, tally: Tallied) -> Replay:
    """Hold trials against a witness: the same ones, or fresh ones where its coins are not ours."""
    assert case.trials is not None
    own = case.trials.get("own_coins")
    if own is None and case.subject.seeded:
        return _compared(case, case.trials, tally)
    return _certified(case, own or BEFORE, int(case.trials["draws"]), tally)


def _certified(case: Case, own: Raw, draws: int, tally: Tallied) -> Replay:
    """Bound the leak of the witness's event anew, on fresh trials, by the test of the record."""
    claim, recorded = case.claim, case.recorded
    one, other = tally([{"phase": FRESH, "draws": draws}])
    cell, seen = _cell(case, own, one, other)
    value = kind_of(claim).lower(cell, float(own["alpha"]))
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


def _cell(case: Case, own: Raw, one: Tally, other: Tally) -> tuple[Recorded, str]:
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


def _compared(case: Case, trials: Raw, tally: Tallied) -> Replay:
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


def _refuted_early(case: Case, counted: Callable[[RawParts], tuple[int, int]]) -> bool:
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


def _in_file(case: Case) -> str:
    """Tell what was changed by the lines of the file; empty where there is no file."""
    return str(case.change) if changed_lines(case.change) else ""
