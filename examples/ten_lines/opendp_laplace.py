"""OpenDP: a Laplace sum of integers in [0, 10] keeps what its privacy map says."""

import opendp.prelude as dp

from dpassay.adapters import opendp

dp.enable_features("contrib")
people = dp.vector_domain(dp.atom_domain(bounds=(0, 10))), dp.symmetric_distance()
total = dp.t.make_sum(*people) >> dp.m.then_laplace(scale=10.0)
told = {"claim": opendp.claim(total, d_in=1), "data": opendp.neighbours(total, d_in=1)}


def test_a_laplace_sum_keeps_its_claim(assay):
    assay(total, **told, budget=5000).assert_not_refuted(detectable=2.5)
