"""The command line: one file for each command, with its parser and what it does."""
