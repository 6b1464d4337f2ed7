"""The self-test: the audit is run on mechanisms whose leak is known."""
