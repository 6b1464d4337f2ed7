"""First screens of pages, as pictures in docs/figures.

Three widths, light and dark, in Debian's Chromium (`bash ci/chromium.sh`), with as many colours as
fit into 60 kB. Run from the root of the repository with names of pages that the tests make
(tests/browser/pages.py), and with files under a name:

    python -m benchmarks.screenshots refuted inconclusive catalogue=report/index.html
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from tests.browser.chromium import MISSING, SCHEMES, WIDTHS, chromium, installed, opened, show
from tests.browser.pages import PAGES

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
MOST = 60_000
"""Bytes of a picture."""
COLOURS = (256, 128, 64, 32, 16, 8)


def small(png: bytes, most: int = MOST) -> bytes:
    """Return a PNG of at most that many bytes, with as many colours as that allows."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in COLOURS:
        reduced = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(reduced, "PNG", optimize=True)
        if reduced.tell() <= most:
            return reduced.getvalue()
    raise ValueError(f"{len(png)} bytes: not {most} with {COLOURS[-1]} colours either")


def first_screens(pages: dict[str, Path], folder: Path = FIGURES) -> list[Path]:
    """Write the first screens of pages with these names, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with chromium() as browser:
        for name, path in pages.items():
            with opened(browser, path) as page:
                for width in WIDTHS:
                    for scheme in SCHEMES:
                        show(page, width=width, scheme=scheme)
                        written.append(folder / f"{name}-{width}-{scheme}.png")
                        written[-1].write_bytes(small(page.screenshot(animations="disabled")))
    return written


def named(text: str) -> tuple[str, Path | None]:
    """Read NAME=FILE, or the NAME of a page that is made."""
    name, given, file = text.partition("=")
    if not given and name in PAGES:
        return name, None
    if not name.replace("-", "").isalnum() or not Path(file).is_file():
        known = ", ".join(PAGES)
        raise argparse.ArgumentTypeError(f"'{text}': must be NAME=FILE, a page, or one of {known}")
    return name, Path(file)


def made(name: str, folder: Path) -> Path:
    """Make a page that the tests know, in a folder of its own."""
    (folder / name).mkdir()
    return PAGES[name](folder / name).path


def main() -> None:
    """Read the command line, and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pages", nargs="+", type=named, metavar="PAGE")
    parser.add_argument("--out", type=Path, default=FIGURES, metavar="DIR")
    options = parser.parse_args()
    if not installed():
        parser.error(MISSING)
    with TemporaryDirectory() as folder:
        pages = {name: path or made(name, Path(folder)) for name, path in options.pages}
        for path in first_screens(pages, options.out):
            print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
