"""Fresh answers about the few records that have a bound of their own."""
