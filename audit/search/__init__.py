"""Search: what is looked for in outputs that nobody described, and where."""
