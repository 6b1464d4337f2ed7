"""Every attack by its name."""

from __future__ import annotations

from collections.abc import Callable

from dpassay.attacks.attack import Attack
from dpassay.attacks.threshold import LossThreshold

ATTACKS: dict[str, Callable[[], Attack]] = {
    "loss-threshold": LossThreshold,
}
"""Names that `--attacks` takes."""
