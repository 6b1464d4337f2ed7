"""The status of a result: a word, a shape and a rank. Colour only ever repeats what these say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Status:
    """What became of a claim, as a reader meets it."""

    slug: str  # for style sheets
    word: str  # the verdict, and whether it was expected
    symbol: str  # a shape of its own, so that nothing hangs on colour
    rank: int  # place in the worst-first order; 0 is worst
    meaning: str  # one sentence for the reader who sees the word for the first time


REFUTED = Status(
    "refuted", "refuted", "▲", 0, "A certified lower bound on the leak exceeds the claim."
)
ERROR = Status(
    "error", "error", "■", 1, "The mechanism or the audit failed; nothing is known about the claim."
)
MISSED = Status(
    "missed",
    "not refuted, known wrong",
    "▼",
    2,
    "The claim is declared wrong, but this audit did not refute it: it was too weak, or the "
    "violation lies elsewhere.",
)
INCONCLUSIVE = Status(
    "inconclusive",
    "inconclusive",
    "◆",
    3,
    "The audit decided nothing: it could have missed a violation of the size asked for, or "
    "saw nothing move, or a numerical error reaches across the claim.",
)
EXPECTED = Status(
    "expected",
    "refuted as expected",
    "△",
    4,
    "The claim was declared wrong beforehand, and the audit refuted it.",
)
HELD = Status(
    "held",
    "not refuted",
    "●",
    5,
    "No violation was seen. 'Would have seen', in tables 'detectable', says how large one "
    "would have to be, at the pairs looked at, to be refuted; there may be violations "
    "elsewhere.",
)
VERIFIED = Status(
    "verified",
    "verified",
    "★",
    6,
    "Every dataset of the named domain satisfies the whole claim, for the declared law. It "
    "says nothing beyond these.",
)

ALL = (REFUTED, ERROR, MISSED, INCONCLUSIVE, EXPECTED, HELD, VERIFIED)
"""Every status, worst first."""
WRONG, STAND, UNDECIDED = {REFUTED, EXPECTED}, {HELD, VERIFIED}, {ERROR, MISSED, INCONCLUSIVE}
"""The claim is broken; nobody needs to act; the audit failed or is weak."""

_BY_VERDICT = {
    "refuted": REFUTED,
    "error": ERROR,
    "inconclusive": INCONCLUSIVE,
    "not refuted": HELD,
    "verified": VERIFIED,
}


def status_of(result: Mapping[str, Any]) -> Status:
    """Return the status of a record's result, from its verdict and from what was expected."""
    status = _BY_VERDICT[result["verdict"]]
    if result["expected"] != "refuted":
        return status
    return {REFUTED: EXPECTED, ERROR: ERROR}.get(status, MISSED)
