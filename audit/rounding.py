"""What a rounding costs: the one number that numerical errors are counted in."""

UNIT_ROUNDOFF = 2.0**-53
"""Relative error of one operation on floats, at most."""
