"""What `dpassay init` writes: a commented configuration and an example that it audits."""

from __future__ import annotations

CONFIG_TEXT = """\
# Configuration of dpassay: `dpassay run` audits the mechanisms below. You can put the same keys
# under [tool.dpassay] in pyproject.toml instead; then write [[tool.dpassay.mechanisms]]. Options on
# the command line override environment variables (DPASSAY_SEED), these override this file, and
# this file overrides the profile. `dpassay config --show` shows which values are in force.

profile = "quick"               # quick, default or deep: sizes of everything that is not set here
seed = 0                        # root of all random streams
confidence = 0.999              # confidence of the whole run
out = "report"                  # folder of the reports: open report/index.html
neighbours = "one+flip"         # per training record: one, flip, one+flip or all
# mode = "auto"                 # auto (exact where there is a law), exact, exhaustive, monte-carlo
# budget = 20000                # certification trials per side and finalist
# detect = 1.5                  # leak that sampling must be able to detect, in units of the claim
# stop_early = false            # go on to the worst pair, and bound it by all trials
# jobs = 2                      # processes that run trials; no number depends on it
# executor = "dask"             # inline, local or dask: where they run; see docs/scale.md
# scheduler = "tcp://10.0.0.1:8786"    # of the Dask cluster; default: --jobs workers of our own
# baseline = "dpassay-baseline.json"   # file of `dpassay baseline accept` and `baseline check`
# tolerance = 0.05              # part of a claim by which a bound may rise without a regression

# search = "records"            # search for the worst pair: records, answers,size=5 or scalars,...
# together = true               # with a search of records: all answers of a run are one output
# output = "label"              # with a search: what one run returns; see docs/searching.md
# search_seconds = 60           # end a search then, and certify the worst pair that it has found
# data = "people.csv"           # CSV file with a header; default: scikit-learn's breast cancer data
# label = "income"              # its column of labels; there must be two different labels
# train = 400                   # training records, at most
# queries = 20                  # held-out query points, at most
# train_queries = 5             # training records whose points are query points too, at most

[[mechanisms]]
target = "dpassay_example:predict"   # module:object of your own, or a name of `dpassay list`
name = "nearest-vote"                # its name in results
claim = { epsilon = 1.0 }            # or { epsilon = 1.0, delta = 1e-6 }, { mu = 1.0 }, { gamma = \
0.1 }
answers = "0,1"                      # answers of a function: labels [0, 1, 2] or numbers "0..1"
# parameters = { r = 5 }             # parameters of a mechanism class

# [[suppressions]]                   # lets a reviewed regression pass, until a date
# result = "nearest-vote.own.monte-carlo"
# kind = "rose"                      # refuted, failed, vanished, repointed, weakened, rose, blinder
# reason = "the new index, accepted by the privacy board"
# expires = 2027-01-31               # at most a year ahead
# up_to = 0.9                        # for refuted, rose, blinder: applies up to this leak
"""

EXAMPLE_TEXT = '''\
"""A private prediction to try dpassay on: put your own function in its place."""

import numpy as np

EPSILON = 1.0  # one replaced record changes the vote by at most 1, so the log-odds by at most \
EPSILON


def predict(data, queries, size, rng):
    """Answer `size` times, at every query, with the noisy vote of the three closest records: \
shape (size, queries)."""
    distance = np.linalg.norm(queries[:, None] - data.X, axis=2)
    closest = np.argsort(distance, axis=1, kind="stable")[:, :3]
    p = 1 / (1 + np.exp(-EPSILON * (data.y[closest].sum(axis=1) - 1.5)))
    return (rng.random((size, len(queries))) < p).astype(int)
'''
