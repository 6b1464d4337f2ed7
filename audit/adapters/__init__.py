"""Adapters: claims, data and releases of other libraries, in dpassay's own words.

Each module needs the library that it is about, an optional extra: `dpassay[opendp]`,
`dpassay[diffprivlib]`, `dpassay[dp-accounting]`. It is imported when a function is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpassay.errors import InvalidInput


def library(module: str, extra: str) -> Any:
    """Import a module of another library; an error names the extra of dpassay that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"{module.partition('.')[0]} cannot be imported ({error}): install dpassay[{extra}]"
        ) from None
