"""Rows: datasets of records of any kind."""
