"""Dwork and Feldman (2018)."""

ROW_FILES = ("soft_majority", "private_learning")
"""Files of this package that have rows."""
