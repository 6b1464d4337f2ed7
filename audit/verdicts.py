"""The verdict on a claim, from certified numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpassay.bounds import Bound
from dpassay.claims import Claim
from dpassay.evidence import Evidence

VerdictWord = Literal["refuted", "not refuted", "verified", "inconclusive", "error"]

FIT_ALARM = 1e-6
"""A sampler whose goodness of fit has a smaller p-value than this does not follow its declared law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One of five words, and the sentence that says why."""

    word: VerdictWord
    reason: str


def decide(claim: Claim, evidence: Evidence, detect: float) -> Verdict:
    """Say what the evidence makes of the claim.

    Parameters
    ----------
    claim : Claim
        What was promised.
    evidence : Evidence
        What was found; its bounds must be of type `Bound`.
    detect : float
        The loss that the audit was asked to be able to see, in nats; a Monte Carlo audit that could not is `inconclusive`.

    Returns
    -------
    Verdict

    Raises
    ------
    TypeError
        If the evidence carries an estimate where a certified bound belongs.
    """
    lower, upper = evidence.lower, evidence.upper
    for bound in (lower, upper):
        if not isinstance(bound, Bound):
            raise TypeError(f"a verdict needs certified bounds, not {type(bound).__name__}")
    fit = evidence.fit
    if fit is not None and fit.p_value < FIT_ALARM:
        return Verdict(
            word="error",
            reason=f"sample and distribution disagree (p = {fit.p_value:.2g} in {fit.tests} tests): the exact numbers are not about what runs",
        )
    if lower.value > claim.epsilon:
        if evidence.mode == "monte-carlo":
            counts = lower.counts
            shown = "" if counts is None else f" ({counts.x} of {counts.n1} against {counts.y} of {counts.n0})"
            return Verdict(word="refuted", reason=f"the loss is at least {lower.value:.6g}{shown}; the claim allows {claim.epsilon:g}")
        return Verdict(word="refuted", reason=f"the loss is {_exact(lower):.6g}; the claim allows {claim.epsilon:g}")
    if evidence.domain is not None:
        equal = "; equal within rounding" if upper.value > claim.epsilon else ""
        return Verdict(word="verified", reason=f"the worst loss of {evidence.domain} is {_exact(lower):.6g}{equal}")
    if evidence.mode == "exact":
        equal = ", equal to the claim within rounding" if upper.value > claim.epsilon else ""
        return Verdict(word="not refuted", reason=f"the worst loss at the audited cells is {_exact(lower):.6g}{equal}")
    if evidence.detectable > detect:
        return Verdict(
            word="inconclusive",
            reason=f"only a loss of {evidence.detectable:.4g} or more would have been seen; {detect:.4g} was asked: raise --budget",
        )
    return Verdict(word="not refuted", reason=f"the loss is at least {lower.value:.6g}, and the claim allows {claim.epsilon:g}")


def _exact(lower: Bound) -> float:
    return lower.value + lower.error
