"""What a pipeline is told of a run: code scanning, annotations, a comment, a badge."""
