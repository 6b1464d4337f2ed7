"""`dpassay theorem`; a folder, as those of the other commands are full."""

from dpassay.cli.theorem.command import action, add_arguments

__all__ = ["action", "add_arguments"]
