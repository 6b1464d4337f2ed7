"""Charts of the pages: seaborn on matplotlib, written as small SVG; the same bytes every time.

Text stays text, colours are the page's own variables, and nothing has a fixed width.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.reports.shared.numbers import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
Floats = Sequence[float]

PALETTE = {
    "refuted": "#d55e00",
    "error": "#cc79a7",
    "missed": "#aa3378",
    "inconclusive": "#c98a00",
    "expected": "#d55e01",
    "held": "#0072b2",
    "verified": "#009e73",
}
"""Colour of each status, after Okabe and Ito (2008); no two are the same."""
INK, FAINT, CLAIM = "#1d2127", "#8a8f98", "#5a626d"
THEME = {INK: "currentColor", FAINT: "var(--faint)", CLAIM: "var(--claim)"} | {
    colour: f"var(--{slug})" for slug, colour in PALETTE.items()
}
"""What the page puts in place of each colour: another one in the dark, and in print."""
FONT = "DejaVu Sans"
"""It comes with matplotlib, which measures with it; the reader's browser has fonts of its own."""
LOOK = {
    "font.family": [FONT],
    "svg.fonttype": "none",
    "text.parse_math": False,
    "axes.unicode_minus": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.edgecolor", "grid.color"), FAINT),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    "grid.alpha": 0.25,
}
"""How charts look, on top of seaborn's white grid at the size of a paper."""
NARROW, WIDE = 4.6, 9.6
"""Inches: a telephone shows the first as a whole; the second scrolls there."""
ACROSS = 3
"""Panels in a row, at most."""
RIGHT, ABOVE, BELOW, BETWEEN = 0.25, 0.3, 0.45, 0.65
"""Inches beside, over and under the panels, and from one to the next."""
TICKS = 5
"""Stretches between the labels of an axis, at most."""


class Look(NamedTuple):
    """How a line or a mark is drawn."""

    colour: str = INK
    dashes: str = "-"
    marker: str = ""
    width: float = 1.3
    size: float = 5.4  # of a mark, in points
    hollow: bool = False


CLAIMED = Look(CLAIM, "--")
GUESSING = Look(FAINT, ":", width=1.1)


@contextmanager
def drawing(
    height: float,
    *,
    panels: int = 1,
    left: float = 0.62,
    foot: float = 0.0,
    across: float | None = None,
) -> Iterator[list[Axes]]:
    """Give the axes of some panels, in rows of that height, whatever the user's settings are.

    Places are in inches, so that no measure of a text moves them; `foot` is left for a legend.
    """
    import matplotlib as mpl
    import seaborn as sns
    from matplotlib.figure import Figure

    columns = min(ACROSS, panels)
    rows = math.ceil(panels / columns)
    across = across or (NARROW if panels == 1 else WIDE)
    total = rows * height + foot
    width = (across - left - RIGHT - BETWEEN * (columns - 1)) / columns
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has the fonts
        mpl.rcdefaults()
        sns.set_theme(context="paper", style="whitegrid", rc=LOOK)
        figure = Figure(figsize=(across, total))
        figure.patch.set_visible(False)
        made = []
        for place in range(panels):
            row, column = divmod(place, columns)
            x, y = left + column * (width + BETWEEN), total - (row + 1) * height + BELOW
            box = (x / across, y / total, width / across, (height - ABOVE - BELOW) / total)
            made.append(figure.add_axes(box))
            made[-1].patch.set_visible(False)
        yield made


