"""diffprivlib 0.6.6: a histogram keeps epsilon = 1 if one record is added or removed."""

from diffprivlib.tools import histogram

from dpassay import Tables
from dpassay.adapters import diffprivlib


def release(data, rng):
    coins = int(rng.integers(2**31))
    return histogram(data, bins=3, range=(0, 1), random_state=coins)[0]


def test_the_histogram_keeps_its_claim(assay):
    data = Tables([0.1, 0.5, 0.9, 1.0], relation="add-remove")
    assay(release, claim=diffprivlib.claim(histogram), data=data, search_seconds=5)
