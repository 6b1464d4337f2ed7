"""The badge: a record in three words, as a picture and as an endpoint of shields.io."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from dpassay.reports.shared.statuses import (
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    status_of,
)

Raw = Mapping[str, Any]

RED, AMBER, GREY, GREEN = "b60205", "8a4b00", "555555", "196c2e"
"""White text has a contrast of at least 5 : 1 on each of them."""
LABEL = "dpassay"
DIGIT = 6.6
"""Width of an average character of 11 px Verdana; the text is set to the width that it is given."""
WORSE = (
    (REFUTED, "refuted", RED),
    (ERROR, "failed", RED),
    (MISSED, "known wrong, not refuted", RED),
    (INCONCLUSIVE, "inconclusive", AMBER),
)


def words_of_badge(record: Raw) -> tuple[str, str]:
    """Return the message of a badge and its colour.

    The worst thing that is to be said, of how many claims. Where nothing was found it says no more
    than that: 'not refuted where looked'.
    """
    statuses = Counter(status_of(result) for result in record["results"])
    total = statuses.total()
    for status, word, colour in WORSE:
        if statuses[status]:
            return f"{statuses[status]} of {total} {word}", colour
    if not record["run"]["complete"]:
        return "interrupted", GREY
    if not total:
        return "nothing audited", GREY
    rest = total - statuses[EXPECTED]
    if not rest:
        return f"{total} of {total} refuted as declared", GREY
    return f"{rest} of {rest} not refuted where looked", GREEN


def to_endpoint(record: Raw) -> str:
    """Write a badge as JSON for an endpoint of shields.io (its schema version 1)."""
    message, colour = words_of_badge(record)
    badge = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
    return json.dumps(badge, indent=2) + "\n"


def to_svg(record: Raw) -> str:
    """Write a badge as a picture that stands alone; its words are its alternative text."""
    message, colour = words_of_badge(record)
    left, right = (round(len(text) * DIGIT) + 12 for text in (LABEL, message))
    name = escape(f"{LABEL}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{name}">\n'
        f"<title>{name}</title>\n"
        f'<rect width="{left}" height="20" fill="#333333"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="#{colour}"/>\n'
        '<g fill="#ffffff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_text(LABEL, 6, left - 12)}\n{_text(message, left + 6, right - 12)}\n</g>\n</svg>\n"
    )


def _text(text: str, x: int, width: int) -> str:
    return f'<text x="{x}" y="14" textLength="{width}">{escape(text)}</text>'
