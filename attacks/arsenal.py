"""Every score attack by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpassay.attacks.confidence import Confidence, Entropy, ModifiedEntropy
from dpassay.attacks.gap import Gap
from dpassay.attacks.likelihood import LikelihoodRatio
from dpassay.attacks.lira import Lira
from dpassay.attacks.rmia import Rmia
from dpassay.attacks.shadow import Shadow
from dpassay.attacks.single_record import SingleRecord
from dpassay.attacks.threshold import LossThreshold

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
