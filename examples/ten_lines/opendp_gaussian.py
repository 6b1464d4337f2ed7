"""OpenDP: Gaussian noise keeps the zero-concentrated privacy of its privacy map."""

import opendp.prelude as dp

from dpassay.adapters import opendp

dp.enable_features("contrib")
number = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
noisy = dp.m.make_gaussian(*number, scale=1.0)
told = {"claim": opendp.claim(noisy, d_in=1.0), "data": opendp.neighbours(noisy, d_in=1.0)}


def test_gaussian_noise_keeps_its_claim(assay):
    assay(noisy, **told, budget=20_000, search_seconds=10)
