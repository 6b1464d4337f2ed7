"""Domains in exhaustive mode: datasets that are alike, and one representative of each kind."""
