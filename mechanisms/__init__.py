"""Reference implementations.

One file per algorithm, with its claim as printed, its exact law and its worst cases.
"""
