"""Membership-inference attacks on a prediction interface: one file per attack, one signature, experiments around them."""
