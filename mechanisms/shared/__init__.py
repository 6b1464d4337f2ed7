"""What mechanisms of several papers share: learners, blocks, votes, linear models, function classes."""
