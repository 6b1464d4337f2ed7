"""Chaudhuri and Vinterbo (2013), A stability-based validation procedure for differentially private machine learning."""
