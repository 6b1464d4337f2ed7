"""Charts of the pages: seaborn on matplotlib, written as small SVG; the same bytes every time.

Text stays text, colours are the page's own variables, and nothing has a fixed width.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
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
    "svg.hashsalt": "dpassay",
    "axes.titley": 1.0,  # else each title looks for its place
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
UNSAID = {
    *(("stroke-linejoin", "miter"), ("stroke-dashoffset", "0"), ("text-anchor", "start")),
    *(("font-family", f"'{FONT}'"), ("x", "0")),
}
"""Attributes that are so without being said."""
INHERITED = ("fill", "stroke", "font", "text")
"""How attributes begin that a group passes on to its parts."""
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
        if not axis.label.get_text():
            axis.set_label_coords(0, 0)  # else it looks for a place beside the ticks


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
        x, y = zip(*places, strict=True)
        sns.lineplot(
            x=x,
            y=y,
            ax=axes,
            color=look.colour,
            label=label or None,
            legend=False,
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
    places, stroked = list(points), look.marker in "x+_|"
    if places:
        # seaborn's scatterplot draws the same, and takes three times as long
        x, y = zip(*places, strict=True)
        axes.scatter(
            x,
            y,
            s=look.size**2,
            marker=look.marker,
            facecolor="none" if look.hollow else look.colour,
            edgecolor=None if stroked else look.colour,
            linewidth=look.width if stroked or look.hollow else 0,
            clip_on=False,
            zorder=4,
            label=label or None,
        )


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
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure: Any = axes.figure
    shown = [zip(*each.get_legend_handles_labels(), strict=True) for each in figure.axes]
    if entries := {label: handle for each in shown for handle, label in each}:
        figure.legend(entries.values(), entries, loc="lower left", ncols=4, frameon=False)
    canvas: Any = FigureCanvasSVG(figure)
    written = io.StringIO()
    canvas.print_svg(written, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    lines = map(clean, written.getvalue().splitlines())  # a line each: it cuts long texts
    picture = ET.fromstring(" ".join(lines))  # noqa: S314  # matplotlib wrote it
    parts = _lean(picture, name, {})
    inner = "".join(ET.tostring(each, encoding="unicode") for each in parts).replace(" />", "/>")
    width, height = (round(72 * float(each), 1) for each in figure.get_size_inches())
    shape = "plot wide" if width > 72 * NARROW else "plot"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" class="{shape}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width:g} {height:g}">'
        f'<title id="{name}-title">{escape(clean(title))}</title>'
        f'<desc id="{name}-desc">{escape(clean(description))}</desc>{inner}</svg>\n'
    )


def _lean(element: ET.Element, name: str, ids: dict[str, str]) -> list[ET.Element]:
    """Return what an element that matplotlib wrote becomes: the same picture in few bytes."""
    tag = element.tag.rpartition("}")[2]
    parts = [part for child in element for part in _lean(child, name, ids)]
    if tag in ("svg", "style") or not (parts or element.attrib):
        return parts
    styles = (each.split(": ", 1) for each in element.get("style", "").split("; ") if each)
    given = {key.rpartition("}")[2]: value for key, value in element.items()} | dict(styles)
    group = given.pop("id", "") if tag == "g" else ""
    given = {
        key: _short(key, value, name, ids)
        for key, value in sorted(given.items(), key=lambda each: each[0] == "href")
        if key != "style" and (key, value) not in UNSAID and not value.startswith("rotate(-0 ")
    }
    if tag != "g":
        made = ET.Element(tag, given)
        made.text = element.text if tag == "text" else None
        made.extend(parts)
        return [made]
    if group.startswith("matplotlib.axis"):
        # the lines of a grid are one path, and the labels of an axis share how they look
        texts = [part for part in parts if part.tag == "text"]
        parts = [part for part in parts if part.tag != "text"]
        lines = [part for part in parts if part.attrib | {"d": ""} == parts[0].attrib | {"d": ""}]
        for line in lines[1:]:
            lines[0].set("d", lines[0].attrib["d"] + line.attrib["d"])
            parts.remove(line)
        return [*parts, *_shared(texts, {})]
    return _shared(parts, given)


def _shared(parts: list[ET.Element], given: dict[str, str]) -> list[ET.Element]:
    """Put parts of one kind into a group that says how they all look, and what is `given`."""
    if len(parts) > 1 and len({part.tag for part in parts}) == 1:
        common = set.intersection(*(set(part.items()) for part in parts))
        given |= dict(sorted(each for each in common if each[0].startswith(INHERITED)))
        for part in parts:
            part.attrib = {key: value for key, value in part.items() if key not in given}
    if not given:
        return parts
    group = ET.Element("g", given)
    group.extend(parts)
    return [group]


def _short(key: str, value: str, name: str, ids: dict[str, str]) -> str:
    """Write an attribute short: numbers with four digits, ids of this chart, the page's colours."""
    if key in ("id", "href", "clip-path"):
        old = value.strip("url(#)")
        return value.replace(old, ids.setdefault(old, f"{name}-{len(ids)}"))
    value = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.4g}", THEME.get(value, value))
    if key == "d":
        straight = not re.search("[CQ]", value)
        value = re.sub(r" ?([A-Za-z]) ?", r"\1", value.replace(" L", "") if straight else value)
    return value
