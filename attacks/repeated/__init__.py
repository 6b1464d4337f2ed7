"""Repeated queries: what many answers about the worst pair tell together."""
