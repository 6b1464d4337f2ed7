from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dpassay import reports
from dpassay.errors import InvalidInput
from dpassay.record.files import dumps
from dpassay.reports import FORMATS, Format, write

Record = dict[str, Any]


def test_formats() -> None:
    assert {name: entry.filename for name, entry in FORMATS.items()} == {
        "html": "index.html",
        "md": "report.md",
        "json": "record.json",
        "junit": "junit.xml",
        "sarif": "results.sarif",
        "comment": "comment.md",
    }


def test_write(small: Record, tmp_path: Path) -> None:
    paths = write(small, ["html", "md", "json", "md", "junit"], tmp_path / "new" / "report")
    assert [path.name for path in paths] == ["index.html", "report.md", "record.json", "junit.xml"]
    assert sorted(path.name for path in (tmp_path / "new" / "report").iterdir()) == sorted(
        ["mechanisms", *(path.name for path in paths)]
    )
    assert paths[2].read_text(encoding="utf-8") == dumps(small)
    assert json.loads(paths[2].read_text(encoding="utf-8")) == small


def test_lone_surrogates_do_not_stop_a_report(make: Any, tmp_path: Path) -> None:
    crash, named = (
        make.result("a", "error", reason="\ud800"),
        make.computed("b\ud800", "not refuted"),
    )
    write(make.record(crash, named), ["html", "md", "junit"], tmp_path)


def test_unknown_format_writes_nothing(small: Record, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"--format = 'pdf': must be one of html, md, json, junit"
    ):
        write(small, ["md", "pdf"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_renderer_that_fails_writes_nothing(
    small: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(record: Mapping[str, Any]) -> str:
        raise RuntimeError("no")

    monkeypatch.setitem(FORMATS, "html", Format("index.html", fail))
    with pytest.raises(RuntimeError):
        write(small, ["md", "html"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written(small: Record, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="--out = "):
        write(small, ["md"], tmp_path / "file")


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
    protections: tuple[str, ...] | None, told: str | None, small: Record, tmp_path: Path
) -> None:
    write(small, ["html", "md", "json"], tmp_path, protections=protections)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert ("<dt>protections</dt>" in page) == ("* protections" in text) == (told is not None)
    assert told is None or f"* protections: {told}\n" in text
    assert (tmp_path / "record.json").read_text(encoding="utf-8") == dumps(small)
