"""Dagan and Feldman (2020)."""

ROW_FILES = (
    "nets",
    "growth",
    "uniform_convergence",
    "stable_learner",
    "conversion",
    "covers",
    "errors",
    "exponential_mechanism",
    "lower_bounds",
    "relabelled_crowd",
    "relabelled_lemmas",
    "relabelled_sizes",
    "relabelled_subsets",
    "stability",
    "representatives",
    "subsampling",
    "rates",
)
"""Files of this package that have rows."""
