"""Libraries that need not be there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpassay.errors import InvalidInput


def library(module: str, extra: str) -> Any:
    """Import a module of another library.

    Parameters
    ----------
    module : str
        Its name, as in an import statement.
    extra : str
        The extra of dpassay that installs it.

    Raises
    ------
    InvalidInput
        If it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"{module.partition('.')[0]} cannot be imported ({error}): install dpassay[{extra}]"
        ) from None
