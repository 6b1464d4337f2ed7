"""Chaudhuri and Vinterbo (2013), stability-based validation.

The paper is "A stability-based validation procedure for differentially private machine learning".
"""
