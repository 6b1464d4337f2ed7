"""Chaudhuri and Vinterbo (2013)."""

ROW_FILES = ("validation",)
"""Files of this package that have rows."""