def frame(
    axes: Axes,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
    *,
    logarithmic: str = "",
    x_ticks: dict[float, str] | None = None,
    y_ticks: dict[float, str] | None = None,
    names: tuple[str, str] = ("", ""),
    title: str = "",
    claim: str = "",
) -> None:
    """Set the ends of the axes, their few round ticks and names, and what stands above them.

    `logarithmic` has the letters of the logarithmic axes.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_title(title, loc="left")
    axes.set_title(claim, loc="right", color=CLAIM)
    for letter, ends, ticks in (("x", x, x_ticks), ("y", y, y_ticks)):
        axis = axes.xaxis if letter == "x" else axes.yaxis
        if letter in logarithmic:
            axes.set(**{f"{letter}scale": "log"})
            axis.set_major_locator(LogLocator(numticks=TICKS + 1))
        else:
            axis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
        if ticks is not None:
            axis.set_ticks(list(ticks), list(ticks.values()))
        if ends is not None:
            axes.set(**{f"{letter}lim": ends})


def rule(axes: Axes, at: float, look: Look, *, upright: bool = False, label: str = "") -> None:
    """Draw a straight line through the whole panel at one number of an axis."""
    draw = axes.axvline if upright else axes.axhline
    style, width = look.dashes, look.width
    draw(at, color=look.colour, linestyle=style, linewidth=width, zorder=1, label=label or None)


def line(axes: Axes, points: Iterable[Point], look: Look, label: str = "") -> None:
    """Draw a line through points, with a mark at each if the look has one."""
    import seaborn as sns

    places = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if places:
        sns.lineplot(
            **_data(axes, places, look, label),
            estimator=None,
            sort=False,
            linestyle=look.dashes,
            linewidth=look.width,
            marker=look.marker or None,
            markersize=look.size,
            markeredgewidth=0,
        )


def marks(axes: Axes, points: Iterable[Point], look: Look, label: str = "") -> None:
    """Draw a mark at every point; nothing if there are none. Axes cut none of them off."""
    import seaborn as sns

    places, strokes = list(points), look.marker in "x+_|"
    if places:
        sns.scatterplot(
            **_data(axes, places, look, label),
            **({"facecolor": "none"} if look.hollow else {}),
            **({} if strokes else {"edgecolor": look.colour}),
            marker=look.marker,
            s=look.size**2,
            linewidth=look.width if strokes or look.hollow else 0,
            clip_on=False,
            zorder=4,
        )


def _data(axes: Axes, places: Sequence[Point], look: Look, label: str) -> dict[str, Any]:
    """Return what seaborn takes of lines and marks alike."""
    x, y = zip(*places, strict=True)
    named = {"label": label or None, "legend": False}
    return {"x": x, "y": y, "ax": axes, "color": look.colour} | named


def spans(axes: Axes, rows: Iterable[tuple[float, float, float]], look: Look) -> None:
    """Draw vertical lines, each at a number from one height to another, as one element."""
    ends = [(x, y) for x, low, high in rows for y in (low, high, math.nan)]
    if ends:
        x, y = zip(*ends, strict=True)
        axes.plot(x, y, color=look.colour, linewidth=look.width, alpha=0.75, solid_capstyle="butt")


def band(
    axes: Axes, x: Floats, low: Floats, high: Floats, colour: str, opacity: float = 0.28
) -> None:
    """Fill the area between two curves."""
    axes.fill_between(x, low, high, color=colour, alpha=opacity, linewidth=0, zorder=1)


def note(axes: Axes, text: str, at: Point, align: str = "left") -> None:
    """Write small at a place between the ends of the axes, from 0 to 1 in both directions."""
    axes.text(*at, text, transform=axes.transAxes, ha=align, fontsize=8.2, color=CLAIM, zorder=5)


def beside(axes: Axes, text: str, at: Point, aside: Point, **style: Any) -> None:
    """Write beside a point, so many points of the page to the right of it and above."""
    axes.annotate(text, at, aside, textcoords="offset points", zorder=5, **style)


def svg(axes: Axes, *, name: str, title: str, description: str) -> str:
    """Write a whole figure as an SVG element with ids of its own, a title and a description.

    Under the panels stands what their lines and marks are, each once, where they have labels.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from scour.scour import sanitizeOptions, scourString

    figure: Any = axes.figure
    shown = [zip(*each.get_legend_handles_labels(), strict=True) for each in figure.axes]
    if entries := {label: handle for each in shown for handle, label in each}:
        figure.legend(entries.values(), entries, loc="lower left", ncols=4, frameon=False)
    canvas: Any = FigureCanvasSVG(figure)
    written = io.StringIO()
    mpl.rcParams["svg.hashsalt"] = name
    canvas.print_svg(written, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    options = sanitizeOptions()
    options.strip_ids = options.shorten_ids = options.strip_xml_prolog = True
    options.shorten_ids_prefix, options.digits = f"{name}-", 4
    options.indent_type, options.newlines = "none", False
    text = re.sub(r"<style.*?</style>", "", clean(written.getvalue()))
    text = scourString(re.sub(r"<[^>]+>", _lean, text), options)
    inner = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    inner = re.sub(r"<[^>]+>", _themed, inner)
    width, height = (round(72 * float(each), 1) for each in figure.get_size_inches())
    shape = "plot wide" if width > 72 * NARROW else "plot"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" class="{shape}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width:g} {height:g}">'
        f'<title id="{name}-title">{escape(clean(title))}</title>'
        f'<desc id="{name}-desc">{escape(clean(description))}</desc>{inner}</svg>\n'
    )


def _lean(tag: re.Match[str]) -> str:
    """Leave out of a tag its font and a turn by nothing, and write its numbers short."""
    text = re.sub(rf" font-family: '{FONT}';| transform=\"rotate\(-0 [^\"]*\"", "", tag[0])
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text)


def _themed(tag: re.Match[str]) -> str:
    """Put the page's own colours into a tag."""
    text = tag[0].replace("xlink:href", "href")
    for colour, variable in THEME.items():
        text = text.replace(colour, variable)
    return text
