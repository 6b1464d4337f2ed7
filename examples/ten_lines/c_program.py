"""A program in C, compiled by the test."""

import subprocess

from dpassay import DP, Scalars
from dpassay.targets.foreign import process


def test_the_program_keeps_its_epsilon(assay, tmp_path):
    program, source = str(tmp_path / "release_server"), "examples/process/release_server.c"
    subprocess.run(["cc", "-o", program, source, "-lm"], check=True)
    assay(process([program]), claim=DP(epsilon=1), data=Scalars(0, 1)).assert_not_refuted()
