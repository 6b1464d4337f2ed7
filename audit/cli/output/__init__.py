"""What the commands write to the terminal: results on stdout, progress on stderr."""
