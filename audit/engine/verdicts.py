"""The verdict on a claim, from certified numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpassay.claims import Claim
from dpassay.engine.early import Stopped
from dpassay.engine.evidence import Evidence
from dpassay.engine.wording import seen_words, stopped_words
from dpassay.numerics import (
    ALL_DIGITS,
    DOWN,
    NEAREST,
    SAME,
    UP,
    VISIBLE,
    below,
    exact,
    loss,
    promise,
    rounded,
    written,
)
from dpassay.stats.bounds import Bound

VerdictWord = Literal["refuted", "not refuted", "verified", "inconclusive", "error"]

ROUNDING = 1e-9
"""Numerical error up to this part of the claim (of 1 where it is 0) is rounding; if more of it
straddles the claim, nothing is decided."""
FIT_ALARM = 1e-6
"""A sampler whose goodness of fit has a smaller p-value than this does not follow its declared
law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A verdict word, the sentence that says why, and a failing mechanism's words (unrecorded)."""

    word: VerdictWord
    reason: str
    detail: str = ""


def decide(
    claim: Claim, evidence: Evidence, detect: float, most: float = math.inf, looked_at: str = ""
) -> Verdict:
    """Return the verdict of the evidence on the claim.

    A sampled audit that nothing refutes is `inconclusive` where it could not see the leak `detect`,
    or saw nothing move; not where no leak above `most`, the claim, is possible. `looked_at` says in
    words what was answered of the release, where that is not all of it. Raise TypeError if the
    evidence carries an estimate where a certified bound belongs.
    """
    lower, upper = evidence.lower, evidence.upper
    for bound in (lower, upper):
        if not isinstance(bound, Bound):
            raise TypeError(f"a verdict needs certified bounds, not {type(bound).__name__}")
    fit = evidence.fit
    if fit is not None and fit.p_value < FIT_ALARM:
        seen = f"p = {fit.p_value:.2g} in {fit.tests} tests"
        return Verdict(
            word="error",
            reason=(
                f"sample and distribution disagree ({seen}): the exact numbers do not describe "
                "what runs"
            ),
        )
    if evidence.worst.exact is None:
        return _sampled(claim, evidence, detect, most, looked_at)
    worst, promised = evidence.worst.exact.value, claim.promised
    span = f"between {loss(lower.value, DOWN)} and {loss(upper.value, UP)}"
    # its error reaches digits that are shown
    blurred = worst - lower.value > VISIBLE * max(1.0, worst)
    allowed, quantity = f"the claim allows {promise(promised)}", claim.amount
    part, whole = _of_part(looked_at)
    everywhere = "at the audited cells" if evidence.domain is None else f"over {evidence.domain}"
    subject = f"the worst {quantity}{part} {everywhere} is"
    if lower.value > promised:
        found = (
            f"at least {below(lower.value, promised)}"
            if blurred
            else exact(worst, promised, exceeds=True)
        )
        beside = promise(promised, lower.value if blurred else worst)
        return Verdict(
            word="refuted", reason=f"{subject} {found}{whole}; the claim allows {beside}"
        )
    if upper.value > claim.promised + ROUNDING * (claim.promised or 1.0):
        return Verdict(
            word="inconclusive",
            reason=f"the numerical error of the law leaves the {quantity}{part} {span}; {allowed}",
        )
    shown = span if blurred else exact(worst, promised, exceeds=False)
    above_only = worst == 0 and claim.coupled and upper.value > 0
    if above_only:
        shown = f"at most {loss(upper.value, UP)}"
    if upper.value > promised:
        shown += _beside(promised, -math.inf if above_only else lower.value)
        allowed += " (rounded up)" if float(promise(promised)) > promised * (1 + SAME) else ""
    allowed += "; that of the whole release may be larger" if looked_at else ""
    # a part of the release, or some points of a curve, do not decide the whole claim
    verified = evidence.domain is not None and not looked_at and claim.decided
    held: VerdictWord = "verified" if verified else "not refuted"
    return Verdict(word=held, reason=f"{subject} {shown}; {allowed}")


def _beside(promised: float, lower: float) -> str:
    """Say how a leak lies to a claim that its upper bound exceeds by rounding alone."""
    if promised - lower <= ROUNDING * (promised or 1.0):
        return ", equal to the claim within numerical error"
    return ", above the claim by rounding at most"


def apart(found: float, claimed: float, way: str = NEAREST) -> tuple[str, str]:
    """Write a number (a lower bound down) and the claim, with digits that tell an excess apart."""
    digits = 6
    while (
        found > claimed
        and digits < ALL_DIGITS
        and rounded(found, digits, way) <= rounded(claimed, digits, NEAREST)
    ):
        digits += 1
    return written(found, digits, way), written(claimed, digits)


def _of_part(looked_at: str) -> tuple[str, str]:
    """Describe the part that was looked at, if not all, and what its lower bound says of all."""
    if not looked_at:
        return "", ""
    return (
        f" of what was looked at ({looked_at.rstrip(',')})",
        ", so that of the whole release is at least as large",
    )


def _stopped(claim: Claim, stopped: Stopped, found: str, lower: float) -> str:
    """Say which test refuted, and how its finding goes together with a bound from other trials."""
    below_claim = (
        ""
        if lower > claim.promised
        else f"; that bound is not above the claim, which the {stopped.test} alone refutes"
    )
    return f"{stopped_words(*stopped.numbers)}; on fresh trials {found}{below_claim}"


def _sampled(
    claim: Claim, evidence: Evidence, detect: float, most: float, looked_at: str
) -> Verdict:
    quantity, (part, whole) = claim.amount, _of_part(looked_at)
    lower, counts = evidence.lower, evidence.lower.counts
    least, promised = below(lower.value, claim.promised), promise(claim.promised, lower.value)
    shown = (
        ""
        if counts is None
        else f" ({counts.x:,} of {counts.n1:,} against {counts.y:,} of {counts.n0:,})"
    )
    found = f"the {quantity}{part} is at least {least}{shown}{whole}; the claim allows {promised}"
    if evidence.stopped is not None:
        return Verdict(word="refuted", reason=_stopped(claim, evidence.stopped, found, lower.value))
    if lower.value > claim.promised:
        return Verdict(word="refuted", reason=found)
    allowed = f"the claim allows {promised}"
    if claim.promised >= most:
        return Verdict(word="not refuted", reason=f"{found}, which cannot be exceeded")
    if evidence.still and not claim.coupled:
        searched = "search" in evidence.searched
        at = "the pair that the search found" if searched else "a certified cell"
        cells = f"no lower bound on the {quantity}{part} at {at} is above 0"
        advice = (
            "raise the budget, or see that the data are such that a change matters"
            if searched
            else "choose pairs and queries where a record matters"
        )
        return Verdict(
            word="inconclusive", reason=f"the audit saw nothing move: {cells}; {advice}; {allowed}"
        )
    if evidence.detectable > detect:
        seen = seen_words(quantity + part, evidence.detectable, evidence.sight.frequency)
        weak = (
            f"the audit would have seen {seen}; it was asked to see {detect:.4g}: raise the budget"
        )
        return Verdict(word="inconclusive", reason=f"{found}; {weak}")
    if evidence.sight.assumed and evidence.open_beyond(detect):
        may = (
            f"the screening saw nothing move; where the certification did, the {quantity} may be "
            f"above {detect:.4g}"
        )
        return Verdict(word="inconclusive", reason=f"{found}; {may}: raise the budget")
    return Verdict(word="not refuted", reason=found)
