"""What a replay found."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 1e-9
"""By how much a leak that is computed again may differ, as a part of it if that is above 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found.

    Parameters
    ----------
    loss : float
        The number found now: the exact leak, the plug-in leak of the counts drawn again, or the
        lower bound certified on fresh trials.
    reproduced : bool
        Whether it is the recorded one: the leak within 1e-9, or the same counts. On fresh trials:
        whether the claim is refuted again, or again not.
    refuted : bool
        Whether the exact leak exceeds the claim, or the recorded lower bound did, or an e-process
        refuted it, and the counts are the same. On fresh trials: whether the bound exceeds the
        claim.
    expected : bool
        Whether the claim is declared wrong, so that a refutation is no alarm.
    words : str
        The comparison in one line.
    change : str
        What was changed, told by the lines that the file has now; empty where there is no file.
    fresh : bool
        Whether the coins are not ours, so that the leak was certified again on fresh trials.
    """

    loss: float
    reproduced: bool
    refuted: bool
    expected: bool
    words: str
    change: str = ""
    fresh: bool = False
