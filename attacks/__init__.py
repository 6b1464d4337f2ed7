"""Membership-inference attacks on a prediction interface; none is built yet."""
