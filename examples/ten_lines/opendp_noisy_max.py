"""OpenDP: the index of a noisy maximum keeps what its privacy map says."""

import opendp.prelude as dp

from dpassay.adapters import opendp

dp.enable_features("contrib")
scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
best = dp.m.make_noisy_max(*scores, dp.max_divergence(), scale=2.0)
data = opendp.neighbours(best, d_in=1, size=2)


def test_a_noisy_maximum_keeps_its_claim(assay):
    case = assay(best, claim=opendp.claim(best, d_in=1), data=data)
    case.assert_not_refuted(detectable=2.5)
