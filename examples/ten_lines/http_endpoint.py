"""A service that is running: start examples/process/release_service.py, or your own, before."""

import os

from dpassay import DP, Scalars
from dpassay.targets.foreign import http


def test_the_service_keeps_its_epsilon(assay):
    service = http(os.environ.get("SERVICE_URL", "http://127.0.0.1:8000/release"))
    assay(service, claim=DP(epsilon=1), data=Scalars(0, 1)).assert_not_refuted()
