"""The quantitative statements of the papers, and the checks that hold them against the truth.

`registry` finds statements and rows, `row` is what a check is, `run` runs rows into a record.
"""
