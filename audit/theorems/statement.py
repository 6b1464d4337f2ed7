"""A quantitative statement of a paper, as printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpassay.errors import require

Kind = Literal[
    "definition",
    "privacy",
    "stability",
    "utility",
    "generalisation",
    "lower bound",
    "composition",
    "tail",
    "size",
    "remark",
]
PAPERS = {
    "dwork-feldman-2018": "Dwork and Feldman 2018, Privacy-preserving prediction",
    "dagan-feldman-2020": (
        "Dagan and Feldman 2020, PAC learning with stable and private predictions"
    ),
    "chaudhuri-vinterbo-2013": (
        "Chaudhuri and Vinterbo 2013, A stability-based validation procedure for differentially "
        "private machine learning"
    ),
}
"""Papers by the first part of every key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a paper says, with a number in it."""

    name: str  # second part of the keys of its rows, unique in its paper
    number: str  # e.g. "Theorem 4.1", or where it is said in passing
    place: str  # page where the text shows pages, else section
    printed: str  # the formula, as printed but in plain text
    hypotheses: str  # what it is said to hold for, as printed
    kind: Kind
    no_row: str = ""  # why no row checks it; `LATER` where one is to come

    def __post_init__(self) -> None:
        sound = self.name == self.name.lower() and " " not in self.name and "/" not in self.name
        require(bool(self.name) and sound, "name", self.name, "lower case, without blanks or '/'")
        for field in ("number", "place", "printed", "hypotheses"):
            require(bool(getattr(self, field)), field, "", f"some text ({self.name})")


LATER = "no row yet"
"""Why a statement has no row whose check has not been written."""
