"""The gate: records of every kind, held against each other and against an accepted one."""
