"""Reports of a run of theorems."""
