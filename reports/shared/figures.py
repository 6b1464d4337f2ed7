"""Figures: inline SVG with matplotlib, without global state.

The same bytes every time.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, CLAIM = "#010203", "#010204", "#010205"
"""Stand-ins for colours that the page chooses; drawn by nobody, replaced by `_THEME` in the SVG."""


PALETTE = {
    "refuted": ("#010301", "#d55e00"),
    "error": ("#010302", "#cc79a7"),
    "missed": ("#010303", "#aa3377"),
    "inconclusive": ("#010304", "#c98a00"),
    "expected": ("#010305", "#d55e00"),
    "held": ("#010306", "#0072b2"),
    "verified": ("#010307", "#009e73"),
}
"""Stand-in and colour of each status, after Okabe and Ito (2008)."""


_THEME = {
    INK: "currentColor",
    FAINT: "var(--faint, #8a8f98)",
    CLAIM: "var(--claim, #6b7079)",
    **{stand_in: f"var(--{slug}, {colour})" for slug, (stand_in, colour) in PALETTE.items()},
}


LOOK: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.08,
    "axes.labelsize": 10.08,
    "axes.titlesize": 10.08,
    "legend.title_fontsize": 10.08,
    "legend.fontsize": 9.24,
    "svg.fonttype": "none",
    "text.parse_math": False,
    "text.color": INK,
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.linewidth": 1.0,
    "axes.unicode_minus": False,
    "grid.color": ".8",
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    **{
        f"{axis}tick.{name}": value
        for axis in "xy"
        for name, value in {
            "color": FAINT,
            "labelcolor": INK,
            "labelsize": 9.24,
            "major.size": 4.8,
            "major.width": 1.0,
            "minor.size": 3.2,
            "minor.width": 0.8,
        }.items()
    },
}
"""How figures look; as seaborn's style 'ticks' at the size of a paper."""

WIDTH = 9.6
COLUMN = 4.6
"""Width of a picture that a telephone shows whole; wide screens show two side by side."""


def axes_in(
    figure: Figure, box: tuple[float, float, float, float], height: float, across: float = WIDTH
) -> Axes:
    """Add axes at a place given in inches, so that no text measure moves them."""
    left, bottom, width, tall = box
    return figure.add_axes((left / across, bottom / height, width / across, tall / height))


@contextmanager
def figure_of(height: float, across: float = WIDTH) -> Iterator[Figure]:
    """Give a figure under our own settings, whatever the user's are."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        # the browser has the fonts, matplotlib only measures
        warnings.filterwarnings("ignore", message="Glyph")
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        yield Figure(figsize=(across, height))


def despine(axes: Axes, *, left: bool = False) -> None:
    """Remove the upper and the right edge of axes; the left one too if asked."""
    axes.spines[["top", "right", *(["left"] if left else [])]].set_visible(False)


def as_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Render a figure as SVG with unique ids, the page's colours, a title and a description."""
    import matplotlib as mpl

    buffer = io.StringIO()
    mpl.rcParams["svg.hashsalt"] = name
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>\*\{", f'<style type="text/css">#{name} *{{', text)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    text = re.sub(
        r' id="([^"]+)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", text
    )
    text = re.sub(r'(href="|url\()#', rf"\1#{name}-", text)
    for stand_in, colour in _THEME.items():
        text = text.replace(stand_in, colour)
    head = f'<svg id="{name}" class="plot" role="img" aria-labelledby="{name}-title {name}-desc"'
    told = (
        f'<title id="{name}-title">{escape(title)}</title>\n <desc '
        f'id="{name}-desc">{escape(description)}</desc>'
    )
    opening = re.match(r"<svg([^>]*)>", text)
    if opening is None:
        raise RuntimeError("matplotlib wrote no SVG element")
    attributes = re.sub(r' (width|height|version|xmlns:xlink)="[^"]*"', "", opening[1])
    if "xlink:" in text[opening.end() :]:
        attributes += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"{head}{attributes}>\n {told}{text[opening.end() :].rstrip()}\n"
