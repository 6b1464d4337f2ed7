"""Mechanisms of other papers that answer the same questions.

PATE, private nearest neighbours, distance to instability.
"""
