"""The report of attacks."""
