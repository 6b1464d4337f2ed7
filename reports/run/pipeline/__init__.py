"""What a pipeline is told of a run: code scanning and a comment."""
