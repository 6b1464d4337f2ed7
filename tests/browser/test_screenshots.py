"""The pictures of first screens: three widths, light and dark, small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.screenshots import MOST, first_screens, small
from tests.browser.chromium import SCREEN, WIDTHS, needed_here
from tests.browser.pages import selftest


@pytest.mark.slow
def test_a_page_gives_six_small_pictures(tmp_path: Path) -> None:
    needed_here()
    pictures = first_screens({"selftest": selftest(tmp_path).path}, tmp_path / "figures")
    assert {path.name for path in pictures} == {
        f"selftest-{width}-{scheme}.png" for width in WIDTHS for scheme in ("light", "dark")
    }
    for path in pictures:
        assert 0 < path.stat().st_size <= MOST
        with Image.open(path) as picture:
            _, width, scheme = path.stem.split("-")
            assert picture.size == (int(width), SCREEN)
            brightness = np.median(np.asarray(picture.convert("L")))
        assert (brightness < 64) == (scheme == "dark")
    with pytest.raises(ValueError, match="not 100 with 8 colours"):
        small(pictures[0].read_bytes(), most=100)
