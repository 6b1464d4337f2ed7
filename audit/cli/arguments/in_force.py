"""What is in force: command line, variables and file make one `Config`.

Without what runs an audit, since `dpassay config` only shows it.
"""

from __future__ import annotations

import argparse
from typing import Any

from dpassay.config.load import Config, load_config
from dpassay.config.options import COMMAND_LINE, OPTIONS


def in_force(arguments: argparse.Namespace) -> Config:
    """Return what is in force: the command line, then variables, the file and the profile."""
    return load_config({key: getattr(arguments, key, None) for key in (*OPTIONS, *COMMAND_LINE)})


def said_by_variables(arguments: argparse.Namespace, config: Config) -> dict[str, Any]:
    """Return which options of the command were set by environment variables, and to what."""
    return {
        key: value for key, value in config.said_by_environment().items() if hasattr(arguments, key)
    }
