"""The verdict on a claim, from certified numbers only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpassay.claims import Claim
from dpassay.engine.evidence import Evidence
from dpassay.engine.wording import seen_words
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
        cause = f"sample and distribution disagree ({seen}): the exact numbers do not describe what"
        return Verdict(word="error", reason=f"{cause} runs")
    part = whole = ""
    if looked_at:
        part = f" of what was looked at ({looked_at.rstrip(',')})"
        whole = ", so that of the whole release is at least as large"
    if evidence.worst.exact is None:
        return _sampled(claim, evidence, detect, most, part, whole)
    return _computed(claim, evidence, evidence.worst.exact.value, part, whole)


def _computed(claim: Claim, evidence: Evidence, worst: float, part: str, whole: str) -> Verdict:
    lower, upper, promised = evidence.lower, evidence.upper, claim.promised
    span = f"between {loss(lower.value, DOWN)} and {loss(upper.value, UP)}"
    # its error reaches digits that are shown
    blurred = worst - lower.value > VISIBLE * max(1.0, worst)
    allowed, quantity = f"the claim allows {promise(promised)}", claim.amount
    everywhere = "at the audited cells" if evidence.domain is None else f"over {evidence.domain}"
    subject = f"the worst {quantity}{part} {everywhere} is"
    if lower.value > promised:
        found = exact(worst, promised, exceeds=True)
        if blurred:
            found = f"at least {below(lower.value, promised)}"
        beside = promise(promised, lower.value if blurred else worst)
        reason = f"{subject} {found}{whole}; the claim allows {beside}"
        return Verdict(word="refuted", reason=reason)
    rounding = ROUNDING * (promised or 1.0)
    if upper.value > promised + rounding:
        reason = f"the numerical error of the law leaves the {quantity}{part} {span}; {allowed}"
        return Verdict(word="inconclusive", reason=reason)
    shown = span if blurred else exact(worst, promised, exceeds=False)
    above_only = worst == 0 and claim.coupled and upper.value > 0
    if above_only:
        shown = f"at most {loss(upper.value, UP)}"
    if upper.value > promised:  # by rounding alone
        equal = not above_only and promised - lower.value <= rounding
        equal_words = ", equal to the claim within numerical error"
        shown += equal_words if equal else ", above the claim by rounding at most"
        allowed += " (rounded up)" if float(promise(promised)) > promised * (1 + SAME) else ""
    allowed += "; that of the whole release may be larger" if part else ""
    # a part of the release, or some points of a curve, do not decide the whole claim
    verified = evidence.domain is not None and not part and claim.decided
    held: VerdictWord = "verified" if verified else "not refuted"
    return Verdict(word=held, reason=f"{subject} {shown}; {allowed}")


def _sampled(
    claim: Claim, evidence: Evidence, detect: float, most: float, part: str, whole: str
) -> Verdict:
    quantity, lower = claim.amount, evidence.lower
    least, promised = below(lower.value, claim.promised), promise(claim.promised, lower.value)
    shown = ""
    if (counts := lower.counts) is not None:
        shown = f" ({counts.x:,} of {counts.n1:,} against {counts.y:,} of {counts.n0:,})"
    allowed = f"the claim allows {promised}"
    found = f"the {quantity}{part} is at least {least}{shown}{whole}; {allowed}"
    if lower.value > claim.promised:
        return Verdict(word="refuted", reason=found)
    if claim.promised >= most:
        return Verdict(word="not refuted", reason=f"{found}, which cannot be exceeded")
    if evidence.still and not claim.coupled:
        at, advice = "a certified cell", "choose pairs and queries where a record matters"
        if "search" in evidence.searched:
            at = "the pair that the search found"
            advice = "raise the budget, or see that the data are such that a change matters"
        cells = f"no lower bound on the {quantity}{part} at {at} is above 0"
        reason = f"the audit saw nothing move: {cells}; {advice}; {allowed}"
        return Verdict(word="inconclusive", reason=reason)
    if evidence.detectable > detect:
        seen = seen_words(quantity + part, evidence.detectable, evidence.sight.frequency)
        weak = f"the audit would have seen {seen}; it was asked to see {detect:.4g}"
    elif evidence.sight.assumed and evidence.open_beyond(detect):
        weak = (
            f"the screening saw nothing move; where the certification did, the {quantity} may be "
            f"above {detect:.4g}"
        )
    else:
        return Verdict(word="not refuted", reason=found)
    return Verdict(word="inconclusive", reason=f"{found}; {weak}: raise the budget")


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
