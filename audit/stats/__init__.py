"""Certified statistics: bounds, tests, power.

Imports numpy, scipy and the nouns of dpassay, nothing else.
"""
