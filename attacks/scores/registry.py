"""Every score attack by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpassay.attacks.scores.confidence import Confidence, Entropy, ModifiedEntropy
from dpassay.attacks.scores.gap import Gap
from dpassay.attacks.scores.likelihood import LikelihoodRatio
from dpassay.attacks.scores.lira import Lira
from dpassay.attacks.scores.loss_threshold import LossThreshold
from dpassay.attacks.scores.rmia import Rmia
from dpassay.attacks.scores.shadow import Shadow
from dpassay.attacks.scores.single_record import SingleRecord

ATTACKS: dict[str, Callable[[], Any]] = {
    "gap": Gap,
    "loss-threshold": LossThreshold,
    "confidence": Confidence,
    "entropy": Entropy,
    "modified-entropy": ModifiedEntropy,
    "shadow": Shadow,
    "single-record": SingleRecord,
    "lira": Lira,
    "lira-offline": partial(Lira, online=False),
    "rmia": Rmia,
    "rmia-offline": partial(Rmia, online=False),
    "likelihood-ratio": LikelihoodRatio,
}
"""Names that `--attacks` takes."""
