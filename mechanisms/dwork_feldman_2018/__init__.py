"""Dwork and Feldman (2018), Privacy-preserving prediction."""
