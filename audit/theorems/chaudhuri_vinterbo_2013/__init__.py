"""Chaudhuri and Vinterbo (2013)."""

ROW_FILES = (
    "alternatives",
    "choosing",
    "composition",
    "example_6_1",
    "experiments",
    "histogram_rows",
    "joint_release",
    "linear_privacy",
    "theorem_4",
    "validation",
    "rates",
)
"""Files of this package that have rows."""
