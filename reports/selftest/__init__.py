"""The report of the self-test."""
