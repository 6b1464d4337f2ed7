from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dpassay import reports
from dpassay.errors import InvalidInput
from dpassay.record.files import dumps
from dpassay.reports import FORMATS, Format, write

Record = dict[str, Any]


def test_write(small: Record, make: Any, tmp_path: Path) -> None:
    """A lone surrogate in a name or in a reason does not stop it."""
    small["results"].append(make.result("a", "error", reason="\ud800"))
    small["results"].append(make.computed("b\ud800", "not refuted"))
    folder = tmp_path / "new" / "report"
    paths = write(small, ["html", "md", "json", "md", "junit"], folder)
    assert [path.name for path in paths] == ["index.html", "report.md", "record.json", "junit.xml"]
    assert {path.name for path in folder.iterdir()} == {
        "mechanisms",
        *(path.name for path in paths),
    }
    assert paths[2].read_text(encoding="utf-8") == dumps(small)
    assert json.loads(paths[2].read_text(encoding="utf-8")) == small


def test_what_cannot_be_written_is_refused(small: Record, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"--format = 'pdf': must be one of html, md, json, junit"
    ):
        write(small, ["md", "pdf"], tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="--out = "):
        write(small, ["md"], tmp_path / "file")


def test_a_renderer_that_fails_writes_nothing(
    small: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "html", Format("index.html", lambda record: str(record["no"])))
    with pytest.raises(KeyError):
        write(small, ["md", "html"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_page_may_load_nothing_and_run_nothing() -> None:
    folder = Path(reports.__file__).parent / "templates"
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.j2")]
    (base,) = (text for text in texts if "<!DOCTYPE" in text)
    assert "{{ macros.head(" in base
    assert sum('{% extends "page.html.j2" %}' in text for text in texts) == 7
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in "".join(texts)
    assert not re.search(r"<script|\bon[a-z]+=|<iframe|<link|@import|https?:", "".join(texts))


@pytest.mark.parametrize(
    ("protections", "told"),
    [(None, None), ((), "none"), (("own process", "PID namespace"), "own process, PID namespace")],
)
def test_pages_say_what_held_the_audited_code_back_and_the_record_does_not(
    protections: tuple[str, ...] | None, told: str | None, make: Any, tmp_path: Path
) -> None:
    record = make.record(make.result("crash", "error"))
    write(record, ["html", "md", "json"], tmp_path, protections=protections)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert ("<dt>protections</dt>" in page) == ("* protections" in text) == (told is not None)
    assert told is None or f"* protections: {told}\n" in text
    assert (tmp_path / "record.json").read_text(encoding="utf-8") == dumps(record)
