"""A table of people with texts and missing values: a private guess at the income in a city."""

import pandas as pd

from dpassay import DP

CITIES, LEVELS = ["Bern", "Rome", None, "Bern", "Rome", "Bern"], ["high", "low", "middle"]
PEOPLE = pd.DataFrame({"city": CITIES, "age": [23, 35, None, 58, 64, 37], "income": LEVELS * 2})


# One person moves two counts by 1, so noise of scale 2 keeps the winner 1-DP.
def guess(data, queries, size, rng):
    counts = pd.crosstab(data["city"], data["income"]).reindex(queries["city"], columns=LEVELS)
    noisy = counts.fillna(0).to_numpy() + rng.laplace(scale=2, size=(size, *counts.shape))
    return [[LEVELS[each] for each in run] for run in noisy.argmax(axis=2)]


def test_the_guess_keeps_its_epsilon(assay):
    assay(guess, claim=DP(epsilon=1), data=PEOPLE, label="income").assert_not_refuted(detectable=2)
