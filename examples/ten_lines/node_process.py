"""A program in Node; any program that answers on stdin and stdout is audited like this."""

from dpassay import DP, Scalars
from dpassay.targets.foreign import process


def test_the_program_keeps_its_epsilon(assay):
    program = process("node examples/process/release_server.js")
    assay(program, claim=DP(epsilon=1), data=Scalars(0, 1)).assert_not_refuted()
