"""Histograms and densities.

Algorithm 5, Theorem 6 and section 6.1 of Chaudhuri and Vinterbo (2013).
"""
