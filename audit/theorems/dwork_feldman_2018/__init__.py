"""Dwork and Feldman (2018)."""

ROW_FILES = (
    "soft_majority",
    "private_learning",
    "nearly_half",
    "noise",
    "averaging",
    "strong_convexity",
    "descent",
    "other_bounds",
    "walk",
    "thresholds",
    "divergence",
    "interface",
    "moments",
    "votes",
    "sizes",
    "rates",
)
"""Files of this package that have rows."""
