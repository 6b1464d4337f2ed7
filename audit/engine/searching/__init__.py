"""Searched audits: pairs, queries and events are looked for, then certified."""
