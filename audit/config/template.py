"""What `dpassay init` writes: a commented configuration and an example that it audits."""

from __future__ import annotations

CONFIG_TEXT = """\
# Configuration of dpassay: `dpassay run` audits what stands below. The same keys may stand under [tool.dpassay] in
# pyproject.toml instead, then the mechanisms as [[tool.dpassay.mechanisms]]. An option on the command line goes before a
# variable (DPASSAY_SEED=3), that before this file, this file before the profile. `dpassay config --show` says what is in force.

profile = "quick"               # quick, default or deep: sizes of everything that is not said here
seed = 0                        # root of all random streams
confidence = 0.999              # of the whole run
out = "report"                  # where the reports go: open report/index.html
neighbours = "one+flip"         # per training record: one, flip, one+flip or all
# mode = "auto"                 # auto (exact where there is a law), exact, exhaustive or monte-carlo
# budget = 20000                # certification trials per side and finalist
# detect = 1.5                  # leak that sampling must be able to see, in the units of the claim (1.5 times the claim)
# jobs = 2                      # processes that run trials; no number depends on it
# baseline = "dpassay-baseline.json"   # what `dpassay baseline accept` writes and `dpassay baseline check` reads
# tolerance = 0.05              # part of a claim by which a bound may rise before that is a regression

# data = "people.csv"           # a CSV file with a header line; without it scikit-learn's breast cancer set
# label = "income"              # its column of labels, of two kinds
# train = 400                   # training records at most
# queries = 20                  # held-out query points at most
# train_queries = 5             # training records that are asked at besides, at most

[[mechanisms]]
target = "dpassay_example:predict"   # module:object of your own, or a name of `dpassay list`
name = "nearest-vote"                # what results call it
claim = { epsilon = 1.0 }            # or { epsilon = 1.0, delta = 1e-6 }, { mu = 1.0 }, { gamma = 0.1 }
answers = "0,1"                      # what a function answers: labels like 0,1,2 or numbers between limits like 0..1
# parameters = { r = 5 }             # of a mechanism class

# [[suppressions]]                   # a regression against the baseline that is let pass, until a day
# result = "nearest-vote.own.monte-carlo"
# kind = "rose"                      # refuted, failed, vanished, repointed, weakened, rose or blinder
# reason = "the new index, accepted by the privacy board"
# expires = 2027-01-31               # at most a year ahead
# up_to = 0.9                        # of refuted, rose and blinder: holds as long as the leak is no larger
"""

EXAMPLE_TEXT = '''\
"""A private prediction to try dpassay on: put your own function in its place."""

import numpy as np

EPSILON = 1.0  # one replaced record changes the vote by at most 1, so the log-odds by at most EPSILON


def predict(data, queries, size, rng):
    """Answer `size` times, at every query, with the noisy vote of the three closest records: shape (size, queries)."""
    distance = np.linalg.norm(queries[:, None] - data.X, axis=2)
    closest = np.argsort(distance, axis=1, kind="stable")[:, :3]
    p = 1 / (1 + np.exp(-EPSILON * (data.y[closest].sum(axis=1) - 1.5)))
    return (rng.random((size, len(queries))) < p).astype(int)
'''
