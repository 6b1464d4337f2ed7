"""Attacks that score a record: one file for each."""
