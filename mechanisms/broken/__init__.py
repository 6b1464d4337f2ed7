"""Broken mechanisms, each beside its correct twin: what an audit should see, and what not.

Plain functions of plain data. `zoo.specimens` lists them, docs/zoo.md says what went wrong.
"""
