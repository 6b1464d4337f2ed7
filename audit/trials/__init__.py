"""Trials: how answers are counted, drawn in blocks, distributed over processes and kept."""
