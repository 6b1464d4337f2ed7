"""diffprivlib 0.6.6: a histogram claims epsilon = 1 if one record is added or removed."""

from diffprivlib.tools import histogram

from dpassay import Tables
from dpassay.adapters import diffprivlib


def release(data, rng):
    coins = int(rng.integers(2**31))
    return histogram(data, epsilon=1.0, bins=3, range=(0, 1), random_state=coins)[0]


def test_the_histogram_keeps_its_claim(assay):
    told = {"claim": diffprivlib.claim(histogram), "data": Tables([0.1, 0.5, 0.9, 1.0])}
    assay(release, **told, relation="add-remove").assert_not_refuted(detectable=3.0)
