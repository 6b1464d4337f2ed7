"""What the figures of attacks are made of: panels in rows, colours of mechanisms, a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dpassay.reports.attack.view import SubjectView
from dpassay.reports.shared.figures import FAINT, INK, PALETTE, WIDTH, axes_in, despine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = tuple(
    PALETTE[slug][0] for slug in ("held", "refuted", "verified", "error", "inconclusive", "missed")
)
STYLES = tuple((colour, dashes) for dashes in ("-", "--", ":") for colour in _COLOURS)
"""Colour and dashes of the mechanisms, in their order; from the seventh on dashed."""
UNCLAIMED = INK
"""Colour of what makes no claim."""
ACROSS = 3
"""Panels in a row."""
BOX = 2.45
"""Side of a panel, in inches."""


class Drawn(NamedTuple):
    """A figure of the page.

    Its heading (empty: under the same one), what it is called, the SVG and what it shows.
    """

    title: str
    label: str
    svg: str
    caption: str


def families(subjects: Sequence[SubjectView]) -> dict[str, tuple[str, str]]:
    """Return colour and dashes by the family of the subjects that make a claim."""
    named = dict.fromkeys(subject.family for subject in subjects if subject.epsilon is not None)
    return {name: STYLES[k % len(STYLES)] for k, name in enumerate(named)}


def losses(subjects: Sequence[SubjectView]) -> list[float]:
    """Return the claimed losses of single answers, ascending."""
    return sorted({subject.epsilon for subject in subjects if subject.epsilon is not None})


def height_of(panels: int, *, legend: bool) -> float:
    """Return the height of a figure of so many panels, in inches."""
    return math.ceil(panels / ACROSS) * (BOX + 0.75) + (0.75 if legend else 0.1)


def panel(figure: Figure, k: int, panels: int) -> Axes:
    """Add the k-th of some panels, in rows from above."""
    height = float(figure.get_size_inches()[1])
    row, column = divmod(k, ACROSS)
    wide = (WIDTH - 0.75 - 0.15 - 0.4 * (ACROSS - 1)) / ACROSS if panels > 1 else BOX * 1.3
    bottom = height - 0.35 - BOX - row * (BOX + 0.75)
    return axes_in(figure, (0.75 + column * (wide + 0.4), bottom, wide, BOX), height)


def finish(axes: Axes, title: str, across: str, up: str, k: int, panels: int) -> None:
    """Give the k-th of some panels its title and grid, and names to the axes at the edges."""
    axes.set_title(title, fontsize="medium", loc="left")
    axes.grid(visible=True, color=FAINT, alpha=0.2, linewidth=0.5)
    despine(axes)
    if k + ACROSS >= panels:
        axes.set_xlabel(across)
    if k % ACROSS == 0:
        axes.set_ylabel(up)


def legend(figure: Figure, entries: Sequence[tuple[str, str, str]]) -> None:
    """Write under the panels what colours and dashes stand for: of each its word last."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, ls=dashes, linewidth=1.6, label=label)
        for colour, dashes, label in entries
    ]
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.06, 0),
        ncols=4,
        frameon=False,
        fontsize="small",
        columnspacing=1.6,
    )
