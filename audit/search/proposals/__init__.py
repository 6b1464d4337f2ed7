"""Proposals: pairs of neighbours that are worth a look, kind of data by kind of data."""
