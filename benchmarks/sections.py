"""Sections of the documents that benchmarks write."""

from __future__ import annotations

import re


def replaced_section(page: str, heading: str, section: str) -> str:
    """Put a section of a page in the place of the one with its heading, or at the end.

    Parameters
    ----------
    page : str
        Markdown.
    heading : str
        Line that it begins with; it ends before the next line that begins with `## `.
    section : str
        The new text, its heading included.
    """
    before, found, rest = page.partition(heading)
    following = re.search(r"^## ", rest, re.MULTILINE)
    after = rest[following.start() :] if found and following else ""
    return (
        "\n\n".join(part for part in (before.rstrip(), section.strip(), after.strip()) if part)
        + "\n"
    )
