"""OpenDP: randomised response among three answers keeps what its privacy map says."""

import opendp.prelude as dp

from dpassay.adapters import opendp

dp.enable_features("contrib")
response = dp.m.make_randomized_response(categories=["yes", "no", "none"], prob=0.7)
data = opendp.neighbours(response, d_in=1, values=["yes", "no", "none"])


def test_randomised_response_keeps_its_claim(assay):
    case = assay(response, claim=opendp.claim(response, d_in=1), data=data, budget=5000)
    case.assert_not_refuted(detectable=2.5)
