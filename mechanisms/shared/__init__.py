"""What mechanisms of several papers share.

Learners, blocks, votes, linear models, function classes.
"""
