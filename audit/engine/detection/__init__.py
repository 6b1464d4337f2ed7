"""Detection: the smallest leak that an audit, or a search, would have refuted."""
