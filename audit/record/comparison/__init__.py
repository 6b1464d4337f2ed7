"""Records held against each other: what is said of an entry, and by which numbers."""
