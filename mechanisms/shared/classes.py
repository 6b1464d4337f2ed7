"""The classes of hypotheses that a catalogue entry may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpassay.errors import InvalidInput, require
from dpassay.mechanisms.shared.function_class import Functions
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass
from dpassay.mechanisms.shared.line_classes import Intervals, Thresholds
from dpassay.mechanisms.shared.plane_classes import Corners, Halfspaces

CLASSES: dict[str, Callable[..., HypothesisClass]] = {
    "thresholds": Thresholds,
    "intervals": Intervals,
    "corners": Corners,
    "halfspaces": Halfspaces,
    "functions": Functions,
}
"""Names that the parameter `H` of an entry may take."""


def class_of(H: Any, *, points: int, feature: int, feature2: int) -> HypothesisClass:
    """Return a class given by its name, with those of the parameters that it has.

    An object as it is.

    Raises
    ------
    InvalidInput
        If there is no such class, or a parameter is out of its range.
    """
    if not isinstance(H, str):
        lacking = [
            name
            for name in ("vc_dimension", "check", "growth", "representatives", "predict")
            if not hasattr(H, name)
        ]
        if lacking:
            raise InvalidInput(f"H = {H!r}: must be a hypothesis class; it has no {lacking[0]}")
        found: HypothesisClass = H
        return found
    require(H in CLASSES, "H", H, f"one of {', '.join(CLASSES)}")
    given = {"points": points, "feature": feature, "feature2": feature2}
    fields = CLASSES[H].__dataclass_fields__  # type: ignore[attr-defined]
    return CLASSES[H](**{name: value for name, value in given.items() if name in fields})
