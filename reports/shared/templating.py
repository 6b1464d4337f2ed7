"""Templates of the HTML pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def page(name: str, *, lead: str, origin: Sequence[str], ended: str = "", **parts: Any) -> str:
    """Write a self-contained page: what came out, of what, why it is not complete, and its parts.

    A name that a template misses is an error, and values are escaped.
    """
    template = _environment().get_template(f"{name}.html.j2")
    return template.render(lead=lead, origin=origin, ended=ended, **parts)


@cache
def _environment() -> Environment:
    """Return the one environment of a process: it compiles each template once."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("dpassay.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
