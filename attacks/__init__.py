"""Membership-inference attacks on a prediction interface.

One file per attack, one signature, experiments around them.
"""
