"""The page of a comparison of mechanisms."""
