"""`dpassay compare-mechanisms`: which private classifier to use on a data set."""

from dpassay.cli.compare_mechanisms.command import action, add_arguments

__all__ = ["action", "add_arguments"]
