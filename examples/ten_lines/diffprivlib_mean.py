"""diffprivlib 0.6.6: the mean of ten numbers in [0, 1] keeps epsilon = 1."""

from diffprivlib.tools import mean

from dpassay import Scalars
from dpassay.adapters import diffprivlib


def release(data, rng):
    return mean(data, epsilon=1.0, bounds=(0, 1), random_state=int(rng.integers(2**31)))


def test_the_mean_keeps_its_claim(assay):
    told = {"claim": diffprivlib.claim(mean), "data": Scalars(0, 1, size=10, fixed=True)}
    assay(release, **told, budget=2000, search_seconds=3)
