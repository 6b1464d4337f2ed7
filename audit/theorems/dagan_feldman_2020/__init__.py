"""Dagan and Feldman (2020)."""

ROW_FILES = ("nets", "growth", "uniform_convergence", "stable_learner")
"""Files of this package that have rows."""
